"""Global memory: where buffers lie and what they hold before the launch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from isa.kernel import Buffer, Kernel

PAGE_BYTES = 4096  # buffers start on a page, the first page is never mapped, and a page lies between two buffers
CHUNK = 1 << 14  # elements filled at once: what that takes stays in a cache


def bases(buffers: Sequence[Buffer]) -> dict[str, int]:
    """Base byte address of each buffer, in order; raises ValueError beyond 32-bit addresses."""
    address, where = PAGE_BYTES, {}
    for buffer in buffers:
        where[buffer.name] = address
        address += -(-buffer.nbytes // PAGE_BYTES) * PAGE_BYTES + PAGE_BYTES
    if address > 1 << 32:
        raise ValueError(f"buffers need {address} bytes: more than a 32-bit address reaches")
    return where


def image(kernel: Kernel, room: int = 0) -> NDArray[np.uint32]:
    """Global memory before the launch as 32-bit words, word w at byte address 4 w, and `room` words more behind it."""
    where = bases(kernel.buffers)
    end = max((where[b.name] + b.nbytes for b in kernel.buffers), default=0)
    words = np.zeros(-(-end // 4) + room, np.uint32)
    for buffer in kernel.buffers:
        if buffer.fill is not None:
            _fill(view(words, buffer, where[buffer.name]), buffer)
    return words


def view(words: NDArray[np.uint32], buffer: Buffer, base: int) -> NDArray[np.generic]:
    """The buffer's elements inside the image (no copy); `base` is its byte address."""
    return words.view(np.uint8)[base : base + buffer.nbytes].view(buffer.dtype)


def constants(kernel: Kernel) -> dict[str, int]:
    """The 32-bit pattern behind each c[name]: launch parameters and buffer bases."""
    return {**bases(kernel.buffers), **kernel.parameters}


def _fill(elements: NDArray[np.generic], buffer: Buffer) -> None:
    assert buffer.fill is not None
    for start in range(0, buffer.elements, CHUNK):
        stop = min(start + CHUNK, buffer.elements)
        elements[start:stop] = buffer.fill(np.arange(start, stop, dtype=np.int64))
