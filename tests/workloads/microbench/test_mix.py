from __future__ import annotations

import pytest

from isa.errors import UserError
from isa.instruction import Instruction
from workloads.microbench.mix import mix, parse_ratio


def loop_body(kernel) -> tuple[Instruction, ...]:
    """Return the instructions from the loop's label to its counter."""
    program = kernel.program
    start = program.labels["loop"]
    return program.instructions[start : start + program.instructions[start:].index(counter(kernel))]


def counter(kernel) -> Instruction:
    """Return the loop's count-down, the instruction before its comparison."""
    mnemonics = [i.row.mnemonic for i in kernel.program.instructions]
    return kernel.program.instructions[mnemonics.index("ISETP.GT") - 1]


@pytest.mark.parametrize(
    ("ratio", "lds"), [("3:1", 32), ("6:1", 64), ("12:1", 128), ("0:1", 128), ("5:2", 64), ("4:0", 32)]
)
def test_every_mix_has_the_promised_result(check, ratio, lds):
    """Each thread leaves the promised sums, which count the FFMAs, and the promised words of its loads."""
    check(mix(ratio, lds=lds, warps=2, groups=3, iterations=2))


@pytest.mark.parametrize(
    ("ratio", "lds", "load"), [("3:1", 32, "LDS"), ("6:1", 64, "LDS.64"), ("12:1", 128, "LDS.128")]
)
def test_the_papers_mixes_have_one_load_after_each_run_of_ffmas(ratio, lds, load):
    """The loop body repeats the ratio: 3, 6 or 12 FFMAs, then one load."""
    ffmas, _ = parse_ratio(ratio)
    body = loop_body(mix(ratio, lds=lds, groups=4))
    assert [i.row.mnemonic for i in body] == ([*["FFMA"] * ffmas, load]) * 4


def test_loads_are_spread_over_the_ffmas():
    """At 5:2 the loads come after 2 and 3 FFMAs, not one after the other."""
    letters = "".join(i.row.mnemonic[0] for i in loop_body(mix("5:2", groups=2)))
    assert letters == "FFLFFFLFFLFFFL"


def test_no_ffma_waits_for_a_load():
    """No FFMA of the loop reads or writes a register that a load writes."""
    body = loop_body(mix("6:1", lds=64))
    loaded = {r for i in body if i.row.is_load for r in i.writes()}
    assert not any(loaded & {*i.reads(), *i.writes()} for i in body if not i.row.is_load)


@pytest.mark.parametrize("ratio", ["6", "6:", ":1", "a:b", "0:0", "-1:1", "6:1:1"])
def test_a_ratio_is_two_counts(ratio):
    """Text that is not two counts raises UserError with an example."""
    with pytest.raises(UserError, match="give two counts such as 6:1"):
        parse_ratio(ratio)


@pytest.mark.parametrize("bad", [{"lds": 16}, {"warps": 0}, {"groups": 0}])
def test_bad_parameters_are_refused(bad):
    """Unknown widths and numbers below 1 raise UserError."""
    with pytest.raises(UserError, match=r"^mix: "):
        mix(**bad)
