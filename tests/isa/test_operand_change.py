"""Signs, bars, ~ and halves of a source, in NumPy and in the engine's rules."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies.bit_patterns import patterns32, patterns64
from strategies.launches import REPEATABLE

from gpusim.sm.lanes.values.operand_change import changed
from isa.operands.operand import BankConstant, Register
from isa.operands.operand_change import Change, apply, change_of, half_towards_zero
from isa.table import TABLE

CHANGES = st.integers(0, 2 * Change.SINGLE - 1).map(Change)


@pytest.mark.parametrize(
    ("change", "pattern", "expected"),
    [
        (Change.SIGN, 0x3F800000, 0xBF800000),
        (Change.ABSOLUTE, 0xBF800000, 0x3F800000),
        (Change.SIGN | Change.ABSOLUTE, 0xBF800000, 0xBF800000),
        (Change.NEGATIVE, 5, 0xFFFFFFFB),
        (Change.INVERTED, 5, 0xFFFFFFFA),
        (Change.LOW, 0x12345678, 0x56785678),
        (Change.HIGH, 0x12345678, 0x12341234),
        (Change.SIGN | Change.HALVES, 0x3C00BC00, 0xBC003C00),
        (Change.CROSSED, 0x3C004000, 0x4000BC00),
        (Change.SINGLE, 0x3F800000, 0x3C003C00),
        (Change.HIGH | Change.ABSOLUTE | Change.HALVES, 0xBC001234, 0x3C003C00),
    ],
)
def test_each_change_does_what_its_text_says(change, pattern, expected):
    """-1 is 1 with the other sign, |-1| is 1, -|-1| is -1, ~5 has no bit of 5.

    H1_H1 is the upper half twice, H0_NH1 has the halves (1, 2) as (2, -1), and F32 the single 1 as two halves.
    """
    assert int(apply(np.uint32(pattern), change, 32)) == expected


@REPEATABLE
@given(CHANGES, patterns32(), patterns64())
def test_rules_change_patterns_alike(change, word, pair):
    """The engine's rule gives what NumPy gives, for words and for pairs, which have no halves."""
    with np.errstate(over="ignore"):
        assert changed(np.uint64(word), int(change), 32) == apply(np.uint32(word), change, 32)
        change &= ~(Change.LOW | Change.HIGH | Change.HALVES | Change.CROSSED | Change.SINGLE)
        assert changed(np.uint64(pair), int(change), 64) == apply(np.uint64(pair), change, 64)


@REPEATABLE
@given(patterns32())
def test_a_single_becomes_the_half_next_to_it_towards_zero(word):
    """No half lies between the single and its half, which is not the greater of the two; infinities and NaNs stay."""
    single = np.uint32(word).view(np.float32)
    half = np.uint16(half_towards_zero(np.uint32(word))).view(np.float16)
    if not np.isfinite(single):
        assert half == single or (np.isnan(half) and np.isnan(single))
        return
    size, lesser = abs(float(single)), abs(half)
    with np.errstate(over="ignore"):
        assert float(lesser) <= size < float(np.nextafter(lesser, np.float16(np.inf)))
    assert np.signbit(half) == np.signbit(single)


def test_a_minus_is_a_sign_of_numbers_and_two_s_complement_of_integers():
    """-R of FADD flips the sign, of IADD3 it is the negative integer, of HADD2 it flips both halves' signs."""
    minus = Register(1, negated=True)
    assert change_of(minus, TABLE["FADD"]) == Change.SIGN
    assert change_of(minus, TABLE["IADD3"]) == Change.NEGATIVE
    assert change_of(minus, TABLE["HADD2"]) == Change.SIGN | Change.HALVES
    assert change_of(BankConstant(0, 0, absolute=True), TABLE["FADD"]) == Change.ABSOLUTE
