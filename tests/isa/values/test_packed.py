"""Integers packed into a word are those of PTX's definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isa.nvidia.lowering.lower import lowered

WORDS = st.integers(-(2**31), 2**31 - 1)
TYPES = [
    (f"{sign}{bits}", part, shift)
    for sign in "SU"
    for bits, part, shift in ((2, ".28", 0), (4, ".24", 0), (8, "", 0), (8, ".H1", 16), (16, "", 0))
]


@pytest.mark.parametrize(("kind", "part", "shift"), TYPES)
@given(a=WORDS, b=WORDS, c=st.integers(0, 2**32 - 1))
def test_i2ip_saturates_two_words_and_keeps_the_low_bits_of_the_third(kind, part, shift, a, b, c):
    """I2IP is PTX's cvt.pack.sat: a above b, each the nearest number of its type, and c or its upper half above."""
    row, bits = lowered(f"I2IP.{kind}.S32.SAT R0, R4, R17, R0{part}").row, int(kind[1:])
    least, most = (0, 2**bits - 1) if kind[0] == "U" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    high, low = (min(max(x, least), most) % 2**bits for x in (a, b))
    words = [np.array([x % 2**32], np.uint64) for x in (a, b, c)]
    found = row.result(*words, np.zeros(1, np.uint32), np.full(1, row.code, np.uint32))
    assert int(found[0]) % 2**32 == ((c >> shift << 2 * bits) | (high << bits) | low) % 2**32
