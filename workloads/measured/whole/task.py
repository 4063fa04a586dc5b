"""What the launches of all timed kernels have in common: buffers, arguments, and results with their errors."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isa.kernel import Buffer, Expectation
from isa.nvidia.abi.launch import Value
from workloads.gemm.problem import gamma

Indices = NDArray[np.int64]


@dataclass(frozen=True)
class Task:
    """What a launch computes: buffers with their contents, arguments, and the results of each block.

    An argument is the name of a buffer to which it points, or a number. `constants` are the values of constant bank 3.
    """

    buffers: tuple[Buffer, ...]
    arguments: tuple[str | Value, ...]
    expected: Callable[[int], Expectation]
    flops: int = 0
    constants: bytes = b""


def integer(value: int) -> Value:
    """Return an argument of type int."""
    return Value(struct.pack("<i", value), 4)


def single(value: float) -> Value:
    """Return an argument of type float."""
    return Value(struct.pack("<f", value), 4)


def exact(buffer: str, index: Indices, value: NDArray[Any]) -> Expectation:
    """Return the expectation of values without any error."""
    return Expectation(buffer, index, value.astype(np.float64), np.zeros(len(index)))


def rounded(
    buffer: str, index: Indices, value: NDArray[Any], weight: NDArray[Any], roundings: int, dtype: str = "f4"
) -> Expectation:
    """Return the expectation of sums with so many roundings of each term; `weight` is the sum of its magnitudes.

    The error is at most gamma(roundings) times that (Higham 2002, section 3.1 and lemma 3.1).
    """
    bound = gamma(roundings, dtype) * weight
    return Expectation(buffer, index, value.astype(np.float64), bound.astype(np.float64))
