"""Cross-lane instructions: the value that each lane gets from others."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies.launches import patterns32

from isa.table import TABLE

WORDS = st.lists(patterns32(), min_size=32, max_size=32)
LANES = st.lists(st.booleans(), min_size=32, max_size=32)


def across(mnemonic, a, b, c, active):
    """Return the result of a row in every lane of one warp, as Python ints."""
    a, b, c = (np.array([x], np.uint32) for x in (a, b, c))
    return TABLE[mnemonic].across(a, b, c, np.array([active]))[0].tolist()


@pytest.mark.parametrize(
    ("mnemonic", "source"), [("SHFL.IDX", lambda _, b: b % 32), ("SHFL.BFLY", lambda i, b: i ^ b % 32)]
)
@given(a=WORDS, b=WORDS, active=LANES)
def test_a_shuffle_takes_the_value_of_the_lane_named(mnemonic, source, a, b, active):
    """Lane i gets a of lane b, or of lane i xor b, modulo 32; its own where that lane takes no part."""
    where = [source(i, b[i]) for i in range(32)]
    assert across(mnemonic, a, b, a, active) == [a[j] if active[j] else a[i] for i, j in enumerate(where)]


@given(WORDS, LANES, LANES)
def test_a_ballot_has_a_bit_for_each_lane_that_says_yes(a, flags, active):
    """VOTE.BALLOT sets bit i where lane i takes part and its predicate holds, alike in every lane."""
    votes = sum(1 << i for i in range(32) if flags[i] and active[i])
    assert across("VOTE.BALLOT", a, a, flags, active) == [votes] * 32


@given(WORDS, LANES)
def test_a_reduction_sums_the_lanes_that_take_part(a, active):
    """REDUX.SUM is the sum of a over the active lanes modulo 2**32, in every lane."""
    assert across("REDUX.SUM", a, a, a, active) == [sum(x for x, on in zip(a, active, strict=True) if on) % 2**32] * 32
