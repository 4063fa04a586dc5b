from __future__ import annotations

import pytest

from isa.errors import UserError
from workloads.microbench.register_banks import parse_pattern, register_banks


def ffmas(kernel):
    """Return the sources of each FFMA."""
    return [i.operands[1:] for i in kernel.program.instructions if i.row.mnemonic == "FFMA"]


@pytest.mark.parametrize("pattern", ["3000,3000,2100", "1110", "0003,0102,0100,1011"])
def test_every_stream_computes_the_promised_sum(check, pattern):
    """The sum of the last results is that of the sources' values, once through and in a loop."""
    check(register_banks(pattern, warps=2, length=25))
    check(register_banks(pattern, warps=2, length=12, iterations=3, flagged=2))
    check(register_banks(pattern, warps=2, length=20, mapping="kepler", order="random", targets=3))


def test_registers_are_in_the_banks_of_the_pattern():
    """The distinct sources of each FFMA, counted by register number modulo 4, follow the pattern in turn."""
    pattern = "3000,0210,0001"
    for sources, counted in zip(ffmas(register_banks(pattern, length=12)), parse_pattern(pattern) * 4, strict=True):
        distinct = {register.index for register in sources}
        assert tuple(sum(index % 4 == bank for index in distinct) for bank in range(4)) == counted


def test_kepler_s_banks_are_pairs_of_each_eight_registers():
    """Sources counted by the banks of Zhang PPoPP'17, table 3, follow the pattern, in turn or in random order."""
    pairs = [{0, 2}, {1, 3}, {4, 6}, {5, 7}]
    pattern = "3000,0300,0030,0003,1101"
    for order in ("turn", "random"):
        streams = ffmas(register_banks(pattern, mapping="kepler", order=order, length=30))
        found = [tuple(sum(i % 8 in pair for i in {r.index for r in read}) for pair in pairs) for read in streams]
        assert set(found) == set(parse_pattern(pattern))
        assert (found == list(parse_pattern(pattern)) * 6) == (order == "turn")


def test_one_target_makes_each_ffma_wait_for_the_last():
    """With one target all FFMAs write the same register, and none reads it."""
    kernel = register_banks("1110", targets=1, length=20)
    written = [i.writes() for i in kernel.program.instructions if i.row.mnemonic == "FFMA"]
    assert len(set(written)) == 1
    assert not set(written[0]) & {register.index for read in ffmas(kernel) for register in read}


def test_the_first_sources_are_flagged():
    """The first 0 to 3 of three sources are marked for reuse, as many as `flagged` says."""
    for flagged in range(4):
        kept = [[register.reuse for register in sources] for sources in ffmas(register_banks(flagged=flagged))]
        assert kept == [[slot < flagged for slot in range(3)]] * 252


@pytest.mark.parametrize(
    "bad",
    [
        {"mapping": "fermi"},
        {"order": "any"},
        {"targets": 0},
        {"pattern": "300"},
        {"pattern": "4000"},
        {"pattern": "0000"},
        {"pattern": ""},
        {"flagged": 4},
        {"length": 5},
    ],
)
def test_bad_parameters_are_refused(bad):
    """Anything but four digits with a sum of one to three, too many flags and too few FFMAs raise UserError."""
    with pytest.raises(UserError, match=r"^register-banks: "):
        register_banks(**bad)
