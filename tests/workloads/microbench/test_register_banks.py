from __future__ import annotations

import pytest

from isa.errors import UserError
from workloads.microbench.register_banks import parse_pattern, register_banks


def ffmas(kernel):
    """Return the sources of each FFMA."""
    return [i.operands[1:] for i in kernel.program.instructions if i.row.mnemonic == "FFMA"]


@pytest.mark.parametrize("pattern", ["3000,3000,2100", "1110", "0003,0102,0100,1011"])
def test_every_stream_computes_what_it_should(check, pattern):
    """The sum of the last results is that of the sources' values, once through and in a loop."""
    check(register_banks(pattern, warps=2, length=25))
    check(register_banks(pattern, warps=2, length=12, iterations=3, flagged=2))


def test_registers_lie_in_the_banks_of_the_pattern():
    """The distinct sources of each FFMA, by register number modulo 4, are those that the pattern counts, in turn."""
    pattern = "3000,0210,0001"
    for sources, counted in zip(ffmas(register_banks(pattern, length=12)), parse_pattern(pattern) * 4, strict=True):
        distinct = {register.index for register in sources}
        assert tuple(sum(index % 4 == bank for index in distinct) for bank in range(4)) == counted


def test_the_first_sources_are_flagged():
    """Of three sources as many are marked for reuse as was asked for."""
    for flagged in range(4):
        kept = [[register.reuse for register in sources] for sources in ffmas(register_banks(flagged=flagged))]
        assert kept == [[slot < flagged for slot in range(3)]] * 252


@pytest.mark.parametrize(
    "bad",
    [{"pattern": "300"}, {"pattern": "4000"}, {"pattern": "0000"}, {"pattern": ""}, {"flagged": 4}, {"length": 5}],
)
def test_what_no_stream_can_be_made_of_is_refused(bad):
    """Anything but four digits with a sum of one to three, too many flags and too few FFMAs raise UserError."""
    with pytest.raises(UserError, match=r"^register-banks: "):
        register_banks(**bad)
