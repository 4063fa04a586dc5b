"""Accessible memory of a thread: the ranges of each memory space, and the check of a set of addresses."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isa import memory
from isa.executing.beyond import may_leave_buffers
from isa.executing.places import unit_at
from isa.instruction import Instruction
from isa.kernel import Buffer, Kernel
from isa.operands.windows import LOCAL_PLACE, SHARED_PLACE
from isa.row import Row, Unit

_NEAR = SHARED_PLACE, LOCAL_PLACE


@dataclass(frozen=True, slots=True)
class Ranges:
    """Byte ranges [start, end) that may be accessed, in ascending order."""

    starts: tuple[int, ...]
    ends: tuple[int, ...]


def buffer_ranges(buffers: Sequence[Buffer], page_bytes: int = 0) -> Ranges:
    """Return the ranges of global memory: one for each buffer, empty ones left out, up to the end of its last page."""
    where, ends = memory.bases(buffers), memory.page_ends(buffers, page_bytes)
    held = [(where[b.name], ends[b.name]) for b in buffers if b.nbytes]
    return Ranges(tuple(start for start, _ in held), tuple(end for _, end in held))


def leaves_global(kernel: Kernel, row: Row) -> bool:
    """Tell whether an instruction of that row may leave global memory by a generic address."""
    return row.generic and kernel.program.leaves_global


def ranges(kernel: Kernel, row: Row, *, exact: bool = False) -> Ranges:
    """Return the ranges of the space that a memory instruction of this row accesses; a generic one has all.

    Those of loads from global memory go up to the end of a buffer's last page, unless they are to be `exact`.
    """
    page_bytes = kernel.page_bytes if may_leave_buffers(kernel, row) and not exact else 0
    if leaves_global(kernel, row):
        held = buffer_ranges(kernel.buffers, page_bytes)
        sizes = kernel.program.shared_bytes, kernel.program.local_bytes
        ends = (place + nbytes for place, nbytes in zip(_NEAR, sizes, strict=True))
        return Ranges((*held.starts, *_NEAR), (*held.ends, *ends))
    if row.unit is Unit.SHARED:
        return Ranges((0,), (kernel.program.shared_bytes,))
    if row.unit is Unit.LOCAL:
        return Ranges((0,), (kernel.program.local_bytes,))
    return buffer_ranges(kernel.buffers, page_bytes)


def whole(kernel: Kernel, instruction: Instruction, place: int) -> int:
    """Return the address of 64 bits at a place in global memory, if the instruction has such addresses; else the place.

    Places of generic addresses in shared and local memory stay as they are.
    """
    address = instruction.address()
    near = instruction.row.generic and unit_at(place) is not Unit.GLOBAL
    return place + kernel.window if address is not None and address.wide and not near else place


def misaligned(addresses: NDArray[np.uint32], nbytes: int) -> bool:
    """Tell whether any address is not a multiple of `nbytes`, a power of two."""
    return bool(int(np.bitwise_or.reduce(addresses, axis=None)) & (nbytes - 1))


def inside(allowed: Ranges, addresses: NDArray[np.uint32], nbytes: int) -> bool:
    """Tell whether accesses of `nbytes` at all the addresses (at least one) lie within the ranges."""
    low, high = int(addresses.min()), int(addresses.max())
    which = bisect_right(allowed.starts, low) - 1
    return (which >= 0 and high + nbytes <= allowed.ends[which]) or not outside(allowed, addresses, nbytes).any()


def outside(allowed: Ranges, addresses: NDArray[np.uint32], nbytes: int) -> NDArray[np.bool_]:
    """Tell for each address whether an access of `nbytes` there leaves the ranges."""
    if not allowed.starts:
        return np.ones(addresses.shape, np.bool_)
    wide: Any = addresses.astype(np.int64)
    which = np.searchsorted(np.array(allowed.starts), wide, side="right") - 1
    ends = np.array(allowed.ends)[np.maximum(which, 0)]
    return np.asarray((which < 0) | (wide + nbytes > ends), np.bool_)
