"""Contents of buffers as functions of the element index, so that any part can be made without the rest."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from isa.support.brief import shown

HASH_BITS = {"f2": 10, "f4": 16, "f8": 16}  # in a float: limits of up to 7 integer bits then give exact singles


@dataclass(frozen=True, slots=True)
class HashFill:
    """A fill whose element i is a hash of (i, seed), scaled to [low, high)."""

    seed: int
    low: float
    high: float
    dtype: str

    def __call__(self, index: NDArray[np.int64]) -> NDArray[np.generic]:
        """Return values of `dtype` at the element indices."""
        bits = hash32(index, self.seed)
        if np.dtype(self.dtype).kind == "f":
            return _scale(self.low, self.high, self.dtype).take(bits >> np.uint32(32 - _hash_bits(self.dtype)))
        span = np.uint64(int(self.high) - int(self.low))
        return (int(self.low) + ((bits * span) >> np.uint64(32)).astype(np.int64)).astype(self.dtype)


@dataclass(frozen=True, slots=True)
class IotaFill:
    """A fill whose element i is i."""

    dtype: str

    def __call__(self, index: NDArray[np.int64]) -> NDArray[np.generic]:
        """Return the element indices as `dtype`."""
        return index.astype(self.dtype)


@dataclass(frozen=True, slots=True)
class ConstantFill:
    """A fill whose every element is `value`."""

    value: float
    dtype: str

    def __call__(self, index: NDArray[np.int64]) -> NDArray[np.generic]:
        """Return `value` as `dtype`, once per element index."""
        return np.full(index.shape, self.value, self.dtype)


@dataclass(frozen=True, slots=True)
class ValuesFill:
    """A fill whose element i is `values[i]`."""

    values: tuple[float, ...]
    dtype: str

    def __call__(self, index: NDArray[np.int64]) -> NDArray[np.generic]:
        """Return the values at the element indices, as `dtype`."""
        return np.array(self.values).astype(self.dtype)[index]


@dataclass(frozen=True, slots=True, eq=False)
class ArrayFill:
    """A fill whose element i is `values[i]`, of any type."""

    values: NDArray[np.generic]

    def __call__(self, index: NDArray[np.int64]) -> NDArray[np.generic]:
        """Return the values at the element indices."""
        return self.values[index]

    def __repr__(self) -> str:
        return f"ArrayFill({shown(self.values)})"


@cache
def _scale(low: float, high: float, dtype: str) -> NDArray[np.generic]:
    """Return the value of each hash: a table, because arithmetic on every element takes several times as long."""
    steps = 1 << _hash_bits(dtype)
    return (low + (high - low) * (np.arange(steps) / steps)).astype(dtype)


def _hash_bits(dtype: str) -> int:
    """Return how many bits of a hash an element of a real type takes."""
    return HASH_BITS[np.dtype(dtype).str[1:]]


GeneratedFill = HashFill | IotaFill | ConstantFill | ValuesFill


def hash_fill(seed: int, low: float = -1.0, high: float = 1.0, dtype: str = "f4") -> HashFill:
    """Return a fill that hashes (element index, seed) to [low, high).

    A float is low + (high - low) h / 2**16 with a 16-bit h: exact in single for integer limits up to 128, otherwise
    IEEE double arithmetic rounded once to `dtype`, hence the same on every platform. A half takes a 10-bit h, and an
    integer is the upper part of h (high - low) with a 32-bit h. Raises ValueError if the range is empty or too narrow
    to exclude `high`.
    """
    if not low < high:
        raise ValueError(f"hash limits {low:g} {high:g}: the first must be below the second")
    fill = HashFill(int(seed), low, high, dtype)
    if np.dtype(dtype).kind == "f":
        _check_floats(fill)
    else:
        _check_integers(fill)
    return fill


def iota_fill(dtype: str = "f4") -> IotaFill:
    """Return a fill whose element i is i."""
    return IotaFill(dtype)


def constant_fill(value: float, dtype: str = "f4") -> ConstantFill:
    """Return a fill whose every element is `value`."""
    return ConstantFill(value, dtype)


def values_fill(values: tuple[float, ...], dtype: str = "f4") -> ValuesFill:
    """Return a fill whose element i is `values[i]`."""
    return ValuesFill(values, dtype)


def hash32(index: NDArray[np.int64], seed: int) -> NDArray[np.uint32]:
    """Return a well-mixed 32-bit hash of each index and the seed (both modulo 2**32)."""
    salt = _mix(np.array([seed & 0xFFFFFFFF], np.uint32))
    mixed = _mix(index.astype(np.uint32))
    mixed ^= salt
    return _mix(mixed)


def _mix(x: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Mix in place."""
    # A bijection of 32-bit words in which each input bit flips about half the output bits: Wellons, "Prospecting for
    # hash functions", 2018, the two-round function with bias 0.17. The offset moves its fixed point 0.
    x += np.uint32(0x9E3779B9)
    x ^= x >> np.uint32(16)
    x *= np.uint32(0x7FEB352D)
    x ^= x >> np.uint32(15)
    x *= np.uint32(0x846CA68B)
    x ^= x >> np.uint32(16)
    return x


def _check_floats(fill: HashFill) -> None:
    last = fill.low + (fill.high - fill.low) * (1 - 2.0 ** -_hash_bits(fill.dtype))
    if not np.dtype(fill.dtype).type(last) < fill.high:
        raise ValueError(f"hash limits {fill.low!r} {fill.high!r} are too close for {fill.dtype} to tell them apart")


def _check_integers(fill: HashFill) -> None:
    limits = np.iinfo(fill.dtype)
    whole = float(fill.low).is_integer() and float(fill.high).is_integer()
    if not (whole and limits.min <= fill.low and fill.high <= limits.max + 1):
        raise ValueError(f"hash limits {fill.low:g} {fill.high:g} are no integers that {fill.dtype} holds")
