"""The numbers in the buffers of the timed kernels, as functions of the element index."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]
STATE_BITS = 64
_STEP = np.uint64(0x9E3779B97F4A7C15)  # SplitMix64: Steele, Lea, Flood, OOPSLA 2014, with Stafford's mixer 13
_FACTORS = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_DROPPED = {"f4": 40, "f8": 11}  # bits of a hash, so that the rest is exact in the type
_BYTE = np.uint64(255)


@dataclass(frozen=True, slots=True)
class UnitFill:
    """A fill whose element i is a hash of `first` + i and the seed in [-1, 1), exact in `dtype`, f4 or f8."""

    seed: int
    first: int
    dtype: str

    def __call__(self, index: NDArray[np.int64]) -> NDArray[Any]:
        """Return the values at the element indices."""
        kept = mixed(index.astype(np.uint64) + np.uint64(self.first), self.seed) >> np.uint64(_DROPPED[self.dtype])
        half = 1 << (STATE_BITS - 1 - _DROPPED[self.dtype])
        return ((kept.astype(np.int64) - half) / half).astype(self.dtype)


@dataclass(frozen=True, slots=True)
class KeyFill:
    """A fill whose element i is 32 bits, from bit `shift` on, of the state after i + 1 steps of a xorshift generator.

    `elements` are those that it has.
    """

    seed: int
    shift: int
    elements: int

    def __call__(self, index: NDArray[np.int64]) -> NDArray[np.uint32]:
        """Return the values at the element indices."""
        states = xorshift(self.seed, self.elements)[index] >> np.uint64(self.shift)
        return states.astype(np.uint32)


def mixed(index: Words, seed: int) -> Words:
    """Return the 64-bit hash of each index."""
    z = index + np.uint64((seed * int(_STEP)) % (1 << STATE_BITS)) + _STEP
    z = (z ^ (z >> np.uint64(30))) * _FACTORS[0]
    z = (z ^ (z >> np.uint64(27))) * _FACTORS[1]
    return np.asarray(z ^ (z >> np.uint64(31)), np.uint64)


@cache
def xorshift(seed: int, number: int) -> Words:
    """Return the first states after the seed of Marsaglia's 64-bit xorshift with shifts 13, 7 and 17 (2003).

    A step is linear in the bits: with the images of single bits, all known states move on at once, twice as far each
    time.
    """
    states = stepped(np.array([seed], np.uint64))
    images = stepped(np.uint64(1) << np.arange(STATE_BITS, dtype=np.uint64))
    while len(states) < number:
        table = _table(images)
        states = np.concatenate((states, _moved(table, states[: number - len(states)])))
        images = _moved(table, images)
    return states


def stepped(state: Words) -> Words:
    """Return the next state of each."""
    state = state ^ (state << np.uint64(13))
    state = state ^ (state >> np.uint64(7))
    return np.asarray(state ^ (state << np.uint64(17)), np.uint64)


def _table(images: Words) -> Words:
    """Return the image of every value of each byte, [byte, value], from those of single bits."""
    values = np.arange(256, dtype=np.uint64)
    bits = (values[:, None] >> np.arange(8, dtype=np.uint64)) & np.uint64(1)
    return np.asarray(np.bitwise_xor.reduce(bits * images.reshape(8, 1, 8), axis=2), np.uint64)


def _moved(table: Words, states: Words) -> Words:
    moved = np.zeros_like(states)
    for byte, images in enumerate(table):
        moved ^= images[(states >> np.uint64(8 * byte)) & _BYTE]
    return moved
