"""MUFU: functions of the special function unit, to the bit (signature: isa.values.general).

Results are cut, not rounded. Denormal arguments count as zeros, except of TANH, which leaves arguments below 2**-8 as
they are; denormal results become zeros. SIN and COS take turns, not radians.
"""

# ruff: noqa: ARG001  (every function takes a, b, c, p and n; few need all)
from __future__ import annotations

from typing import Any

import numpy as np

from isa.values.floating import interpolation
from isa.values.floating.half import BFLOAT
from isa.values.floating.interpolation import (
    BITS,
    DIGITS,
    EXPONENTIAL,
    FRACTION,
    LOGARITHM,
    NONE,
    ONE,
    RECIPROCAL,
    RECIPROCAL_ROOT,
    ROOT,
    SINE,
    TANGENT,
    TWO,
    WHOLE,
    as_single,
    as_upper_word,
    interpolated,
)
from isa.values.floating.small_conversion import number_of
from isa.values.integer import has
from isa.values.lanes import as_u32, choose, narrow, widen
from isa.values.semantics import NAN32

BIAS, INFINITE = np.uint64(127), np.uint64(255)  # exponents of 1, and of infinities and NaNs
UPPER_BIAS, UPPER_INFINITE = np.uint64(1023), np.uint64(2047)
SIGN, HIDDEN = np.uint64(1 << 31), np.uint64(1 << 23)
SINGLE_INFINITY, UPPER_INFINITY = np.uint32(0x7F800000), np.uint32(0x7FF00000)
MINUS, SINGLE_ONE = np.uint32(1 << 31), np.uint32(0x3F800000)
FAR, FARTHEST = np.uint64(1 << 40), np.uint64(1 << 36)  # beyond every exponent of 2, with its fraction
LOST = np.uint64(15)  # digits that a logarithm's sum lacks
# TANH: for arguments from 2**-8 on, by exponent, the digits that choose a row, and the first row.
LEAST_TANGENT, TANGENT_ONE = np.uint64(127 - 8), np.uint64(127 + 3)
INTERVAL_DIGITS = np.array((0, 0, 0, 1, 1, 2, 2, 2, 3, 4, 3), np.uint64)
FIRST_INTERVAL = TANGENT + np.array((0, 1, 2, 3, 5, 7, 11, 15, 19, 27, 43), np.uint64)
HALF_INFINITY, LOW_HALF = np.uint32(0x7C00), np.uint32(0xFFFF)


