"""Rows of halves and bfloat16s, from the texts that nvdisasm prints, against exact arithmetic."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies.bit_patterns import patterns32
from strategies.launches import REPEATABLE

from isa.nvidia.lowering.lower import lowered
from isa.operands.operand_change import apply, change_of

NAN, NAN32 = 0x7FFF, 0x7FFFFFFF
EDGES = (
    *(0, 0x8000, 1, 0x8001, 0x3FF, 0x400, 0x3C00, 0xBC00, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7E00, 0xFE01),
    *(0x7F, 0x80, 0x3F80, 0xBF80, 0x7F7F, 0x7F80, 0xFF80, 0x7FC0),
)
HALVES = st.sampled_from(EDGES) | st.integers(0, 0xFFFF)
WORDS = st.builds(lambda low, high: low | high << 16, HALVES, HALVES)


def computed(text, *words, truth=True):
    """Return the word that an instruction gives for source words, whose registers are R5, R6 and R7."""
    form = lowered(text)
    sources = [o for letter, o in zip(form.row.form, form.operands, strict=True) if letter in "abc"]
    with np.errstate(all="ignore"):
        changed = [apply(np.uint32(w), change_of(o, form.row), 32) for w, o in zip(words, sources, strict=True)]
        if form.row.value is not None:
            return int(form.row.value(*(np.uint32(one) for one in changed), np.uint32(form.row.code)))
        abc = [np.array([int(one)], np.uint64) for one in changed] + [np.zeros(1, np.uint64)] * (3 - len(words))
        found = form.row.result(*abc, np.array([truth], np.uint32), np.array([form.row.code], np.uint64))
    return int(found[0]) & 0xFFFFFFFF


def number(pattern, bfloat=False):
    """The number of a half or bfloat16 as a float, which has them all."""
    if bfloat:
        return float(np.uint32(pattern << 16).view(np.float32))
    return float(np.uint16(pattern).view(np.float16))


def extreme(patterns, least, nan_wins, bfloat):
    """The pattern of the least or greatest, where -0 is below 0; of NaNs alone, and with `nan_wins` of any, the NaN."""
    numbers = [one for one in patterns if not math.isnan(number(one, bfloat))]
    if not numbers or (nan_wins and len(numbers) < len(patterns)):
        return NAN
    order = sorted(numbers, key=lambda one: (number(one, bfloat), one < 0x8000))
    return order[0] if least else order[-1]


@REPEATABLE
@given(WORDS, WORDS, WORDS, st.booleans(), st.booleans(), st.booleans())
def test_the_least_and_the_greatest_of_three(a, b, c, least, nan_wins, bfloat):
    """VHMNMX gives in each half the least of three where its predicate holds, else the greatest."""
    modifiers = (".BF16_V2" if bfloat else "") + (".NAN" if nan_wins else "")
    found = computed(f"VHMNMX{modifiers} R4, R5, R6, R7, PT", a, b, c, truth=least)
    for shift in (0, 16):
        patterns = [word >> shift & 0xFFFF for word in (a, b, c)]
        assert found >> shift & 0xFFFF == extreme(patterns, least, nan_wins, bfloat)


def test_sources_of_three_have_signs_and_halves():
    """`VHMNMX R4, |R5|, -R6.H0_H0, R7.H1_H1, PT` is the least of |-3|, -(-2) and 1, and of |4|, -(-2) and 1."""
    words = 0x4400C200, 0x7C00C000, 0x3C004800
    assert computed("VHMNMX R4, |R5|, -R6.H0_H0, R7.H1_H1, PT", *words) == 0x3C003C00
    assert computed("VHMNMX R4, |R5|, -R6.H0_H0, R7.H1_H1, PT", *words, truth=False) == 0x44004200


def test_three_may_be_two_and_a_number():
    """The halves of an immediate are a source as in HMNMX2; 1 is the least of 2, 1 and 3."""
    assert lowered("VHMNMX R5, R2.H0_H0, 1, 1, R5.H0_H0, PT").operands[2].bits == 0x3C003C00


def towards_zero(pattern):
    """The half of a single without its further digits: the greatest that is no further from 0."""
    single = float(np.uint32(pattern).view(np.float32))
    if math.isnan(single) or math.isinf(single):
        return NAN if math.isnan(single) else 0x7C00 | (pattern >> 16 & 0x8000)
    size, least, most = Fraction(abs(single)), 0, 0x7BFF
    while least < most:
        middle = (least + most + 1) // 2
        least, most = (middle, most) if Fraction(number(middle)) <= size else (least, middle - 1)
    return least | (pattern >> 16 & 0x8000)


@REPEATABLE
@given(patterns32())
def test_a_single_as_an_operand_is_cut_to_a_half(single):
    """0 + R.F32 is the single's half towards zero in both places, whichever operand it is; `-` changes its sign."""
    half = towards_zero(single)
    zero = half == 0x8000
    assert computed("HADD2 R4, R5.F32, -RZ.H0_H0", single, 0) == half * 0x10001
    assert computed("HADD2 R4, -RZ.H0_H0, R6.F32", 0, single) == half * 0x10001
    negative = NAN if half == NAN else half ^ 0x8000
    assert computed("HADD2 R4, -RZ.H0_H0, -R6.F32", 0, single) == negative * 0x10001
    assert zero or computed("HMUL2 R4, R5.F32, R6", single, 0x3C003C00) == half * 0x10001


@REPEATABLE
@given(WORDS)
def test_a_half_becomes_a_saturated_single(word):
    """HADD2.F32.SAT is the number of the lower half within 0 and 1, 0 for a NaN; without SAT the number itself."""
    half = number(word & 0xFFFF)
    inside = 0.0 if math.isnan(half) or half <= 0 else min(half, 1.0)
    assert computed("HADD2.F32.SAT R4, -RZ, R6.H0_H0", 0, word) == int(np.float32(inside).view(np.uint32))
    whole = NAN32 if math.isnan(half) else int(np.float32(half).view(np.uint32))
    assert computed("HADD2.F32 R4, -RZ, R6.H0_H0", 0, word) == whole


@pytest.mark.parametrize("relu", ["", "RELU."])
def test_sm_80_converts_one_bfloat16_by_a_shorter_name(relu):
    """F2FP.BF16.MERGE_C of sm_80 is F2FP.BF16.F32.MERGE_C of sm_90: the same function and code."""
    ours, other = (lowered(f"F2FP.{relu}BF16{single}.MERGE_C R6, R2, RZ").row for single in ("", ".F32"))
    assert (ours.result, ours.code, ours.form) == (other.result, other.code, other.form)
