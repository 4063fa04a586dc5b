"""Conversions between integers and IEEE numbers, with rounding modes (signature: isa.values.general).

Out of range, an integer is the nearest there is. Of a NaN it is 0; 2**63 in 64 bits, and of a double the top bit of any
width (as on an H200).
"""

# ruff: noqa: ARG001  (every function takes a, b, c, p and n; few need all)
from __future__ import annotations

from typing import Any

import numpy as np

from isa.values import semantics as v
from isa.values.comparison import FLUSH, flushed
from isa.values.floating.single import DOWN, UP, ZERO, single_of
from isa.values.general import code
from isa.values.integer import has
from isa.values.lanes import as_f32, as_f64, as_u32, as_u64, choose, narrow, widen
from isa.values.semantics import NAN32

FROM_UNSIGNED, FROM_8, FROM_16, FROM_64 = 512, 1024, 2048, 4096  # codes of sources
TO_UNSIGNED, TO_8, TO_16, TO_64 = 512, 1024, 2048, 4096  # codes of results
BYTE = 16384, 32768, 65536  # codes of the source's byte: 1, 2, 3
ONE, NONE, WORD, LONG = np.uint64(1), np.uint64(0), np.uint64(32), np.uint64(64)
TOP64, EVERY = np.uint64(1 << 63), np.uint64(0xFFFFFFFFFFFFFFFF)


