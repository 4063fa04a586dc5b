"""The campaign of `make fuzz` works: a short one, planted faults, and the storing of what it finds."""

from __future__ import annotations

import json
import os
from collections import Counter
from functools import partial
from math import inf
from pathlib import Path
from random import Random

import pytest
from draws import draws
from fuzz import campaign, checks, code_files, coverage, found, inputs, mutate, structure
from fuzz.campaign import Tally
from fuzz.checks import CHECKS, Check
from fuzz.found import Found
from fuzz.pair import Pair, as_text, from_text
from fuzz.report import document, lines
from fuzz.trial import trial

from gpusim.sm.jit.rule import COMPILED
from isa.errors import UserError
from isa.nvidia.compiler import tools

DOCUMENT = Path(__file__).parent.parent / "docs" / "reliability.md"
PAIR = Pair(
    """.kernel loop
.grid 2
.block 64
.buffer out u32 128
    S2R R0, TID.X
    MOV R1, 0
again:
    FADD R2, R2, R2
    IADD R1, R1, 1
    ISETP.LT P0, R1, 200
    @P0 BRA again
    SHL R3, R0, 2
    IADD R3, R3, c[out]
    STG [R3], R1
    EXIT
""",
    "gtx580",
    {"chip.sms": 1, "schedulers.policy": "gto", "unit.fp32.latency": 9},
)


@pytest.mark.jit
def test_a_short_campaign_finds_nothing():
    """A short campaign of at least 9 pairs finds no failure."""
    tally = campaign.pairs(seed=1, examples=2)
    assert tally.covered["pairs"] >= 9
    assert [(each.check, each.what) for each in tally.found] == []


def test_short_texts_find_nothing():
    """A hundred mutated texts of every kind, some in the quick run, are taken or refused in one line."""
    tally = campaign.texts(seed=1, number=draws(100 if COMPILED else 10, 20))
    assert [(each.check, each.case, each.what) for each in tally.found] == []


@pytest.mark.long
@pytest.mark.jit
def test_every_check_takes_a_pair():
    """No check fails on a pair with a loop, and over 60 % of the checks apply to it."""
    tally = campaign.tried(PAIR, Random(0), always=True)
    assert [(each.check, each.what) for each in tally.found] == []
    assert sum(tally.covered[f"check: {name}"] for name in CHECKS) > 0.6 * len(CHECKS)


@pytest.mark.jit
def test_a_planted_fault_is_found_made_smaller_and_stored(monkeypatch, tmp_path):
    """A pair that a planted check refuses shrinks to one instruction and one setting, and fails again from its file."""

    def dislikes(of):
        text, policy = of.pair.listing, of.machine.schedulers.policy
        return "disliked" if "FADD" in text and policy == "gto" else ""

    monkeypatch.setattr(checks, "CHECKS", {"planted": Check(dislikes)})
    monkeypatch.setattr(campaign, "CHECKS", checks.CHECKS)
    (fault,) = campaign.tried(PAIR, Random(0)).found
    path = found.store(found.smaller(fault), tmp_path)
    again = found.load(path)
    assert again.case.settings == {"schedulers.policy": "gto"}
    assert [line.strip() for line in again.case.listing.splitlines() if line.startswith(" ")] == [
        "S2R R0, TID.X",  # stays, as it gives threads places of their own
        "FADD R2, R2, R2",
    ]
    assert found.wrong(again.check, again.case) == again.what == "disliked"


def test_a_planted_text_is_made_smaller_and_stored(monkeypatch, tmp_path):
    """A text on which a planted reader fails shrinks to the word that makes it fail, here a byte that is no text."""

    def fails(text, _):
        if b"\xff" in text:
            raise KeyError("planted")

    monkeypatch.setattr(inputs, "READERS", {"planted": fails})
    smaller = found.smaller(Found("planted", b"one\ntwo \xff three\nfour", "KeyError: 'planted'"))
    again = found.load(found.store(smaller, tmp_path))
    assert again.case == b"\xff"
    assert "KeyError" in found.wrong("planted", again.case)


def test_a_text_that_takes_too_long_is_a_failure(monkeypatch):
    """A reader that never ends is stopped, and reported with OvertimeError."""

    def endless(_, __):
        while True:
            pass

    monkeypatch.setattr(inputs, "READERS", {"endless": endless})
    assert "OvertimeError" in inputs.wrong("endless", b"", seconds=0.05)


def test_a_pair_survives_its_text():
    """A pair is read back from the text that it is stored as."""
    assert from_text(as_text(PAIR, {"check": "values", "what": "'''"})) == PAIR


