"""Integers packed into a word are those of PTX's definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isa.sass.lower import lowered

WORDS = st.integers(-(2**31), 2**31 - 1)
TYPES = [(kind, bits) for bits in (2, 4, 8, 16) for kind in "SU"]


@pytest.mark.parametrize(("kind", "bits"), TYPES)
@given(a=WORDS, b=WORDS, c=st.integers(0, 2**32 - 1))
def test_i2ip_saturates_two_words_and_keeps_the_low_bits_of_the_third(kind, bits, a, b, c):
    """I2IP is PTX's cvt.pack.sat: a above b, each the nearest number of its type, and c above both."""
    row = lowered(f"I2IP.{kind}{bits}.S32.SAT R0, R4, R17, R0").row
    least, most = (0, 2**bits - 1) if kind == "U" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    high, low = (min(max(x, least), most) % 2**bits for x in (a, b))
    words = [np.array([x % 2**32], np.uint64) for x in (a, b, c)]
    found = row.result(*words, np.zeros(1, np.uint32), np.full(1, row.code, np.uint32))
    assert int(found[0]) % 2**32 == ((c << 2 * bits) | (high << bits) | low) % 2**32
