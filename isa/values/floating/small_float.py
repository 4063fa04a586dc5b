"""IEEE numbers of few digits: halves, bfloat16s, TF32 and 8-bit formats, from doubles and back.

A format has so many digits, the hidden one among them, and a least exponent, that of its least normal number; its
infinity, and the pattern of its NaN, follow. Signatures of results are those of isa.values.general.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from isa.values.floating.single import DOWN, UP, ZERO
from isa.values.integer import has
from isa.values.lanes import as_f32, as_f64, as_u32, as_u64, choose, narrow, widen
from isa.values.semantics import NAN32

NONE, SIGN16, MAGNITUDE16 = np.uint32(0), np.uint32(0x8000), np.uint32(0x7FFF)
NAN16, HALF_INFINITY, BFLOAT_INFINITY = np.uint32(0x7FFF), np.uint32(0x7C00), np.uint32(0x7F80)
LEAST_HALF, LEAST_BFLOAT = np.uint32(0x400), np.uint32(0x80)  # normal ones
LOW16, SIXTEEN = np.uint32(0xFFFF), np.uint32(16)
FIFTY_TWO = np.uint64(52)


def to_half(number: Any, n: Any) -> Any:
    """Return the pattern of a double as a half, rounded as the code says."""
    return signed_pattern(number, rounded_pattern(number, 11, -14, 0x7C00, n), NAN16)


def to_bfloat(number: Any, n: Any) -> Any:
    """Return the pattern of a double as a bfloat16, rounded as the code says."""
    return signed_pattern(number, rounded_pattern(number, 8, -126, 0x7F80, n), NAN16)


def signed_pattern(number: Any, magnitude: Any, nan: Any) -> Any:
    """Return a magnitude of 15 bits with the sign of a double, or the pattern for a NaN."""
    sign = narrow(as_u64(number) >> np.uint64(48)) & SIGN16
    return choose(np.isnan(number), nan, sign | magnitude)


def rounded_pattern(number: Any, digits: int, least: int, infinity: int, n: Any) -> Any:
    """Return the magnitude of a double in a format, rounded as the code says; that of infinity is given.

    The magnitude counts steps of the format: a count that is rounded up to a power of two carries into the exponent.
    """
    negative = (as_u64(number) >> np.uint64(63)) != np.uint64(0)
    lowest = np.uint64(least + 1023)
    field = (as_u64(number) >> FIFTY_TWO) & np.uint64(2047)
    field = choose(field < lowest, lowest, choose(field < np.uint64(2047), field, np.uint64(2046)))
    finite = choose(np.isnan(number) | np.isinf(number), 0.0, np.abs(number))
    steps = finite * as_f64((np.uint64(2045 + digits) - field) << FIFTY_TWO)
    away = (has(n, DOWN) & negative) | (has(n, UP) & (negative == False))  # noqa: E712  (`~` of a Numba bool)
    directed = has(n, DOWN) | has(n, UP) | has(n, ZERO)
    steps = choose(directed, choose(away, np.ceil(steps), np.floor(steps)), np.rint(steps))
    found = narrow((field - lowest) << np.uint64(digits - 1)) + np.uint32(np.int64(steps))
    most = choose(directed & (away == False) & np.isfinite(number), np.uint32(infinity - 1), np.uint32(infinity))  # noqa: E712
    return as_u32(choose((found >= np.uint32(infinity)) | np.isinf(number), most, found))


def of_half(pattern: Any) -> Any:
    """Return the double equal to the half in the low 16 bits."""
    return np.float64(as_f32(half_as_single(pattern)))


def of_bfloat(pattern: Any) -> Any:
    """Return the double equal to the bfloat16 in the low 16 bits."""
    return np.float64(as_f32(as_u32((pattern & LOW16) << SIXTEEN)))


def half_as_single(pattern: Any) -> Any:
    """Return the pattern of the single equal to the half in the low 16 bits."""
    sign = (pattern & SIGN16) << SIXTEEN
    exponent, digits = (pattern >> np.uint32(10)) & np.uint32(31), pattern & np.uint32(0x3FF)
    small = as_u32(np.float32(np.float64(np.int64(digits)) * 5.9604644775390625e-08))  # 2**-24
    large = ((exponent + np.uint32(112)) << np.uint32(23)) | (digits << np.uint32(13))
    finite = choose(exponent == NONE, small, large)
    special = choose(digits == NONE, np.uint32(0x7F800000), NAN32)
    return sign_unless_nan(choose(exponent == np.uint32(31), special, finite), sign)


def sign_unless_nan(pattern: Any, sign: Any) -> Any:
    """Return a single's pattern with a sign; a NaN keeps none."""
    return choose(pattern == NAN32, NAN32, pattern | sign)


def odd_sum(x: Any, y: Any) -> Any:
    """Return x + y rounded to odd: rounding it to fewer digits is like rounding the exact sum (Boldo, Melquiond 2008).

    Where the double sum is inexact and even, its neighbour towards the exact one is odd.
    """
    total = x + y
    virtual = total - x
    error = (x - (total - virtual)) + (y - virtual)
    pattern = as_u64(total)
    even = (pattern & np.uint64(1)) == np.uint64(0)
    further = (error > 0.0) == (total > 0.0)
    moved = choose(further, pattern + np.uint64(1), pattern - np.uint64(1))
    return as_f64(choose(even & np.isfinite(total) & (error != 0.0), moved, pattern))


def low_part(x: Any) -> Any:
    """Return the lower half of a source."""
    return narrow(x) & LOW16


def high_part(x: Any) -> Any:
    """Return the upper half of a source."""
    return (narrow(x) >> SIXTEEN) & LOW16


def pair_of(low: Any, high: Any) -> Any:
    """Return a result of two halves."""
    return widen(as_u32((low & LOW16) | (high << SIXTEEN)))


PARTS = (
    to_half, to_bfloat, signed_pattern, rounded_pattern, of_half, of_bfloat, half_as_single, sign_unless_nan, odd_sum,
    low_part, high_part, pair_of,
)  # fmt: skip