@pytest.mark.parametrize("kind", inputs.READERS)
def test_every_kind_of_file_is_changed_and_read(kind):
    """A few files of each kind, changed by its structure and as any text, are taken or refused in one line each."""
    if kind in code_files.READERS and not tools.installed("nvdisasm"):
        pytest.skip("nvdisasm is not installed (extra cubin)")
    random, known = Random(kind), inputs.seeds(kind)
    if kind in ("fat binary", "launch file", "space file", "npy", "cache entry"):
        assert inputs.wrong(kind, known[0]) == ""
    for _ in range(1 if kind == "machine code" else 2):
        text = mutate.mutated(random.choice(known), known, random, structure.mutations(kind))
        if COMPILED or kind in (*code_files.READERS, "search space", "results", "dump", "cubin", "measured rows"):
            assert inputs.wrong(kind, text) == ""


def test_a_file_that_is_left_behind_is_a_failure(monkeypatch):
    """A reader that leaves a temporary file, or a half-written one, fails."""

    def leaves(name):
        return lambda _, folder: (folder / name).write_text("x") and None

    monkeypatch.setattr(inputs, "READERS", {name: leaves(name) for name in ("temporary/x", "a.json.7.part", "a.json")})
    assert "left behind: ['x']" in inputs.wrong("temporary/x", b"")
    assert "left behind: ['a.json.7.part']" in inputs.wrong("a.json.7.part", b"")
    assert inputs.wrong("a.json", b"") == ""


def test_structures_are_changed():
    """Fields of ELF files, values of JSON and of TOML are replaced; what has no such structure changes as well."""
    random = Random(3)
    data = next(iter(code_files.SEEDS["machine code"]()))
    assert all(len(structure.field(data, random)) == len(data) for _ in range(50))
    assert len({structure.field(data, random) for _ in range(50)}) > 40
    changed = {structure.json_value(b'{"a": [1, 2], "b": {"c": 3}}', random) for _ in range(50)}
    assert all(json.loads(each) is not None for each in changed)
    assert len(changed) > 20
    assert len({structure.toml_value(b"a = 1\nb = [2]\n", random) for _ in range(50)}) > 20
    for change in (structure.field, structure.json_value, structure.toml_value):
        assert change(b"no structure", random) != b"no structure"


def test_batches_are_the_same_for_a_seed():
    """Two mutations of a text with the same seed are the same."""
    random = [Random(5), Random(5)]
    first, second = (mutate.mutated(b"a 1 b 2", [b"c 3"], each) for each in random)
    assert first == second


@pytest.mark.jit
def test_the_coverage_of_a_pair():
    """A pair covers its events, reasons, mechanisms and mnemonics, all of which are in the list of those possible."""
    seen = set(coverage.of_trial(trial(PAIR)))
    assert {"event: issue", "mnemonic: FADD", "mechanism: schedulers.policy = gto", "file: gtx580"} <= seen
    assert {each for each in seen if each.startswith(("event", "reason", "mnemonic", "mechanism"))} <= coverage.every()


@pytest.mark.long
def test_a_campaign_goes_on_when_a_process_dies():
    """A batch whose process dies, or that raises, counts as failed by its name, and the later batches are tried."""
    batches = [
        ("lost", partial(os._exit, 3)),
        ("raised", partial(int, "x")),
        ("next", partial(Tally, Counter(texts=1))),
    ]
    tally = campaign.campaign(inf, iter(batches), jobs=1)
    assert tally.covered == {"failed: process of lost": 1, "failed: ValueError in raised": 1, "texts": 1}


@pytest.mark.parametrize("broken", ["trial", "coverage"])
def test_a_pair_that_cannot_be_run_counts_as_failed(monkeypatch, broken):
    """A pair that is refused, or whose run ends in an error of no check, is in the report as failed."""

    def refuses(_):
        raise UserError("refused")

    monkeypatch.setattr(*{"trial": (campaign, "trial"), "coverage": (coverage, "of_trial")}[broken], refuses)
    monkeypatch.setattr(campaign, "CHECKS", {})
    assert document(campaign.tried(PAIR, Random(0)), 1.0, 7)["failed"] == {"values": 1}


def test_the_document_has_every_check_and_how_often_it_is_made():
    """docs/reliability.md names each check of the campaign, and the number of pairs of which it gets one."""
    rows = [line.strip("| ").split(" | ") for line in DOCUMENT.read_text(encoding="utf-8").splitlines() if "|" in line]
    message = {row[0]: row[2] for row in rows if len(row) == 3}
    same = {check.every for name, check in CHECKS.items() if name.startswith("same: ")}
    expected = {name: str(check.every) for name, check in CHECKS.items() if not name.startswith("same: ")}
    assert same == {12}
    assert {name: message.get(name) for name in (*expected, "same")} == expected | {"same": "12"}


@pytest.mark.jit
def test_the_report_names_what_never_occurred():
    """A campaign's report begins with its seed and pairs, and names what never occurred, here V_ADD_F32."""
    tally = campaign.tried(PAIR, Random(0))
    message = "\n".join(lines(document(tally, 1.0, 7)))
    assert message.startswith("seed 7: 1 pairs")
    assert "V_ADD_F32" in message
    assert Tally().covered == {}
