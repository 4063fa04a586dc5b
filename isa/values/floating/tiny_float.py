"""Conversions of numbers of 6 and 4 bits, and of powers of two in 8 bits (OCP Microscaling Formats 1.0).

E2M3, E3M2 (6 bits) and E2M1 (4) have neither infinities nor NaN: what is too large, and a NaN, is the greatest number,
a NaN the positive one. E8 has no sign: 2**(pattern - 127), 255 is NaN; a conversion takes the size (cuda_fp8.hpp).
Measured nowhere: no chip that has them was at hand.
"""

# ruff: noqa: ARG001  (every function takes a, b, c, p and n; few need all)
from __future__ import annotations

from typing import Any

import numpy as np

from isa.values.floating.conversion import BYTE
from isa.values.floating.half import RELU
from isa.values.floating.single import UP
from isa.values.floating.small_conversion import half_of, number_of_single
from isa.values.floating.small_float import NONE, high_part, low_part, pair_of, rounded_pattern, to_half
from isa.values.integer import has
from isa.values.lanes import as_u32, as_u64, choose, narrow, widen

THREE_TWO, TWO_ONE, FINITE = 1 << 27, 1 << 28, 1 << 29  # codes: E3M2, E2M1 in place of E2M3; 254 is the most of E8
MOST_OF_SIX, MOST_OF_FOUR = np.uint32(0x1F), np.uint32(7)
SIGN_OF_SIX, SIGN_OF_FOUR = np.uint32(0x20), np.uint32(8)
FIELD, ONE, EIGHT = np.uint32(0xFF), np.uint32(1), np.uint32(8)
FRACTION, LEAST = np.uint32(0x7FFFFF), np.uint32(0x400000)  # 2**-127 as a single


def to_tiny(number: Any, n: Any) -> Any:
    """Return a double in 6 bits, or 4: the nearest number, the greatest in place of a greater one."""
    two_three, three_two = rounded_pattern(number, 4, 0, 32, n), rounded_pattern(number, 3, -2, 32, n)
    six = choose(has(n, THREE_TWO), three_two, two_three)
    four = rounded_pattern(number, 2, 0, 8, n)
    found = choose(has(n, TWO_ONE), choose(four > MOST_OF_FOUR, MOST_OF_FOUR, four), six)
    most = choose(has(n, TWO_ONE), MOST_OF_FOUR, MOST_OF_SIX)
    magnitude = choose((found > most) | np.isnan(number), most, found)
    negative = ((as_u64(number) >> np.uint64(63)) != np.uint64(0)) & (np.isnan(number) == False)  # noqa: E712  (`~` of a Numba bool)
    sign = choose(negative, choose(has(n, TWO_ONE), SIGN_OF_FOUR, SIGN_OF_SIX), NONE)
    return as_u32(choose(negative & has(n, RELU), NONE, sign | magnitude))


def packed_sixes(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """F2FP.PACK_AB_MERGE_C to 6 bits: two singles, a byte each, a above b, below the lower half of c."""
    high, low = to_tiny(number_of_single(a), n), to_tiny(number_of_single(b), n)
    return pair_of(low | (high << EIGHT), low_part(c))


def packed_fours(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """F2FP.PACK_AB_MERGE_C to 4 bits: two singles in a byte, a above b, below the lower three bytes of c."""
    high, low = to_tiny(number_of_single(a), n), to_tiny(number_of_single(b), n)
    return widen(as_u32(low | (high << np.uint32(4)) | (narrow(c) << EIGHT)))


def tiny_as_half(pattern: Any, n: Any) -> Any:
    """Return the half equal to a number of 6 bits, or 4."""
    four, six, three_two = pattern & MOST_OF_FOUR, pattern & MOST_OF_SIX, has(n, THREE_TWO)
    magnitude = choose(has(n, TWO_ONE), four, six)
    digits = choose(has(n, TWO_ONE), np.uint32(1), choose(three_two, np.uint32(2), np.uint32(3)))
    field, fraction = magnitude >> digits, magnitude & ((ONE << digits) - ONE)
    whole = np.float64(np.int64(fraction | choose(field == NONE, NONE, ONE << digits)))
    power = choose(field == NONE, ONE, field) - digits  # of the last digit, above the bias
    scaled = whole * as_single_power(power - choose(three_two, np.uint32(3), np.uint32(1)))
    sign = choose((pattern & choose(has(n, TWO_ONE), SIGN_OF_FOUR, SIGN_OF_SIX)) != NONE, np.uint32(0x8000), NONE)
    found = to_half(scaled, n & np.uint64(0))
    return as_u32(choose((sign != NONE) & has(n, RELU), NONE, sign | found))


def as_single_power(power: Any) -> Any:
    """Return two to the power of a small number, modulo 2**32, as a double."""
    return np.float64(np.int64(ONE << ((power + EIGHT) & np.uint32(31)))) * 0.00390625  # 2**-8


def halves_of_sixes(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """F2FP.UNPACK_B from 6 bits: two halves from the lowest two bytes, with H1 from the upper two."""
    pattern = half_of(a, n)
    return pair_of(tiny_as_half(pattern, n), tiny_as_half(pattern >> EIGHT, n))


def halves_of_fours(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """F2FP.UNPACK_B from 4 bits: two halves from the lowest byte, or from another one."""
    byte = choose(has(n, BYTE[0]), EIGHT, NONE) + choose(has(n, BYTE[1]), np.uint32(16), NONE)
    pattern = narrow(a) >> (byte + choose(has(n, BYTE[2]), np.uint32(24), NONE))
    return pair_of(tiny_as_half(pattern, n), tiny_as_half(pattern >> np.uint32(4), n))


def to_power(pattern: Any, n: Any) -> Any:
    """Return the pattern of a single as a power of two, cut to it or the next one above."""
    field, fraction = (pattern >> np.uint32(23)) & FIELD, pattern & FRACTION
    above = has(n, UP) & (fraction != NONE) & ((pattern & np.uint32(0x7FFFFFFF)) > LEAST) & (field != FIELD)
    found = field + choose(above, ONE, NONE)
    nan = (field == FIELD) & (fraction != NONE)
    return as_u32(choose(has(n, FINITE) & (found == FIELD) & (nan == False), np.uint32(0xFE), found))  # noqa: E712


def packed_powers(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """F2FP.PACK_AB_MERGE_C to E8: two singles, a above b, below the lower half of c."""
    return pair_of(to_power(narrow(b), n) | (to_power(narrow(a), n) << EIGHT), low_part(c))


def powers_of_bfloats(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """F2FP.UNPACK_B_MERGE_C to E8: two bfloat16s below the lower half of c."""
    low, high = low_part(a) << np.uint32(16), high_part(a) << np.uint32(16)
    return pair_of(to_power(low, n) | (to_power(high, n) << EIGHT), low_part(c))


def power_as_bfloat(pattern: Any) -> Any:
    """Return the bfloat16 equal to a power of two."""
    field = pattern & FIELD
    return choose(field == FIELD, np.uint32(0x7FFF), choose(field == NONE, np.uint32(0x40), field << np.uint32(7)))


def bfloats_of_powers(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """F2FP.UNPACK_B from E8: two bfloat16s from the lowest two bytes, with H1 from the upper two."""
    pattern = half_of(a, n)
    return pair_of(power_as_bfloat(pattern), power_as_bfloat(pattern >> EIGHT))


PARTS = (to_tiny, tiny_as_half, as_single_power, to_power, power_as_bfloat)
