"""Global memory: the places of buffers and their contents before the launch, all of them or only some lines."""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isa.errors import UserError
from isa.generators import ArrayFill
from isa.kernel import Buffer, Fill, Kernel
from isa.operands.windows import SHARED_PLACE

PAGE_BYTES = 4096  # buffers start on a page, the first page is never mapped, and a page lies between two buffers
LINE_BYTES = 128  # smallest part that is filled by itself; divides a page
PLACE_BYTES = 1024  # patterns of accesses keep their place modulo this: lines and rows of banks must divide it
DEVICE_PAGE_BYTES = 1 << 21  # in which a driver maps device memory: measured on an H200, docs/units/memory-access.md
SECTOR_BYTES = 32  # smallest transfer to or from global memory (CUDA C Programming Guide 4.2, F.3.2.2 and F.4.2)
CHUNK = 1 << 14  # elements made at once: their memory stays in a cache


@dataclass(frozen=True, eq=False)
class Held:
    """Global memory that outlives launches: they work in it, not in a copy. `used` words of it are buffers and gaps.

    The words behind these are zero between launches: they are the room in which blocks have what is their own.
    """

    words: NDArray[np.uint32]
    used: int

    def __len__(self) -> int:
        """Return the number of words that are global memory."""
        return self.used


def with_room(memory: NDArray[np.uint32] | Held, room: int) -> NDArray[np.uint32]:
    """Return memory with so many zero words behind it: a copy, but of held memory the words themselves.

    Raises UserError where held memory has no such room.
    """
    if not isinstance(memory, Held):
        return np.concatenate([memory, np.zeros(room, np.uint32)])
    if memory.used + room > len(memory.words):
        raise UserError(f"{memory.used + room:,} words are needed, and memory has {len(memory.words):,}; use less")
    return memory.words[: memory.used + room]


def bases(buffers: Sequence[Buffer]) -> dict[str, int]:
    """Return the base byte address of each buffer, in order; raises ValueError beyond 32-bit addresses.

    Buffers that have places come first, in ascending order.
    """
    address, where = PAGE_BYTES, {}
    for buffer in buffers:
        where[buffer.name] = first = address if buffer.place is None else buffer.place
        address = -(-(first + buffer.nbytes) // PAGE_BYTES) * PAGE_BYTES + PAGE_BYTES
    if address > 1 << 32:
        raise ValueError(f"buffers need {address} bytes: more than a 32-bit address reaches")
    return where


def page_ends(buffers: Sequence[Buffer], page_bytes: int) -> dict[str, int]:
    """Return the byte address behind what loads may read of each buffer: its end, or that of its last page.

    Pages count from the buffer's start; the places of generic addresses are no part of any.
    """
    where = bases(buffers)
    pages = {b.name: -(-b.nbytes // page_bytes) * page_bytes if page_bytes else b.nbytes for b in buffers}
    return {b.name: max(where[b.name] + b.nbytes, min(where[b.name] + pages[b.name], SHARED_PLACE)) for b in buffers}


def length(kernel: Kernel) -> int:
    """Return the number of 32-bit words of global memory, including the gaps between buffers and the last's page."""
    return -(-max(page_ends(kernel.buffers, kernel.page_bytes).values(), default=0) // 4)


def image(kernel: Kernel, room: int = 0, lines: NDArray[np.bool_] | None = None) -> NDArray[np.uint32]:
    """Return global memory before the launch as 32-bit words, word w at byte address 4 w, and `room` words after it.

    With `lines`, a bool for each line of memory, other lines stay zero: their untouched pages cost neither time nor
    memory.
    """
    where = bases(kernel.buffers)
    words = np.zeros(length(kernel) + room, np.uint32) if lines is None else _sparse(length(kernel) + room)
    for buffer in kernel.buffers:
        if buffer.fill is not None:
            base = where[buffer.name]
            _fill(view(words, buffer, base), buffer, None if lines is None else lines[base // LINE_BYTES :])
    return words


def _sparse(words: int) -> NDArray[np.uint32]:
    """Return so many zeros, of which what is never touched takes no memory; NumPy's own come in huge pages of 2 MB.

    Raises MemoryError where there is no room.
    """
    own = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if hasattr(mmap, "MAP_PRIVATE") else {}
    try:
        pages = mmap.mmap(-1, max(4, 4 * words), **own)
    except OSError as error:
        raise MemoryError(f"{4 * words} bytes") from error
    if hasattr(mmap, "MADV_NOHUGEPAGE"):
        with suppress(OSError):  # a kernel without huge pages knows no such advice
            pages.madvise(mmap.MADV_NOHUGEPAGE)
    return np.frombuffer(pages, np.uint32, words)


def view(words: NDArray[np.uint32], buffer: Buffer, base: int) -> NDArray[np.generic]:
    """Return the buffer's elements inside the image (no copy); `base` is its byte address."""
    return words.view(np.uint8)[base : base + buffer.nbytes].view(buffer.dtype)


def constants(kernel: Kernel) -> dict[str, int]:
    """Return the 32-bit pattern of each c[name]: launch parameters and buffer bases."""
    return {**bases(kernel.buffers), **kernel.parameters}


def elements(fill: Fill, index: NDArray[np.int64], dtype: str) -> NDArray[Any]:
    """Return the contents at the element indices, of any shape, made piece by piece."""
    made = np.empty(index.size, dtype)
    for start in range(0, index.size, CHUNK):
        made[start : start + CHUNK] = fill(index.reshape(-1)[start : start + CHUNK])
    return made.reshape(index.shape)


def _fill(contents: NDArray[np.generic], buffer: Buffer, lines: NDArray[np.bool_] | None) -> None:
    assert buffer.fill is not None
    if lines is None and isinstance(buffer.fill, ArrayFill):
        contents[:] = buffer.fill.values
        return
    if lines is not None:
        index = _of_lines(buffer, lines)
        contents[index] = elements(buffer.fill, index, buffer.dtype)
        return
    for start in range(0, buffer.elements, CHUNK):
        stop = min(start + CHUNK, buffer.elements)
        contents[start:stop] = buffer.fill(np.arange(start, stop, dtype=np.int64))


def _of_lines(buffer: Buffer, lines: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the indices of the buffer's elements in its marked lines."""
    held = LINE_BYTES * buffer.elements // max(1, buffer.nbytes)
    marked = np.flatnonzero(lines[: -(-buffer.nbytes // LINE_BYTES)])
    index = (marked[:, None] * held + np.arange(held)).ravel()
    return index[index < buffer.elements]
