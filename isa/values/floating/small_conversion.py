"""Conversions of halves, bfloat16s and smaller numbers (signature: isa.values.general).

A format is named by the code: BFLOAT of the source or result of 16 bits that is no half. A NaN is 0x7FFF, but that of
a double keeps its upper digits, and one that becomes a double all of them (as on an H200).
"""

# ruff: noqa: ARG001  (every function takes a, b, c, p and n; few need all)
from __future__ import annotations

from typing import Any

import numpy as np

from isa.values.comparison import flushed
from isa.values.floating.conversion import integer_of, integer_rounded, whole_part
from isa.values.floating.half import BFLOAT, RELU, UPPER
from isa.values.floating.small_float import (
    NAN16,
    NONE,
    SIGN16,
    high_part,
    low_part,
    of_bfloat,
    of_half,
    pair_of,
    rounded_pattern,
    to_bfloat,
    to_half,
)
from isa.values.integer import has
from isa.values.lanes import as_f32, as_f64, as_u32, as_u64, choose, narrow, widen

TO_BFLOAT, FIVE_TWO = 1 << 25, 1 << 26  # codes: of the result, where BFLOAT is of the source; E5M2 in place of E4M3
NAN8, SIGN8, MAGNITUDE8 = np.uint32(0x7F), np.uint32(0x80), np.uint32(0x7F)
MOST_E4M3, MOST_E5M2 = np.uint32(0x7E), np.uint32(0x7B)
NAN_TF32, QUIET = np.uint32(0x7FFFE000), np.uint64(0x7FF8000000000000)


def half_of(a: Any, n: Any) -> Any:
    """Return the half of a source that the row names: the upper one with H1."""
    return choose(has(n, UPPER), high_part(a), low_part(a))


def number_of(a: Any, n: Any) -> Any:
    """Return that half as a double."""
    pattern = half_of(a, n)
    return choose(has(n, BFLOAT), of_bfloat(pattern), of_half(pattern))


