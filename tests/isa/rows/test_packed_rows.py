"""Rows of integers that lie several in a word, from the texts that nvdisasm prints."""

import numpy as np
import pytest
from hypothesis import given
from strategies.bit_patterns import patterns32
from strategies.launches import REPEATABLE

from isa.nvidia.lowering.lower import lowered


@pytest.mark.parametrize(("modifier", "kind"), [("", "i1"), (".U8", "u1")])
@REPEATABLE
@given(patterns32(), patterns32(), patterns32())
def test_differences_of_bytes(modifier, kind, a, b, c):
    """VABSDIFF4 has |a - b| of each byte, signed or not, and with ACC their sum onto c."""
    x, y = (np.uint32(one).view((kind, 4)).astype(int) for one in (a, b))
    apart = np.abs(x - y)
    words = [np.array([one], np.uint64) for one in (a, b, c)]
    for name, expected in (("", int(apart.astype("u1").view("u4")[0])), (".ACC", (c + int(apart.sum())) % 2**32)):
        row = lowered(f"VABSDIFF4{modifier}{name} R7, R0, R5, R6").row
        found = row.result(*words, np.zeros(1, np.uint32), np.array([row.code], np.uint64))
        assert int(found[0]) % 2**32 == expected
