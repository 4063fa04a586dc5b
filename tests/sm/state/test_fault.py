"""Faults: each has its own number, assigned automatically, and its own error."""

import re
from pathlib import Path

import pytest

from gpusim.engines.walks import told_faults
from gpusim.launch.launch import launch
from gpusim.machine.machine import load
from gpusim.sm.state import fault
from gpusim.sm.state.fault import Fault
from isa.text.listing import read

RULES = sorted((Path(fault.__file__).parents[1]).rglob("*.py"))
MESSAGES = {
    Fault.MISALIGNED: "misaligned",
    Fault.OUTSIDE: "lie in no buffer",
    Fault.MISCOUNTED: "where others wait for",
    Fault.CROWDED: "too many results",
    Fault.STUCK: "wait for each other",
    Fault.NO_CODE: "no instruction is at",
    Fault.TRAPPED: "the kernel traps",
    Fault.LEFT_OUT: "the mask lacks the lane",
    Fault.GONE_WITHIN: "exits within a collective",
    Fault.MIXED: "BAR of another kind",
    Fault.SEVERAL: "several numbers of barriers",
}


def noted(code: int) -> str:
    """Return the error of a launch whose rules noted this fault at its first instruction."""
    kernel = read("LDG R1, [R0]\nEXIT")
    prepared = launch(kernel, load("gtx580"))
    prepared.sm.fault.code = code
    return str(told_faults.fault_of(kernel, prepared))


@pytest.mark.parametrize("fault", MESSAGES, ids=lambda fault: fault.name)
def test_each_fault_has_its_error(fault):
    """Each fault that a rule notes has its own error text."""
    assert [each for each, words in MESSAGES.items() if words in noted(int(fault))] == [fault]


def test_an_unknown_fault_is_none_of_the_known():
    """The unknown fault 99 raises a ValueError, not the error of a known fault."""
    with pytest.raises(ValueError, match="99 is not a valid Fault"):
        noted(99)


def test_rules_note_faults_by_their_names():
    """Each fault that a rule gives to `stop` is a member of the enum by its name, and no rule sets one by hand."""
    for path in RULES:
        text = path.read_text(encoding="utf-8")
        named = dict(re.findall(r"^(.+) = (int\(Fault\..+)$", text, re.M))
        known = {name.strip() for names in named for name in names.split(",")} | {"code"}
        for given in re.findall(r"\bstop\(sm, (mbarrier\.refusal\(\w+\)|[^,]+),", text):
            assert set(re.findall(r"[A-Z_]{3,}|\d+|code", given)) <= known, f"{path.name}: {given}"
            assert given.startswith("mbarrier.refusal(") or re.search("[A-Z_]{3,}|code", given), f"{path.name}: {given}"
        if path.name != "stopping.py":
            assert set(re.findall(r"fault\.\w+(?:, [\w.]+)* = (.+)", text)) <= {"0"}, path.name