def small_to_integer(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """F2I of a half."""
    return integer_of(number_of(a, n), n)


def packed_integers(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """F2IP: two singles as bytes, a above b, below the lower half of c."""
    high, low = number_of_single(a), number_of_single(b)
    byte = np.uint64(0xFF)
    pair = (integer_of(low, n) & byte) | ((integer_of(high, n) & byte) << np.uint64(8))
    return pair | ((c & np.uint64(0xFFFF)) << np.uint64(16))


def number_of_single(a: Any) -> Any:
    """Return a single as a double."""
    return np.float64(as_f32(narrow(a)))


def integer_to_half(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """I2F.F16."""
    return widen(to_half(integer_rounded(a, 11, n), n))


def integer_to_bfloat(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """I2F.BF16."""
    return widen(to_bfloat(integer_rounded(a, 8, n), n))


def round_small(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """FRND of a half: the whole number that the mode rounds to, which the format has."""
    whole = whole_part(number_of(a, n), n)
    return widen(choose(has(n, BFLOAT), to_bfloat(whole, n), to_half(whole, n)))


def single_to_small(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """F2F from a single to 16 bits."""
    return widen(small_of(np.float64(as_f32(flushed(narrow(a), n))), n))


def small_of(number: Any, n: Any) -> Any:
    """Return a double in the 16 bits of the row's format."""
    return choose(has(n, BFLOAT), to_bfloat(number, n), to_half(number, n))


def double_to_small(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """F2F from a double to 16 bits."""
    sign = narrow(a >> np.uint64(48)) & SIGN16
    half = np.uint32(0x7E00) | (narrow(a >> np.uint64(42)) & np.uint32(0x3FF))
    bfloat = np.uint32(0x7FC0) | (narrow(a >> np.uint64(45)) & np.uint32(0x7F))
    nan = sign | choose(has(n, BFLOAT), bfloat, half)
    return widen(choose(np.isnan(as_f64(a)), nan, small_of(as_f64(a), n)))


def small_to_double(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """F2F from 16 bits to a double."""
    pattern = widen(half_of(a, n))
    sign = (pattern & np.uint64(0x8000)) << np.uint64(48)
    half = (pattern & np.uint64(0x3FF)) << np.uint64(42)
    bfloat = (pattern & np.uint64(0x7F)) << np.uint64(45)
    nan = sign | QUIET | choose(has(n, BFLOAT), bfloat, half)
    number = number_of(a, n)
    return choose(np.isnan(number), nan, as_u64(number))


def small_to_small(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """F2F between half and bfloat16."""
    number = number_of(a, n)
    return widen(choose(has(n, TO_BFLOAT), to_bfloat(number, n), to_half(number, n)))


def packed(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """F2FP.PACK_AB: two singles as numbers of 16 bits, a above b."""
    return pair_of(packed_half(b, n), packed_half(a, n))


def merged(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """F2FP.MERGE_C: a single as a number of 16 bits below the lower half of c."""
    return pair_of(packed_half(a, n), low_part(c))


def packed_half(a: Any, n: Any) -> Any:
    """Return a single in 16 bits, with RELU 0 in place of a negative one."""
    return positive(as_u32(small_of(np.float64(as_f32(flushed(narrow(a), n))), n)), SIGN16, NAN16, n)


def positive(pattern: Any, sign: Any, nan: Any, n: Any) -> Any:
    """Return a pattern, with RELU 0 in place of a negative number that is no NaN."""
    drop = has(n, RELU) & ((pattern & sign) != NONE) & (pattern != nan)
    return choose(drop, NONE, pattern)


def single_to_tf32(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """F2FP.TF32.F32.PACK_B: a single of 11 digits."""
    number = number_of_single(a)
    magnitude = rounded_pattern(number, 11, -126, 255 << 10, n) << np.uint32(13)
    sign = narrow(a) & np.uint32(0x80000000)
    found = as_u32(choose(np.isnan(number), NAN_TF32, sign | magnitude))
    return widen(positive(found, np.uint32(0x80000000), NAN_TF32, n))


def to_byte(number: Any, n: Any) -> Any:
    """Return a double in 8 bits, of E4M3 or E5M2: the greatest number of its sign in place of a greater one."""
    e4m3, e5m2 = rounded_pattern(number, 4, -6, 0x7F, n), rounded_pattern(number, 3, -14, 0x7C, n)
    four = choose(e4m3 > MOST_E4M3, MOST_E4M3, e4m3)
    magnitude = choose(has(n, FIVE_TWO), choose(e5m2 > MOST_E5M2, MOST_E5M2, e5m2), four)
    sign = narrow(as_u64(number) >> np.uint64(56)) & SIGN8
    return positive(as_u32(choose(np.isnan(number), NAN8, sign | magnitude)), SIGN8, NAN8, n)


def packed_bytes(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """F2FP.PACK_AB_MERGE_C to 8 bits: two singles, a above b, below the lower half of c."""
    high, low = to_byte(number_of_single(a), n), to_byte(number_of_single(b), n)
    return pair_of(low | (high << np.uint32(8)), low_part(c))


def bytes_of_halves(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """F2FP.UNPACK_B_MERGE_C to 8 bits: two halves below the lower half of c."""
    low, high = to_byte(of_half(low_part(a)), n), to_byte(of_half(high_part(a)), n)
    return pair_of(low | (high << np.uint32(8)), low_part(c))


def halves_of_bytes(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """F2FP.UNPACK_B from 8 bits: two halves from the lowest two bytes, with H1 from the upper two."""
    pattern = half_of(a, n)
    return pair_of(byte_as_half(pattern & np.uint32(0xFF), n), byte_as_half(pattern >> np.uint32(8), n))


def byte_as_half(pattern: Any, n: Any) -> Any:
    """Return the half equal to a number of 8 bits; one of E4M3 has its exponent 8 places lower."""
    sign, magnitude = (pattern & SIGN8) << np.uint32(8), pattern & MAGNITUDE8
    small = to_half(np.float64(np.int64(magnitude)) * 0.001953125, n & np.uint64(0))  # 2**-9
    four = choose(magnitude < np.uint32(8), small, (magnitude << np.uint32(7)) + np.uint32(8 << 10))
    five = magnitude << np.uint32(8)
    bad = choose(has(n, FIVE_TWO), magnitude > np.uint32(0x7C), magnitude == np.uint32(0x7F))
    found = as_u32(choose(bad, NAN16, sign | choose(has(n, FIVE_TWO), five, four)))
    return positive(found, SIGN16, NAN16, n)


PARTS = (
    half_of, number_of_single, number_of, small_of, packed_half, positive, to_byte, byte_as_half, rounded_pattern,
)  # fmt: skip