def integer_to_single(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """I2F: the single nearest to an integer, or the next one as the mode says."""
    return widen(as_u32(np.float32(integer_rounded(a, 24, n))))


def integer_to_double(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """I2F.F64: the same double."""
    return as_u64(integer_rounded(a, 53, n))


def integer_rounded(a: Any, digits: int, n: Any) -> Any:
    """Return the integer with at most so many binary digits, as a double."""
    source = taken(a, n)
    negative = (has(n, FROM_UNSIGNED) == False) & ((source & TOP64) != NONE)  # noqa: E712  (`~` of a Numba bool)
    magnitude = choose(negative, ~source + ONE, source)
    length = bit_length(magnitude)
    excess = choose(length > np.uint64(digits), length - np.uint64(digits), NONE)
    kept, rest = magnitude >> excess, magnitude & ((ONE << excess) - ONE)
    half = choose(excess == NONE, NONE, ONE << (choose(excess == NONE, ONE, excess) - ONE))
    directed = has(n, DOWN) | has(n, UP) | has(n, ZERO)
    nearest = (rest > half) | ((rest == half) & ((kept & ONE) != NONE) & (rest != NONE))
    away = (rest != NONE) & ((has(n, DOWN) & negative) | (has(n, UP) & (negative == False)))  # noqa: E712  (as above)
    kept = kept + choose(choose(directed, away, nearest), ONE, NONE)
    number = as_double(kept) * as_double(ONE << choose(excess > np.uint64(62), np.uint64(62), excess))
    number = choose(excess > np.uint64(62), number * 2.0, number)
    return choose(negative, -number, number)


def as_double(a: Any) -> Any:
    """Return a whole number below 2**63 that a double holds."""
    return np.float64(a)


def taken(a: Any, n: Any) -> Any:
    """Return the source integer in 64 bits, with its sign above it where it has one."""
    byte = choose(has(n, BYTE[0]), np.uint64(8), NONE) + choose(has(n, BYTE[1]), np.uint64(16), NONE)
    moved = a >> (byte + choose(has(n, BYTE[2]), np.uint64(24), NONE))
    bits = choose(has(n, FROM_8), np.uint64(8), choose(has(n, FROM_16), np.uint64(16), WORD))
    low = moved & ((ONE << bits) - ONE)
    negative = (has(n, FROM_UNSIGNED) == False) & ((low >> (bits - ONE)) != NONE)  # noqa: E712  (as above)
    return choose(has(n, FROM_64), a, choose(negative, low | (EVERY << bits), low))


def bit_length(a: Any) -> Any:
    """Return the number of binary digits of an unsigned integer of 64 bits."""
    length = a & NONE
    rest = a
    for step in (32, 16, 8, 4, 2, 1):
        wide = (rest >> np.uint64(step)) != NONE
        length = length + choose(wide, np.uint64(step), NONE)
        rest = choose(wide, rest >> np.uint64(step), rest)
    return length + choose(rest != NONE, ONE, NONE)


def single_to_integer(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """F2I of a single."""
    return integer_of(np.float64(as_f32(flushed(narrow(a), n))), n)


def double_to_integer(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """F2I.F64; of a NaN only the top bit is set."""
    bits = choose(has(n, TO_8), np.uint64(8), choose(has(n, TO_16), np.uint64(16), choose(has(n, TO_64), LONG, WORD)))
    top = choose(has(n, TO_UNSIGNED), ONE, EVERY) << (bits - ONE)
    return choose(np.isnan(as_f64(a)), top, integer_of(as_f64(a), n))


def integer_of(number: Any, n: Any) -> Any:
    """Return the integer that the mode rounds a double to, or the nearest there is."""
    whole = whole_part(number, n)
    unsigned = has(n, TO_UNSIGNED)
    bits = choose(has(n, TO_64), 64.0, choose(has(n, TO_8), 8.0, choose(has(n, TO_16), 16.0, 32.0)))
    end = np.exp2(choose(unsigned, bits, bits - 1.0))
    start = choose(unsigned, 0.0, -end)
    inside = choose(np.isnan(whole), 0.0, choose(whole < start, start, whole))
    over = inside >= end
    found = pattern_of(choose(over, 0.0, inside))
    most = choose(
        unsigned,
        choose(has(n, TO_64), EVERY, pattern_of(choose(has(n, TO_64), 0.0, end)) - ONE),
        choose(has(n, TO_64), TOP64 - ONE, pattern_of(choose(has(n, TO_64), 0.0, end)) - ONE),
    )
    bad = np.isnan(number) & has(n, TO_64)
    return choose(bad, TOP64, choose(over, most, found))


def whole_part(number: Any, n: Any) -> Any:
    """Return the whole number that the mode rounds to: to nearest even without one."""
    down, up, cut = np.floor(number), np.ceil(number), np.trunc(number)
    return choose(has(n, DOWN), down, choose(has(n, UP), up, choose(has(n, ZERO), cut, np.rint(number))))


def pattern_of(whole: Any) -> Any:
    """Return a whole double of -2**63 to 2**64 - 1 in two's complement, by its two words."""
    negative = whole < 0.0
    magnitude = np.abs(whole)
    high = np.floor(magnitude / 4294967296.0)
    low = magnitude - high * 4294967296.0
    pattern = (np.uint64(np.int64(high)) << WORD) | np.uint64(np.int64(low))
    return choose(negative, ~pattern + ONE, pattern)


def round_single(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """FRND: the whole single that the mode rounds to."""
    r = np.float32(whole_part(np.float64(as_f32(flushed(narrow(a), n))), n))
    return widen(choose(np.isnan(r), NAN32, as_u32(r)))


def round_double(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """FRND.F64: the whole double."""
    r = whole_part(as_f64(a), n)
    return choose(np.isnan(r), a | v.QUIET64, as_u64(r))


def double_to_single(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """F2F.F32.F64: the single nearest to a double, or the next one as the mode says."""
    x = as_f64(a)
    return widen(choose(np.isnan(x), v.double_to_single(a, b, c), flushed(single_of(x, n), n)))


def single_to_double(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """F2F.F64.F32: the double equal to a single; with FTZ a NaN is that of singles."""
    x = flushed(narrow(a), n)
    flushed_nan = has(n, FLUSH) & np.isnan(as_f32(x))
    return v.single_to_double(as_u32(choose(flushed_nan, NAN32, x)), narrow(b), narrow(c))


PARTS = (
    integer_rounded,
    as_double,
    taken,
    bit_length,
    integer_of,
    whole_part,
    pattern_of,
    code,
    v.single_to_double,
    v.double_to_single,
)
