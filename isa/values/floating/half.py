"""Two halves in a word, each on its own: arithmetic, choice, comparison (signature: isa.values.general).

FTZ takes denormal operands and results as zeros of their sign, SAT brings results into 0 to 1 and a NaN to 0, RELU a
negative one to 0 (PTX ISA, half precision instructions). A NaN result is 0x7FFF.
"""

# ruff: noqa: ARG001  (every function takes a, b, c, p and n; few need all)
from __future__ import annotations

from typing import Any

import numpy as np

from isa.values.comparison import FLUSH, combined, related
from isa.values.floating.small_float import (
    BFLOAT_INFINITY,
    HALF_INFINITY,
    LEAST_BFLOAT,
    LEAST_HALF,
    LOW16,
    MAGNITUDE16,
    NAN16,
    NONE,
    SIGN16,
    half_as_single,
    high_part,
    low_part,
    odd_sum,
    of_bfloat,
    pair_of,
    to_bfloat,
)
from isa.values.integer import has
from isa.values.lanes import as_f32, as_u32, choose, fma16, widen
from isa.values.semantics import NAN32

SATURATE, NAN_WINS = 1, 16  # codes, as of singles, beside FLUSH and those of relations
RELU, BFLOAT, XOR_SIGN, AS_NUMBER, UPPER = 1 << 20, 1 << 21, 1 << 22, 1 << 23, 1 << 24  # UPPER: the half H1
ONE_HALF, ONE_BFLOAT = np.uint32(0x3C00), np.uint32(0x3F80)
MINUS_ZERO = np.uint32(0x8000)


def multiply_add(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """HFMA2: a b + c, rounded once."""
    low = fused(low_part(a), low_part(b), low_part(c), n)
    return pair_of(low, fused(high_part(a), high_part(b), high_part(c), n))


def add(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """HADD2: a + b."""
    low = fused(low_part(a), one(n), low_part(b), n)
    return pair_of(low, fused(high_part(a), one(n), high_part(b), n))


def multiply(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """HMUL2: a b."""
    low = fused(low_part(a), low_part(b), MINUS_ZERO, n)
    return pair_of(low, fused(high_part(a), high_part(b), MINUS_ZERO, n))


def one(n: Any) -> Any:
    """Return the pattern of 1 in the row's format."""
    return choose(has(n, BFLOAT), ONE_BFLOAT, ONE_HALF)


def fused(x: Any, y: Any, z: Any, n: Any) -> Any:
    """Return x y + z of the row's format, rounded once, with what its modifiers do."""
    x, y, z = flushed(x, n), flushed(y, n), flushed(z, n)
    wide = to_bfloat(odd_sum(of_bfloat(x) * of_bfloat(y), of_bfloat(z)), n)
    return finished(choose(has(n, BFLOAT), wide, fma16(x, y, z)), n)


def flushed(x: Any, n: Any) -> Any:
    """Return a number, with FTZ zero of its sign in place of a denormal."""
    least = choose(has(n, BFLOAT), LEAST_BFLOAT, LEAST_HALF)
    return choose(has(n, FLUSH) & ((x & MAGNITUDE16) < least), x & SIGN16, x)


def finished(x: Any, n: Any) -> Any:
    """Return a result with denormals flushed, saturated or without its negative values."""
    found = flushed(as_u32(x), n)
    bad, negative = is_nan(found, n), (found & SIGN16) != NONE
    most = choose(found > one(n), one(n), found)
    saturated = choose(bad | negative, NONE, most)
    found = choose(has(n, SATURATE), saturated, found)
    return choose(has(n, RELU) & negative & (bad == False), NONE, found)  # noqa: E712  (`~` of a Numba bool)


def is_nan(x: Any, n: Any) -> Any:
    """Tell whether a pattern is no number of the row's format."""
    return (x & MAGNITUDE16) > choose(has(n, BFLOAT), BFLOAT_INFINITY, HALF_INFINITY)


def ordered(x: Any, zero: int) -> Any:
    """Return a whole number that orders patterns as their numbers are; zeros are alike, or `zero` 1 puts -0 below."""
    magnitude = x & MAGNITUDE16
    return choose((x & SIGN16) != NONE, np.uint32(0x8000 - zero) - magnitude, np.uint32(0x8000) + magnitude)


def extreme(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """HMNMX2: minimum where Q is true, maximum where not; a number is preferred to a NaN, unless the code says NAN.

    With XORSIGN magnitudes are compared, and the result's sign is that of the product.
    """
    low = lesser(low_part(a), low_part(b), p, n)
    return pair_of(low, lesser(high_part(a), high_part(b), p, n))


def extreme_of_three(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """VHMNMX: the same of three."""
    low = lesser(lesser(low_part(a), low_part(b), p, n), low_part(c), p, n)
    return pair_of(low, lesser(lesser(high_part(a), high_part(b), p, n), high_part(c), p, n))


def lesser(x: Any, y: Any, p: Any, n: Any) -> Any:
    """Return the lesser of two numbers where Q is true, else the greater."""
    sign = choose(has(n, XOR_SIGN), (x ^ y) & SIGN16, NONE)
    kept = choose(has(n, XOR_SIGN), MAGNITUDE16, LOW16)
    x, y = flushed(x & kept, n), flushed(y & kept, n)
    wanted = (p & np.uint32(1)) != NONE
    first = (ordered(x, 1) < ordered(y, 1)) == wanted
    bad_x, bad_y = is_nan(x, n), is_nan(y, n)
    found = choose(bad_y | (first & (bad_x == False)), x, y)  # noqa: E712  (`~` of a Numba bool)
    bad = choose(has(n, NAN_WINS), bad_x | bad_y, bad_x & bad_y)
    return choose(bad, NAN16, found | sign)


def compared(x: Any, y: Any, p: Any, n: Any) -> Any:
    """Return the word of truths of one comparison."""
    x, y = flushed(x, n), flushed(y, n)
    unordered = is_nan(x, n) | is_nan(y, n)
    there = unordered == False  # noqa: E712  (as above)
    first, second = ordered(x, 0), ordered(y, 0)
    below, equal, above = (first < second) & there, (first == second) & there, (first > second) & there
    return combined(related(below, equal, above, unordered, n), p, n)


def comparison(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """HSETP2: P of the lower halves, p of the upper ones, each combined with Q."""
    low, high = compared(low_part(a), low_part(b), p, n), compared(high_part(a), high_part(b), p, n)
    return (low & np.uint32(1)) | ((high & np.uint32(1)) << np.uint32(1))


def comparison_as_number(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """HSET2: 0xFFFF, or with BF the number 1, in each half whose comparison holds; else 0."""
    yes = choose(has(n, AS_NUMBER), one(n), LOW16)
    low = (compared(low_part(a), low_part(b), p, n) & np.uint32(1)) != NONE
    high = (compared(high_part(a), high_part(b), p, n) & np.uint32(1)) != NONE
    return pair_of(choose(low, yes, NONE), choose(high, yes, NONE))


def add_as_single(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """HADD2.F32: the single sum of the low halves; compilers convert a half so. SAT as of halves."""
    r = np.float32(as_f32(half_as_single(low_part(a))) + as_f32(half_as_single(low_part(b))))
    plain = choose(np.isnan(r), NAN32, as_u32(r))
    inside = choose(r > np.float32(0.0), choose(r > np.float32(1.0), as_u32(np.float32(1.0)), plain), NONE)
    return widen(choose(has(n, SATURATE), inside, plain))


PARTS = (one, fused, flushed, finished, is_nan, ordered, lesser, compared)
