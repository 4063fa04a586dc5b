"""Device memory that program and simulator share: a file in memory, of which both have all places in sight.

The byte at place p has the address WINDOW + p, in kernels and in the program alike. Allocations begin on a page, with
one between two of them, as buffers of a launch do (isa/memory.py).
"""

from __future__ import annotations

import mmap
import os
import weakref
from bisect import bisect_right, insort
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from isa.generators import ArrayFill
from isa.kernel import Buffer
from isa.memory import PAGE_BYTES
from isa.nvidia.abi.launch import WINDOW
from isa.operands.windows import SHARED_PLACE

WHOLE_BYTES = 1 << 32  # in sight of the program
ROOM_BYTES = 1 << 32  # behind them, for what launches have of their own
LOWEST = PAGE_BYTES  # the first page is never mapped
DEVICE, MANAGED, HOST, ARRAY = range(4)  # kinds of allocations
UNREGISTERED, OF_HOST, OF_DEVICE, OF_BOTH = range(4)  # cudaMemoryType
TYPES = {DEVICE: OF_DEVICE, MANAGED: OF_BOTH, HOST: OF_HOST, ARRAY: OF_DEVICE}


@dataclass(frozen=True, slots=True)
class Allocation:
    """Bytes of device memory from a place on; `number` counts allocations, `name` is that of its buffer in launches."""

    place: int
    nbytes: int
    kind: int
    number: int
    name: str

    @property
    def end(self) -> int:
        """The place behind its last byte."""
        return self.place + self.nbytes


@dataclass(eq=False)
class Arena:
    """The file, its bytes, and what is allocated, by ascending place.

    `cold` are the numbers of allocations that no launch has touched since the host wrote them, or since they were made.
    """

    file: int
    mapped: mmap.mmap
    held: NDArray[np.uint8]
    live: list[Allocation] = field(default_factory=list)
    made: int = 0
    cold: set[int] = field(default_factory=set)


def created() -> Arena:
    """Return memory of zeros, which takes as many bytes of the machine as are written."""
    file = os.memfd_create("gpusim-device-memory")
    os.ftruncate(file, WHOLE_BYTES + ROOM_BYTES)
    mapped = mmap.mmap(file, WHOLE_BYTES + ROOM_BYTES)
    made = Arena(file, mapped, np.frombuffer(mapped, np.uint8))
    weakref.finalize(made, os.close, file)  # the mapping has a descriptor of its own, and goes with the last view of it
    return made


def allocate(arena: Arena, nbytes: int, kind: int, alignment: int = 0, name: str = "") -> Allocation | None:
    """Return so many bytes of zeros at the lowest place where they fit; None where they don't."""
    unit = max(PAGE_BYTES, alignment)
    place = _fitting(arena, nbytes, unit)
    if place is None:
        return None
    arena.made += 1
    made = Allocation(place, nbytes, kind, arena.made, name or f"allocation {arena.made}")
    insort(arena.live, made, key=_place)
    arena.cold.add(made.number)
    return made


def free(arena: Arena, address: int) -> Allocation | None:
    """Give back the allocation that begins at an address, and return it; None if there is none."""
    found = find(arena, address)
    if found is None or found.place != address - WINDOW:
        return None
    arena.live.remove(found)
    arena.cold.discard(found.number)
    clear(arena, found.place, found.end)
    return found


def find(arena: Arena, address: int) -> Allocation | None:
    """Return the allocation with the byte at an address; None if there is none."""
    place = address - WINDOW
    at = bisect_right(arena.live, place, key=_place) - 1
    if at < 0:
        return None
    found = arena.live[at]
    return found if place < max(found.end, found.place + 1) else None


def used(arena: Arena) -> int:
    """Return the place behind the last allocation."""
    return arena.live[-1].end if arena.live else LOWEST


def free_bytes(arena: Arena) -> int:
    """Return the bytes that are not allocated."""
    return SHARED_PLACE - sum(one.nbytes for one in arena.live)


def clear(arena: Arena, begin: int, end: int) -> None:
    """Fill with zeros, by giving whole pages back to the system."""
    first, last = -(-begin // mmap.PAGESIZE) * mmap.PAGESIZE, end // mmap.PAGESIZE * mmap.PAGESIZE
    if first >= last:
        arena.held[begin:end] = 0
        return
    arena.held[begin:first] = arena.held[last:end] = 0
    arena.mapped.madvise(mmap.MADV_REMOVE, first, last - first)


def buffer(arena: Arena, one: Allocation) -> Buffer:
    """Return an allocation as a buffer of launches."""
    return Buffer(one.name, "u1", one.nbytes, ArrayFill(arena.held[one.place : one.end]), one.place)


def _place(one: Allocation) -> int:
    return one.place


def _fitting(arena: Arena, nbytes: int, unit: int) -> int | None:
    """Return the lowest place with room for so many bytes, a multiple of the unit."""
    place = -(-LOWEST // unit) * unit
    for one in arena.live:
        if place + nbytes + PAGE_BYTES <= one.place:
            return place
        place = -(-(one.end + PAGE_BYTES) // unit) * unit
    return place if place + nbytes + PAGE_BYTES <= SHARED_PLACE else None
