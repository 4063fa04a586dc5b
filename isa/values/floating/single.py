"""Single arithmetic with rounding modes, flushed denormals and saturation (signature: isa.values.general).

FTZ flushes denormal operands and results to zeros of their sign, SAT brings results into 0 to 1 and a NaN to 0 (PTX
ISA, floating-point instructions). Directed rounding is exact: the sum is computed in doubles, and its error decides.
"""

# ruff: noqa: ARG001  (every function takes a, b, c, p and n; few need all)
from __future__ import annotations

from typing import Any

import numpy as np

from isa.values.comparison import flushed
from isa.values.integer import has
from isa.values.lanes import as_f32, as_f64, as_i32, as_u32, choose, fma32, narrow, widen
from isa.values.semantics import NAN32

SATURATE, DOWN, UP, ZERO = 1, 2, 4, 8  # codes, beside FLUSH; to nearest even without a mode
NAN_WINS, XOR_SIGN = 16, 32  # of a minimum
SCALE = 1 << 10  # of a product: 2**3 times its power of two, from that bit on
ONE32, NONE32, SIGN32 = np.uint32(0x3F800000), np.uint32(0), np.uint32(0x80000000)


def multiply_add(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """FFMA: a b + c, rounded once."""
    x, y, z = (flushed(narrow(a), n), flushed(narrow(b), n), flushed(narrow(c), n))
    return widen(finished(rounded(x, y, z, n), n))


def add(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """FADD: a + b."""
    x, y = flushed(narrow(a), n), flushed(narrow(b), n)
    return widen(finished(rounded(x, ONE32, y, n), n))


def multiply(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """FMUL: a b; the zero that is added has the product's sign, and changes nothing."""
    x, y = flushed(narrow(a), n), flushed(narrow(b), n)
    return widen(finished(rounded(x, y, (x ^ y) & SIGN32, n), n))


def scale_code(power: int) -> int:
    """Return the code of a product's scale, 2**power."""
    return SCALE * (power + 3)


def multiply_scaled(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """FMUL with a scale: a b times a power of two from 1/8 to 8, rounded once; a double holds it exactly."""
    x, y = flushed(narrow(a), n), flushed(narrow(b), n)
    power = ((n // np.uint64(SCALE)) & np.uint64(7)) + np.uint64(1020)
    product = np.float64(as_f32(x)) * np.float64(as_f32(y))
    return widen(finished(single_of(product * as_f64(power << np.uint64(52)), n), n))


def single_of(number: Any, n: Any) -> Any:
    """Return the pattern of the single nearest to a double, or the next one as the code says."""
    pattern = as_u32(np.float32(number))
    found = np.float64(as_f32(pattern))
    negative, cut = number < 0.0, has(n, ZERO)
    beyond = (found > number) & (has(n, DOWN) | (cut & (negative == False)))  # noqa: E712  (`~` of a Numba bool)
    short = (found < number) & (has(n, UP) | (cut & negative))
    return as_u32(choose(beyond, below(pattern), choose(short, above(pattern), pattern)))


def rounded(x: Any, y: Any, z: Any, n: Any) -> Any:
    """Return x y + z as a pattern, rounded as the code says."""
    nearest = as_u32(fma32(as_f32(x), as_f32(y), as_f32(z)))
    side = exactly_compared(x, y, z, nearest)
    negative = (nearest & SIGN32) != NONE32
    towards_zero = has(n, ZERO)
    beyond = (side > 0) & (has(n, DOWN) | (towards_zero & (negative == False)))  # noqa: E712  (Numba's `~` of a bool)
    short = (side < 0) & (has(n, UP) | (towards_zero & negative))
    moved = choose(beyond, below(nearest), choose(short, above(nearest), nearest))
    cancelled = ((nearest & ~SIGN32) == NONE32) & (side == 0) & has(n, DOWN) & differs(x, y, z)
    return choose(cancelled, SIGN32, moved)


def differs(x: Any, y: Any, z: Any) -> Any:
    """Tell whether product and addend have different signs: their exact sum 0 is -0 where it is rounded down."""
    return ((x ^ y ^ z) & SIGN32) != NONE32


def exactly_compared(x: Any, y: Any, z: Any, nearest: Any) -> Any:
    """Return 1, 0 or -1 where a rounded x y + z is above, equal to or below the exact number.

    The product of singles is exact in doubles. The rounded sum, less addend and product in turn of the larger first,
    is exact as well, or its sign is: both differences are between numbers within a factor of two, or far apart.
    """
    product = np.float64(as_f32(x)) * np.float64(as_f32(y))
    addend, found = np.float64(as_f32(z)), np.float64(as_f32(nearest))
    total = product + addend
    virtual = total - product
    error = (product - (total - virtual)) + (addend - virtual)
    difference = (found - total) - error
    known = np.isfinite(total)
    infinite = known & (np.isfinite(found) == False)  # noqa: E712  (as above)
    sign = choose(difference > 0.0, 1, choose(difference < 0.0, -1, 0))
    return choose(infinite, choose(found > 0.0, 1, -1), choose(known, sign, 0))


def below(pattern: Any) -> Any:
    """Return the next single towards minus infinity."""
    negative = (pattern & SIGN32) != NONE32
    return choose(pattern == NONE32, np.uint32(0x80000001), choose(negative, pattern + 1, pattern - 1))


def above(pattern: Any) -> Any:
    """Return the next single towards plus infinity."""
    negative = (pattern & SIGN32) != NONE32
    return choose(pattern == SIGN32, np.uint32(0x00000001), choose(negative, pattern - 1, pattern + 1))


def finished(pattern: Any, n: Any) -> Any:
    """Return a result with denormals flushed, saturated, and with the one NaN."""
    found = flushed(as_u32(pattern), n)
    number = as_f32(found)
    outside = choose(number > np.float32(1.0), ONE32, choose(number > np.float32(0.0), found, NONE32))
    saturated = choose(np.isnan(number), NONE32, outside)
    return choose(has(n, SATURATE), saturated, choose(np.isnan(number), NAN32, found))


def minimum(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """FMNMX: minimum where Q is true, maximum where not; a number is preferred to a NaN, unless the code says NAN.

    With XORSIGN magnitudes are compared, and the result's sign is that of the product.
    """
    kept = choose(has(n, XOR_SIGN), ~SIGN32, ~NONE32)
    sign = choose(has(n, XOR_SIGN), (narrow(a) ^ narrow(b)) & SIGN32, NONE32)
    x, y = flushed(narrow(a) & kept, n), flushed(narrow(b) & kept, n)
    first, second = as_f32(x), as_f32(y)
    wanted = (p & np.uint32(1)) != NONE32
    a_below = (first < second) | ((first == second) & (as_i32(x) < 0))
    a_above = (first > second) | ((first == second) & (as_i32(y) < 0))
    chosen = choose(np.isnan(second) | choose(wanted, a_below, a_above), x, y)
    bad = (np.isnan(first) & np.isnan(second)) | (has(n, NAN_WINS) & (np.isnan(first) | np.isnan(second)))
    return widen(choose(bad, NAN32, chosen | sign))


def minimum_of_three(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """FMNMX3: the same of three (PTX min and max of three)."""
    return minimum(minimum(a, b, c, p, n), c, c, p, n)


PARTS = (minimum, single_of, rounded, differs, exactly_compared, below, above, finished)
