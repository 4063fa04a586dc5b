"""Arithmetic on pairs of singles in 64 bits, and on halves with singles (signature: isa.values.general).

What a text says of a source is in the code, at the place of its letter: of a pair whether its halves change places
(SWAP), are magnitudes (ABS), are negated (LOW, HIGH), or are both the one single there (ONCE); of a half whether it is
the upper one of its register (SWAP) and negated (LOW).
"""

# ruff: noqa: ARG001  (every function takes a, b, c, p and n; few need all)
from __future__ import annotations

from typing import Any

import numpy as np

from isa.values.comparison import flushed
from isa.values.floating.single import ONE32, SIGN32, finished, rounded
from isa.values.floating.small_float import SIGN16, half_as_single, low_part, of_bfloat
from isa.values.integer import has
from isa.values.lanes import as_u32, choose, narrow, widen

SWAP, ABS, LOW, HIGH, ONCE = 1, 2, 4, 8, 16
A, B, C = 10, 15, 20  # places in the code
BFLOAT = 1 << 25
_MAGNITUDE, _NONE = np.uint32(0x7FFFFFFF), np.uint32(0)
_WORD, _HALF = np.uint64(32), np.uint64(16)


def multiply_add(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """FFMA2: a b + c of each half, rounded once."""
    low = multiplied(low_single(a, n, A), low_single(b, n, B), low_single(c, n, C), n)
    high = multiplied(high_single(a, n, A), high_single(b, n, B), high_single(c, n, C), n)
    return pair(low, high)


def add(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """FADD2: a + b of each half."""
    low = multiplied(low_single(a, n, A), ONE32, low_single(b, n, B), n)
    return pair(low, multiplied(high_single(a, n, A), ONE32, high_single(b, n, B), n))


def multiply(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """FMUL2: a b of each half; the zero that is added has the product's sign, and changes nothing."""
    x, y, z, w = low_single(a, n, A), low_single(b, n, B), high_single(a, n, A), high_single(b, n, B)
    return pair(multiplied(x, y, (x ^ y) & SIGN32, n), multiplied(z, w, (z ^ w) & SIGN32, n))


def half_add(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """FHADD: a half and a single, as singles."""
    return widen(multiplied(half_of(a, n, A), ONE32, narrow(b), n))


def half_multiply_add(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """FHFMA: the product of two halves and a single, rounded once."""
    return widen(multiplied(half_of(a, n, A), half_of(b, n, B), narrow(c), n))


def multiplied(x: Any, y: Any, z: Any, n: Any) -> Any:
    """Return x y + z of singles with what the modifiers do."""
    return finished(rounded(flushed(x, n), flushed(y, n), flushed(z, n), n), n)


def low_single(x: Any, n: Any, place: int) -> Any:
    """Return the lower single of a source."""
    word = choose(has(n, SWAP << place), narrow(x >> _WORD), narrow(x))
    return signed(word, has(n, ABS << place), has(n, LOW << place))


def high_single(x: Any, n: Any, place: int) -> Any:
    """Return the upper single of a source."""
    word = choose(has(n, (SWAP | ONCE) << place), narrow(x), narrow(x >> _WORD))
    return signed(word, has(n, ABS << place), has(n, HIGH << place))


def signed(word: Any, absolute: Any, negated: Any) -> Any:
    """Return a single, its magnitude, or the negative of either."""
    kept = choose(absolute, word & _MAGNITUDE, word)
    return as_u32(kept ^ choose(negated, SIGN32, _NONE))


def half_of(x: Any, n: Any, place: int) -> Any:
    """Return a half or bfloat16 of a source as a single."""
    half = low_part(choose(has(n, SWAP << place), x >> _HALF, x))
    half = as_u32(half ^ choose(has(n, LOW << place), SIGN16, _NONE))
    return choose(has(n, BFLOAT), as_u32(np.float32(of_bfloat(half))), half_as_single(half))


def pair(low: Any, high: Any) -> Any:
    """Return both singles in 64 bits."""
    return (widen(high) << _WORD) | widen(low)


PARTS = (multiplied, low_single, high_single, signed, half_of, pair)
