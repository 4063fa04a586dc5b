"""Kernels whose blocks wait for each other, as nvcc compiles them (data/grid.cu), and their launches."""

from __future__ import annotations

import lzma
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isa.generators import ArrayFill
from isa.kernel import Buffer, Kernel
from isa.memory import bases
from isa.nvidia.abi import load
from isa.nvidia.abi.launch import LaunchState, Value, pointer
from isa.nvidia.file import code

DATA = Path(__file__).parent / "data"
Words = NDArray[Any]


@cache
def compiled(architecture: int = 90) -> code.Code:
    """Return the code for an architecture."""
    name = f"grid_{architecture}.cubin"
    return code.of_cubin(lzma.decompress((DATA / f"{name}.xz").read_bytes()), name)


def launched(
    name: str,
    grid: int,
    block: int,
    arrays: Mapping[str, Words],
    *numbers: int,
    architecture: int = 90,
    cooperative: bool = False,
) -> Kernel:
    """Return a launch on arrays of 32-bit integers, then whole numbers."""
    found = compiled(architecture)
    buffers = tuple(Buffer(key, "i4", len(held), ArrayFill(held.astype(np.int32))) for key, held in arrays.items())
    values = [pointer(buffers, key) for key in arrays] + [Value(n.to_bytes(4, "little"), 4) for n in numbers]
    state = LaunchState(
        kernel=name,
        grid=(grid, 1, 1),
        block=(block, 1, 1),
        arguments=load.arguments(found, name, values),
        buffers=buffers,
        sms=132,
        cooperative=cooperative,
    )
    return load.kernel(found, state)


def left(kernel: Kernel, memory: NDArray[np.uint32], name: str) -> NDArray[np.int32]:
    """Return what a buffer holds."""
    first = bases(kernel.buffers)[name] // 4
    size = next(one.elements for one in kernel.buffers if one.name == name)
    return memory[first : first + size].view(np.int32)


def mirror(blocks: int, threads: int, **how: Any) -> tuple[Kernel, NDArray[np.int64], NDArray[np.int64]]:
    """Return a launch that synchronises its grid twice, and what it leaves in a and b."""
    n = blocks * threads
    i = np.arange(n)
    kernel = launched("mirror", blocks, threads, {"a": 0 * i, "b": 0 * i}, n, cooperative=True, **how)
    b = (3 * i + 1)[::-1]
    return kernel, b[(i + 7) % n] + n, b


def scan(blocks: int, *, turned: bool) -> tuple[Kernel, NDArray[np.int64]]:
    """Return a launch of the scan with look-back, and what it leaves in y."""
    x, none = np.arange(256 * blocks) % 11 - 3, np.zeros(blocks, int)
    arrays = {"x": x, "y": 0 * x, "flags": none, "own": none, "sums": none}
    return launched("scan", blocks, 256, arrays, int(turned)), np.cumsum(x)


def queue(blocks: int, tasks: int) -> Kernel:
    """Return a launch of blocks that take tasks from a queue, to which they add."""
    waiting, one = np.full(2 * tasks, -1), np.zeros(1, int)
    waiting[0] = 0
    arrays = {"tasks": waiting, "head": one, "tail": one + 1, "done": one, "seen": np.zeros(tasks, int)}
    return launched("queue", blocks, 32, arrays, tasks)


def rounds(blocks: int, threads: int, many: int) -> tuple[Kernel, NDArray[np.int64]]:
    """Return a launch with so many rounds of a barrier made by hand, and what it leaves in a."""
    size = blocks * threads
    i = np.arange(size)
    held = [i % 5, 0 * i]
    kernel = launched("rounds", blocks, threads, {"count": i[:1], "a": np.concatenate(held)}, 3, many)
    for r in range(1, many + 1):
        held[r % 2] = held[(r - 1) % 2][(i + 3) % size] + i
    return kernel, np.concatenate(held)
