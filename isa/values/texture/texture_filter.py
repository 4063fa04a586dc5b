"""The linear filter of textures: weights of 8 bits, and the sums of texels in fixed point, as an H200 has them.

The CUDA C++ Programming Guide says only that weights have 9 bits, 8 of them behind the point. The rest was found from
what the chip returned (docs/sass.md).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from isa.values.lanes import as_f64, as_i64, as_u32, as_u64, choose
from isa.values.texture.texel import NONE, ONE, REAL, UNSIGNED

_WEIGHT = 8  # bits of a weight behind the point
_KEPT, _KEPT_HALF = np.int64(27), np.int64(14)  # bits of a texel behind the point of the largest: singles, halves
_LEAST, _BIAS, _PLACE = np.int64(-126), np.int64(1023), np.int64(52)  # of exponents; of that of a double, its bits
_LARGEST, _NORMAL = np.float64(3.5e38), np.float64(2.0**-126)
_HALF_LARGEST, _HALF_NORMAL, _HALF_STEP = np.float64(65520.0), np.float64(2.0**-14), np.float64(2.0**24)
_PART = np.int64(3)  # bits behind the point of whole numbers of 16 bits
_SIGNED_BYTE = np.int64(33025)  # 258 + 1/128, of which 7 bits lie behind the point: 32767 / 127
NAN = np.uint32(0x7FFFFFFF)


def _rounded(product: Any) -> Any:
    return (product + np.int64(128)) >> np.int64(_WEIGHT)


def weights(across: Any, down: Any, whole: Any) -> Any:
    """Return the weights of four texels that share `whole`, by those of the second column and the second line.

    They are whole numbers of which 256 make 1, and add up to `whole`: it is split by columns, then by lines.
    """
    right = _rounded(across * whole)
    left = whole - right
    below = _rounded(right * down)
    above = _rounded(left * (np.int64(256) - down))
    return above, right - below, left - above, below


def blended(near: Any, far: Any, of_near: Any, of_far: Any, kind: Any, nbytes: Any) -> Any:
    """Return the sum of eight texels with their weights, as the pattern of a single.

    `near` and `far` are four texels each, reals or whole numbers as `kind` says, of `nbytes` bytes.
    """
    whole = _whole(near, far, of_near, of_far, kind, nbytes)
    return choose(kind == REAL, _real(near, far, of_near, of_far, nbytes), whole)


def _whole(near: Any, far: Any, of_near: Any, of_far: Any, kind: Any, nbytes: Any) -> Any:
    """Return the same of whole numbers: extended to 16 bits, added, and rounded to 16 bits."""
    total = NONE * kind
    for k in range(4):
        total = total + _extended(near[k], kind, nbytes) * of_near[k]
        total = total + _extended(far[k], kind, nbytes) * of_far[k]
    found = (total + np.int64(1 << (_WEIGHT + 2))) >> np.int64(_WEIGHT + 3)
    most = choose(kind == UNSIGNED, np.int64(65535), np.int64(32767))
    found = choose(found < -most, -most, found)
    return as_u32(np.float32(np.float64(found) / np.float64(most)))


def _extended(number: Any, kind: Any, nbytes: Any) -> Any:
    """Return a whole number with 16 bits, and _PART more; a signed byte was found to within one step."""
    raw = as_i64(choose(kind == REAL, 0.0, number))
    byte = choose(kind == UNSIGNED, (raw * np.int64(257)) << _PART, (raw * _SIGNED_BYTE) >> np.int64(4))
    return choose(nbytes == ONE, byte, raw << _PART)


def _real(near: Any, far: Any, of_near: Any, of_far: Any, nbytes: Any) -> Any:
    """Return the same of reals: each level is a sum in fixed point, of which the largest texel has the place."""
    half = nbytes == np.int64(2)
    kept = choose(half, _KEPT_HALF, _KEPT)
    first, second = _level(near, of_near, kept), _level(far, of_far, kept)
    top = choose(first[1] > second[1], first[1], second[1])
    total = (first[0] >> _limited(top - first[1])) + (second[0] >> _limited(top - second[1]))
    exact = np.float64(total) * _power(top - kept - np.int64(_WEIGHT))
    size = np.abs(exact)
    size = choose(half, _as_half(size), _as_single(size))
    negative = choose(total == NONE, first[3] & second[3], total < NONE)
    found = as_u32(np.float32(choose(negative, -size, size)))
    special = first[2] + second[2]
    beyond = choose(np.isnan(special), NAN, as_u32(np.float32(special)))
    return choose(special == 0.0, found, beyond)


def _limited(count: Any) -> Any:
    return choose(count > np.int64(63), np.int64(63), count)


def _level(texels: Any, parts: Any, kept: Any) -> Any:
    """Return a level's sum, its largest texel's exponent, the sum of what is not finite, and whether all are < 0."""
    largest = np.float64(NONE * parts[0])
    special, negative = largest, parts[0] == parts[0]
    for k in range(4):
        finite = np.abs(texels[k]) < _LARGEST
        used = parts[k] != NONE
        size = choose(finite & used, np.abs(texels[k]), 0.0)
        largest = choose(size > largest, size, largest)
        special = special + choose(used & (finite == False), texels[k], 0.0)  # noqa: E712  (`~` of a Numba bool)
        negative = negative & ((used == False) | (as_u64(texels[k]) >> np.uint64(63) != np.uint64(0)))  # noqa: E712
    exponent = as_i64(as_u64(largest) >> np.uint64(52)) - _BIAS
    exponent = choose(exponent < _LEAST, _LEAST, exponent)
    scale, total = _power(kept - exponent), NONE * parts[0]
    for k in range(4):
        size = np.abs(texels[k])
        taken = choose((size < _LARGEST) & (size >= _NORMAL), texels[k], 0.0)
        total = total + as_i64(taken * choose(parts[k] != NONE, scale, 0.0)) * parts[k]
    return total, exponent, special, negative


def _power(exponent: Any) -> Any:
    """Return a power of two as a double."""
    return as_f64(as_u64((exponent + _BIAS) << _PLACE))


def _as_single(size: Any) -> Any:
    """Return the single nearest to a positive double, the larger one of two; a denormal is 0."""
    bits = (as_u64(size) + np.uint64(1 << 28)) & np.uint64(0xFFFFFFFFE0000000)
    return choose(size < _NORMAL, 0.0, as_f64(bits))


def _as_half(size: Any) -> Any:
    """Return the half nearest to a positive double, the larger one of two."""
    bits = (as_u64(size) + np.uint64(1 << 41)) & np.uint64(0xFFFFFC0000000000)
    small = np.floor(size * _HALF_STEP + 0.5) / _HALF_STEP
    found = choose(size < _HALF_NORMAL, small, as_f64(bits))
    return choose(size >= _HALF_LARGEST, np.inf, found)


PARTS = (
    _rounded,
    weights,
    blended,
    _whole,
    _extended,
    _real,
    _limited,
    _level,
    _power,
    _as_single,
    _as_half,
)
