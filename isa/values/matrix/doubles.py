"""Products of matrices of doubles: multiply-adds, each rounded once, in the order of k."""

from __future__ import annotations

from typing import Any

import numpy as np

from isa.values.lanes import as_f64, as_u64, choose, fma64, room_for_doubles

U, L = np.uint32, np.uint64
MAGNITUDE, INFINITY = L(0x7FFFFFFFFFFFFFFF), L(0x7FF0000000000000)
QUIET, INVALID = L(1 << 51), L(0xFFF8000000000000)


def is_nan(pattern: Any) -> Any:
    """Tell whether a pattern is no number."""
    return L(pattern & MAGNITUDE) > INFINITY


def fused(x: Any, y: Any, z: Any) -> Any:
    """Return the pattern of x y + z, of patterns; of a NaN among them, z before x before y, that one, made quiet."""
    found = as_u64(fma64(as_f64(x), as_f64(y), as_f64(z)))
    given = choose(is_nan(z), z, choose(is_nan(x), x, y))
    named = choose(is_nan(given), L(given | QUIET), INVALID)
    return choose(is_nan(found), named, found)


def whole(words: Any, number: int, lane: int) -> Any:
    """Return a lane's pattern of that number, from two registers."""
    return L(L(words[2 * number, lane]) | L(L(words[2 * number + 1, lane]) << L(32)))


def put(words: Any, number: int, lane: int, pattern: Any) -> None:
    """Set it."""
    words[2 * number, lane] = U(pattern & L(0xFFFFFFFF))
    words[2 * number + 1, lane] = U(pattern >> L(32))


def multiply(d: Any, a: Any, b: Any, c: Any, depth: int, halves: int) -> None:
    """Set d to a b + c, of 8 columns, 8 or 16 rows, and as many k."""
    of_a, of_b, total = room_for_doubles(), room_for_doubles(), room_for_doubles()
    for lane in range(32):
        g, t = lane // 4, lane % 4
        for step in range(depth // 4):
            for half in range(halves):
                of_a[16 * (4 * step + t) + 8 * half + g] = as_f64(whole(a, halves * step + half, lane))
            of_b[8 * (4 * step + t) + g] = as_f64(whole(b, step, lane))
        for r in range(2 * halves):
            total[16 * (2 * t + (r & 1)) + 8 * (r >> 1) + g] = as_f64(whole(c, r, lane))
    for k in range(depth):
        for j in range(8):
            for i in range(8 * halves):
                x, y, z = of_a[16 * k + i], of_b[8 * k + j], total[16 * j + i]
                total[16 * j + i] = as_f64(fused(as_u64(x), as_u64(y), as_u64(z)))
    for lane in range(32):
        g, t = lane // 4, lane % 4
        for r in range(2 * halves):
            put(d, r, lane, as_u64(total[16 * (2 * t + (r & 1)) + 8 * (r >> 1) + g]))


INLINED = (is_nan, fused, whole, put, multiply)