def reciprocal(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """RCP: 1 / a."""
    exponent = (a >> BITS[23]) & INFINITE
    r = as_single(reciprocal_digits(a & FRACTION), BIAS - exponent)
    r = choose(exponent == BITS[0], SINGLE_INFINITY, choose(exponent == INFINITE, NONE, r))
    return widen(unless_nan(r | signed(a), exponent == INFINITE, a & FRACTION))


def reciprocal_upper(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """RCP64H: the upper word of 1 / a, where a is the upper word of a double."""
    exponent = (a >> BITS[20]) & UPPER_INFINITE
    r = as_upper_word(reciprocal_digits((a << BITS[3]) & FRACTION), UPPER_BIAS - exponent)
    r = choose(exponent == BITS[0], UPPER_INFINITY, choose(exponent == UPPER_INFINITE, NONE, r))
    return widen(unless_nan(r | signed(a), exponent == UPPER_INFINITE, (a << BITS[3]) & FRACTION))


def reciprocal_digits(fraction: Any) -> Any:
    """Return 1 / (1 + fraction), exact where it is 1."""
    found = interpolated(RECIPROCAL + (fraction >> BITS[16]), (fraction << ONE) & DIGITS)
    return choose(fraction == BITS[0], WHOLE, found)


def reciprocal_root(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """RSQ: 1 / sqrt(a)."""
    exponent, fraction = (a >> BITS[23]) & INFINITE, a & FRACTION
    even = exponent & ONE  # of the number: the bias is odd
    r = as_single(reciprocal_root_digits(even, fraction), (BITS[63] - (exponent >> ONE)) + (ONE - even))
    r = choose(exponent == INFINITE, NONE, r)
    is_nan = (exponent == INFINITE) & (fraction != BITS[0])
    return widen(of_positive(r, a, exponent == BITS[0], is_nan, SINGLE_INFINITY))


def reciprocal_root_upper(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """RSQ64H: the upper word of 1 / sqrt(a), where a is the upper word of a double."""
    exponent, fraction = (a >> BITS[20]) & UPPER_INFINITE, (a << BITS[3]) & FRACTION
    even = exponent & ONE
    r = as_upper_word(reciprocal_root_digits(even, fraction), np.uint64(511) - (exponent >> ONE) + (ONE - even))
    r = choose(exponent == UPPER_INFINITE, NONE, r)
    is_nan = (exponent == UPPER_INFINITE) & (fraction != BITS[0])
    return widen(of_positive(r, a, exponent == BITS[0], is_nan, UPPER_INFINITY))


def reciprocal_root_digits(even: Any, fraction: Any) -> Any:
    """Return 1 / sqrt(1 + fraction), of twice that where the exponent is odd."""
    row = RECIPROCAL_ROOT + ((ONE - even) << BITS[6]) + (fraction >> BITS[17])
    return choose((fraction == BITS[0]) & (even == ONE), WHOLE, interpolated(row, fraction & DIGITS))


def root(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """SQRT: sqrt(a)."""
    exponent, fraction = (a >> BITS[23]) & INFINITE, a & FRACTION
    even = exponent & ONE
    row = ROOT + ((ONE - even) << BITS[6]) + (fraction >> BITS[17])
    r = as_single(interpolated(row, fraction & DIGITS), (exponent >> ONE) - BITS[63] - (ONE - even))
    r = choose(exponent == INFINITE, SINGLE_INFINITY, r)
    is_nan = (exponent == INFINITE) & (fraction != BITS[0])
    return widen(of_positive(r, a, exponent == BITS[0], is_nan, NONE))


def logarithm(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """LG2: base-2 logarithm of a; the magnitude of a negative sum is its complement."""
    exponent, fraction = (a >> BITS[23]) & INFINITE, a & FRACTION
    total = interpolated(LOGARITHM + (fraction >> BITS[17]), fraction & DIGITS) + ((exponent - BIAS) << BITS[40])
    negative = (total >> BITS[63]) == ONE
    magnitude = choose(negative, ~total, total) & ~LOST
    r = as_single(magnitude, BITS[0]) | choose(negative, MINUS, NONE)
    r = choose(a == widen(SINGLE_ONE), NONE, choose(exponent == INFINITE, SINGLE_INFINITY, r))
    r = choose(exponent == BITS[0], SINGLE_INFINITY | MINUS, r)
    wrong = ((a & SIGN) != BITS[0]) & (exponent != BITS[0])
    return widen(choose(wrong | ((exponent == INFINITE) & (fraction != BITS[0])), NAN32, r))


def exponential(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """EX2: 2 to the power a."""
    return widen(power_of_two(a))


def power_of_two(a: Any) -> Any:
    """Return 2 to the power a. Digits of a below 2**-23 are cut; a negative number with a fraction is complemented."""
    exponent = (a >> BITS[23]) & INFINITE
    magnitude = choose(exponent > BIAS + BITS[12], FARTHEST, shifted(a, exponent - BIAS))
    whole = (magnitude & FRACTION) == BITS[0]
    number = choose((a & SIGN) == BITS[0], magnitude, choose(whole, BITS[0] - magnitude, ~magnitude))
    fraction = number & FRACTION
    value = interpolated(EXPONENTIAL + (fraction >> BITS[17]), fraction & DIGITS)
    r = as_single(value, ((number + FAR) >> BITS[23]) - (FAR >> BITS[23]))
    return unless_nan(r, exponent == INFINITE, a & FRACTION)


def shifted(a: Any, left: Any) -> Any:
    """Return the digits of a single, the hidden one too, shifted left; a negative count modulo 2**64 shifts right."""
    digits = (a & FRACTION) | HIDDEN
    right = BITS[0] - left
    up, down = choose(left < BITS[40], left, BITS[40]), choose(right < BITS[40], right, BITS[40])
    return choose((left >> BITS[63]) == BITS[0], digits << up, digits >> down)


def sine(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """SIN: sine of a turns."""
    return widen(wave(a, BITS[0], signed(a)))


def cosine(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """COS: cosine of a turns."""
    return widen(wave(a, ONE, NONE))


def wave(a: Any, quarters: Any, sign: Any) -> Any:
    """Return the sine of `|a|` turns and so many quarters, with a sign; digits of a below 2**-25 turns are cut."""
    exponent = (a >> BITS[23]) & INFINITE
    place = shifted(a, exponent - (BIAS - TWO)) + (quarters << BITS[23])
    quarter, offset = (place >> BITS[23]), place & FRACTION
    offset = choose((quarter & ONE) == ONE, FRACTION - offset, offset)
    r = as_single(interpolated(SINE + (offset >> BITS[17]), offset & DIGITS), BITS[0])
    below = choose((quarter & TWO) == TWO, MINUS, NONE)
    return choose(exponent == INFINITE, NAN32, r | (below ^ sign))


def tangent(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """TANH: hyperbolic tangent of a."""
    return widen(hyperbolic_tangent(a))


def hyperbolic_tangent(a: Any) -> Any:
    """Return the hyperbolic tangent of a."""
    exponent = (a >> BITS[23]) & INFINITE
    within = (exponent >= LEAST_TANGENT) & (exponent < TANGENT_ONE)
    place = choose(within, exponent - LEAST_TANGENT, BITS[0])
    digits = INTERVAL_DIGITS[place]
    row = FIRST_INTERVAL[place] + ((a & FRACTION) >> (BITS[23] - digits))
    r = as_single(interpolated(row, ((a & FRACTION) >> (BITS[6] - digits)) & DIGITS), BITS[0])
    small = exponent < LEAST_TANGENT
    r = choose(small, narrow(a & ~SIGN), choose(within, r, SINGLE_ONE))
    return unless_nan(r | signed(a), exponent == INFINITE, a & FRACTION)


def signed(a: Any) -> Any:
    """Return the sign bit of a."""
    return narrow(a & SIGN)


def unless_nan(r: Any, special: Any, fraction: Any) -> Any:
    """Return a result, or the one NaN for an argument that is a NaN."""
    return choose(special & (fraction != BITS[0]), NAN32, r)


def of_positive(r: Any, a: Any, is_zero: Any, is_nan: Any, at_zero: Any) -> Any:
    """Return a root's result; that at a zero has its sign, and there is none of a negative number or a NaN."""
    wrong = ((a & SIGN) != BITS[0]) | is_nan
    return choose(is_zero, at_zero | signed(a), choose(wrong, NAN32, r))


def small_exponential(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """EX2 of a half or bfloat16."""
    return widen(cut(power_of_two(small_argument(a, n)), n))


def small_tangent(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """TANH of a half or bfloat16."""
    return widen(cut(hyperbolic_tangent(small_argument(a, n)), n))


def small_argument(a: Any, n: Any) -> Any:
    """Return the half or bfloat16 that the code names, as a single's pattern."""
    return widen(as_u32(np.float32(number_of(a, n))))


def cut(single: Any, n: Any) -> Any:
    """Return the leading digits of a single's pattern as those of a bfloat16, or of a half."""
    return choose(has(n, BFLOAT), single >> np.uint32(16), cut_to_half(single))


def cut_to_half(single: Any) -> Any:
    """Return a single's pattern as that of a half: its first 11 digits, or those from 2**-24 on."""
    magnitude = single & ~MINUS
    exponent = magnitude >> np.uint32(23)
    digits = (magnitude & np.uint32(0x7FFFFF)) | np.uint32(0x800000)
    left_out = choose(exponent > np.uint32(95), np.uint32(126) - exponent, np.uint32(31))
    small = digits >> choose(exponent < np.uint32(113), left_out, np.uint32(0))
    normal = (magnitude >> np.uint32(13)) - np.uint32(112 << 10)
    found = choose(exponent < np.uint32(113), small, choose(exponent > np.uint32(142), HALF_INFINITY, normal))
    found = choose(magnitude > SINGLE_INFINITY, LOW_HALF >> np.uint32(1), found)
    return found | choose(magnitude > SINGLE_INFINITY, NONE, (single & MINUS) >> np.uint32(16))


PARTS = (
    *interpolation.PARTS, reciprocal_digits, reciprocal_root_digits, power_of_two, shifted, wave, hyperbolic_tangent,
    signed, unless_nan, of_positive, small_argument, cut, cut_to_half,
)  # fmt: skip
