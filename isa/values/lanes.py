"""The few primitives of which value functions consist, on NumPy arrays or scalars of bit patterns.

A compiled engine may replace each by a machine instruction of the same meaning; the results are equal bit for bit. The
caller silences NumPy's warnings, as in `isa.values.semantics`.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

ROOM = 1024  # numbers: 64 k of 16 rows of a matrix
LANES, QUAD = 32, 4
_MIDDLE = np.int64(-(1 << 63))  # the 29 bits of a double that a single drops, moved up: the first set, the others clear


def as_u32(x: Any) -> Any:
    """Reinterpret the 32 bits as an unsigned integer."""
    return x.view(np.uint32)


def as_i32(x: Any) -> Any:
    """Reinterpret the 32 bits as a two's-complement integer."""
    return x.view(np.int32)


def as_f32(x: Any) -> Any:
    """Reinterpret the 32 bits as an IEEE single."""
    return x.view(np.float32)


def as_u64(x: Any) -> Any:
    """Reinterpret the 64 bits as an unsigned integer."""
    return x.view(np.uint64)


def as_f64(x: Any) -> Any:
    """Reinterpret the 64 bits as an IEEE double."""
    return x.view(np.float64)


def as_i64(x: Any) -> Any:
    """A number as a two's-complement integer of 64 bits, without what lies behind its point."""
    return np.asarray(x).astype(np.int64)


def widen(x: Any) -> Any:
    """Unsigned 32 to unsigned 64 bits."""
    return np.asarray(x).astype(np.uint64)


def narrow(x: Any) -> Any:
    """Low 32 bits of an unsigned integer."""
    return np.asarray(x).astype(np.uint32)


def choose(condition: Any, yes: Any, no: Any) -> Any:
    """`yes` where the condition holds, else `no`."""
    return np.where(condition, yes, no)


def fma16(a: Any, b: Any, c: Any) -> Any:
    """Half a b + c of the low 16 bits of three patterns, rounded once, as a 32-bit pattern; a NaN is 0x7FFF.

    The double a b + c is exact, or too far from any midpoint of two halves to matter: the product has 22 bits and none
    below 2**-48, the addend 11 and none below 2**-24.
    """
    x, y, z = (
        np.asarray(p & np.uint32(0xFFFF)).astype(np.uint16).view(np.float16).astype(np.float64) for p in (a, b, c)
    )
    total = x * y + z
    return np.where(np.isnan(total), 0x7FFF, total.astype(np.float16).view(np.uint16)).astype(np.uint32)


def fma32(a: Any, b: Any, c: Any) -> Any:
    """Single a b + c, rounded once.

    The product is exact in double. Rounding the double sum to single is wrong only if the sum is the midpoint of two
    singles (below 2**-126: may be); it is then rounded to odd first, which keeps the side on which the exact sum lies
    (Boldo and Melquiond, IEEE Trans. Computers 57(4), 2008).
    """
    product = np.asarray(a, np.float64) * np.asarray(b, np.float64)
    addend = np.asarray(c, np.float64)
    total = np.asarray(product + addend)
    unsure = ((total.view(np.int64) << 35) == _MIDDLE) | (np.abs(total) < 2.0**-126)
    if np.count_nonzero(unsure):
        error = _sum_error(product, addend, total)
        if np.count_nonzero(unsure & (error != 0)):
            total = _to_odd(total, error)
    return total.astype(np.float32)


def fma64(a: Any, b: Any, c: Any) -> Any:
    """Double a b + c, rounded once (error-free transformations; exact rational arithmetic near the exponent limits)."""
    a, b, c = np.broadcast_arrays(np.asarray(a, np.float64), b, c)
    finite = np.isfinite(a) & np.isfinite(b)
    moderate = _moderate(a) & _moderate(b) & (np.abs(c) < 2.0**1000)
    plain = (a == 0) | (b == 0) | ~finite
    result = np.where(plain, a * b + c, np.where(finite & ~np.isfinite(c), c, _fma64_transformed(a, b, c)))
    for lane in zip(*np.nonzero(np.atleast_1d(finite & np.isfinite(c) & ~moderate & ~plain)), strict=True):
        np.atleast_1d(result)[lane] = _fma64_exact(*(float(np.atleast_1d(x)[lane]) for x in (a, b, c)))
    return result


def room_for_words() -> Any:
    """Return room for numbers on the way to a result: 1024 words, whose contents nobody has set."""
    return np.zeros(ROOM, np.uint32)


def room_for_integers() -> Any:
    """Return room for as many integers of 32 bits."""
    return np.zeros(ROOM, np.int32)


def room_for_singles() -> Any:
    """Return room for as many singles."""
    return np.zeros(ROOM, np.float32)


def room_for_doubles() -> Any:
    """Return room for as many doubles."""
    return np.zeros(ROOM, np.float64)


def spread(to: Any, first: int, distance: int, words: Any) -> None:
    """Move the words of 32 lanes: those that are first in their quads to `first` and on, the others further by t."""
    for t in range(QUAD):
        place = first + distance * t
        to[place : place + LANES // QUAD] = words[t:LANES:QUAD]


def collect(words: Any, of: Any, first: int, distance: int) -> None:
    """Move the words of 32 lanes back."""
    for t in range(QUAD):
        place = first + distance * t
        words[t:LANES:QUAD] = of[place : place + LANES // QUAD]


def _moderate(x: Any) -> Any:
    # Neither the product of two such numbers nor its rounding error leaves the normal range.
    return (np.abs(x) > 2.0**-450) & (np.abs(x) < 2.0**450)


def _fma64_transformed(a: Any, b: Any, c: Any) -> Any:
    # Boldo and Melquiond 2008, section 5: the two small parts are added to odd, so that the last sum rounds right.
    high = a * b
    low = _product_error(a, b, high)
    carry = c + low
    total = high + carry
    rest, rest_error = _sum_error(c, low, carry), _sum_error(high, carry, total)
    small = rest + rest_error
    return total + _to_odd(small, _sum_error(rest, rest_error, small))


def _sum_error(a: Any, b: Any, total: Any) -> Any:
    """Exact a + b - total, where total is a + b rounded (Knuth's TwoSum)."""
    virtual = total - a
    return (a - (total - virtual)) + (b - virtual)


def _product_error(a: Any, b: Any, product: Any) -> Any:
    """Exact a b - product, where product is a b rounded (Dekker's product on Veltkamp's halves)."""
    (a_high, a_low), (b_high, b_low) = _halves(a), _halves(b)
    return a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)


def _halves(x: Any) -> tuple[Any, Any]:
    scaled = x * 134217729.0  # 2**27 + 1
    high = scaled - (scaled - x)
    return high, x - high


def _to_odd(total: Any, error: Any) -> Any:
    """Round-to-odd of the exact sum total + error: step towards the error where the even neighbour was chosen."""
    bits = np.asarray(total).view(np.int64)
    inexact = np.isfinite(total) & (error != 0)
    even = (bits & 1) == 0
    step = np.where((error > 0) == (total > 0), 1, -1)
    return np.where(inexact & even, bits + step, bits).view(np.float64)


def _fma64_exact(a: float, b: float, c: float) -> float:
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    try:
        return float(exact)
    except OverflowError:
        return float("inf") if exact > 0 else float("-inf")
