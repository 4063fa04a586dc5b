"""Loads that read behind a buffer, but in its last page: a chip gives them what lies there, and so do runs.

Without pages (`Kernel.page_bytes`) such a load is an error.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from isa import memory
from isa.executing import faults
from isa.kernel import Kernel
from isa.row import Row, Unit


@dataclass(frozen=True)
class Beyond:
    """How many loads of threads read behind a buffer, and the first of them: its warp in the block, lane, address."""

    loads: int
    pc: int
    block: int
    warp: int
    lane: int
    address: int


def may_leave_buffers(kernel: Kernel, row: Row) -> bool:
    """Tell whether an instruction of that row may read behind a buffer: a load from global memory, no atomic."""
    return bool(kernel.page_bytes) and row.unit is Unit.GLOBAL and row.is_load and row.update is None


def joined(found: Iterable[Beyond | None]) -> Beyond | None:
    """Return the loads of several parts of a run, with the first part's first; None if there are none."""
    each = [one for one in found if one]
    if not each:
        return None
    return replace(each[0], loads=sum(one.loads for one in each))


def told(kernel: Kernel, found: Beyond) -> str:
    """Return the first of these loads in words, how far it is behind which buffer, and how many others there are."""
    where = {name: kernel.window + base for name, base in memory.bases(kernel.buffers).items()}
    ends = [(where[b.name] + b.nbytes, b.name) for b in kernel.buffers if where[b.name] <= found.address and b.nbytes]
    end, name = max(ends)
    row = kernel.program.instructions[found.pc].row
    place = faults.place(kernel, found.pc, found.block, found.warp, found.lane)
    others = f" and {found.loads - 1:,} other loads" if found.loads > 1 else ""
    far = f"{row.nbytes} bytes at {found.address:#x}, {found.address - end:,} behind the end of {name}"
    if found.address < end:
        far = f"{row.nbytes} bytes at {found.address:#x}, across the end of {name}"
    return f"{place}{others}: {far}"
