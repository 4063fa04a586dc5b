"""The L2 of a launch that finds the kernel's buffers there: their lines in its tags."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusim.machine.machine import Machine
from gpusim.machine.occupancy import is_one_wave
from gpusim.sm.memory.cache.declaration import FAR, PARTITION, WAY_HEAD, tagged
from gpusim.sm.memory.cache.tags import ARRIVED
from gpusim.sm.memory.l2_share.declaration import PARTS, SHIFT, SPREADING
from isa.dataflow.memory.pointers import based
from isa.kernel import Kernel
from isa.memory import bases
from isa.row import Bulk, Unit

TAG, USED = range(2)  # words of a way, as gpusim/sm/memory/cache/cache.py has them
COPIES_OF_ONE_WAVE = Fraction(4, 3)  # as many bytes are kept: two copies of each, over one and a half
ON_SM = (Unit.SHARED, Unit.LOCAL)  # what is stored there stays on the SM


@dataclass(frozen=True, eq=False)
class Touched:
    """How many lines a launch touches, and stores to; `which` of them, in ascending order, if that is known."""

    lines: int
    stored: int
    which: NDArray[np.int64] | None


def fill(
    words: NDArray[np.uint32], launches: Iterable[Any], machine: Machine, kernel: Kernel, touched: Touched | None
) -> None:
    """Let the L2, and the partitions near the SMs of these launch records, hold the kernel's buffers if they should.

    Of buffers that don't fit the launch finds less, or nothing: they replace each other. Of those of which it touches
    these lines, it finds these.

    `words` is the memory array. Lines count as used in the order of their addresses.
    """
    if not (tagged(machine) and machine.l2 and machine.l2.filled):
        return
    known = touched.which if touched else None
    lines = lines_of(kernel, machine.global_memory.line_bytes) if known is None else known
    lines = _warm(lines, kernel, machine.global_memory.line_bytes)
    for launch in launches:
        kept = words[launch.cache_word : launch.cache_end].view(np.int64)
        for which in (FAR, PARTITION):
            if launch.caches[which].sets and kept[launch.caches[which].first] == 0:
                _fill(kept, launch.caches[which], lines[((lines * SPREADING >> SHIFT) & (PARTS - 1)) >= launch.spills])


def spills(machine: Machine, kernel: Kernel, blocks: int, touched: Touched | None = None) -> int:
    """Return how many of 64 lines of a kernel's buffers the L2 does not keep from one launch to the next.

    So many `blocks` fit on an SM. What is not `touched` takes no room; None: all is.

    Of grids of several waves `left_bytes` and `left_spread` say it, if they are known: sets whose lines are more than
    their ways lose them, and how many a set gets is taken to be spread normally.
    """
    l2 = machine.l2
    if l2 is None or not (l2.keeps_bytes and l2.left_bytes) or is_one_wave(kernel, machine, blocks):
        return _lost(machine, kernel, blocks, touched)
    return round(PARTS * NormalDist(l2.left_bytes, l2.left_spread).cdf(_size(machine, kernel, touched)))


def passes(machine: Machine, kernel: Kernel, blocks: int, touched: Touched | None = None) -> int:
    """Return how many of 64 lines of a kernel's buffers go on to the DRAM when they are stored to.

    That is what is touched beyond `keeps_bytes`, though loads find more, and what is stored beyond `dirty_keeps_bytes`.
    """
    lost, l2 = _lost(machine, kernel, blocks, touched), machine.l2
    if l2 is None or not l2.dirty_loses_bytes or sum(one.nbytes for one in kernel.buffers) <= l2.dirty_keeps_bytes:
        return lost
    stored = stored_to(kernel)
    size = sum(buffer.nbytes for buffer in kernel.buffers if buffer.name in stored)
    size = _least(size, machine, touched.stored if touched else None)
    return max(lost, _parts_beyond(size, l2.dirty_keeps_bytes, l2.dirty_loses_bytes))


def _lost(machine: Machine, kernel: Kernel, blocks: int, touched: Touched | None) -> int:
    """Return how many of 64 lines are lost as `keeps_bytes` and `loses_bytes` say.

    These are of grids of several waves: SMs on both sides of the L2 ask for their lines in turn, and it holds two
    copies. In a grid of one wave each block returns to its SM, and every second line is on that SM's side: the L2 holds
    one and a half copies, and `keeps_bytes` is a third more.
    """
    if machine.l2 is None:
        return 0
    more = COPIES_OF_ONE_WAVE if is_one_wave(kernel, machine, blocks) else 1
    keeps = min(machine.l2.bytes, int(machine.l2.keeps_bytes * more)) or machine.l2.bytes
    loses = max(keeps, machine.l2.loses_bytes or machine.l2.bytes)
    return _parts_beyond(_size(machine, kernel, touched), keeps, loses)


def _size(machine: Machine, kernel: Kernel, touched: Touched | None) -> int:
    """Return the bytes of a kernel's buffers, or of what is touched of them."""
    return _least(sum(buffer.nbytes for buffer in kernel.buffers), machine, touched.lines if touched else None)


def _least(size: int, machine: Machine, lines: int | None) -> int:
    """Return so many bytes, or those of so many lines if these are fewer."""
    return size if lines is None else min(size, lines * machine.global_memory.line_bytes)


def _parts_beyond(size: int, keeps: int, loses: int) -> int:
    """Return how many of 64 lines of so many bytes are lost, if all of `keeps` are kept and from `loses` on none is."""
    if size <= keeps:
        return 0
    return PARTS if size >= loses else round(PARTS * (size - keeps) / (loses - keeps))


def stored_to(kernel: Kernel) -> frozenset[str]:
    """Return the names of the buffers to which a kernel stores; all where it is not known for some store."""
    code, every = kernel.program.instructions, frozenset(buffer.name for buffer in kernel.buffers)
    stores = [
        pc
        for pc, row in enumerate(i.row for i in code)
        if (row.is_store or row.update or row.bulk in (Bulk.STORE, Bulk.REDUCE)) and row.unit not in ON_SM
    ]
    return frozenset[str]().union(*(based(kernel, pc) or every for pc in stores))


def kept_lines(machine: Machine) -> tuple[int, int]:
    """Return how many lines the L2 keeps all of, and from how many on it keeps none, when all are used in turn."""
    if machine.l2 is None:
        return 0, 0
    keeps = machine.l2.keeps_bytes or machine.l2.bytes
    loses = max(keeps, machine.l2.loses_bytes or machine.l2.bytes)
    return keeps // machine.global_memory.line_bytes, loses // machine.global_memory.line_bytes


def lines_of(kernel: Kernel, line_bytes: int) -> NDArray[np.int64]:
    """Return the numbers of the lines in which a kernel's buffers lie, in ascending order."""
    where = bases(kernel.buffers)
    each = [
        np.arange(where[one.name] // line_bytes, -(-(where[one.name] + one.nbytes) // line_bytes), dtype=np.int64)
        for one in kernel.buffers
    ]
    return np.concatenate(each) if each else np.zeros(0, np.int64)


def _warm(lines: NDArray[np.int64], kernel: Kernel, line_bytes: int) -> NDArray[np.int64]:
    """Return those of lines, in ascending order, that are none of a cold buffer's."""
    where = bases(kernel.buffers)
    for one in kernel.buffers:
        if one.name in kernel.cold:
            first, last = where[one.name] // line_bytes, -(-(where[one.name] + one.nbytes) // line_bytes)
            begin, end = np.searchsorted(lines, (first, last))
            lines = np.concatenate((lines[:begin], lines[end:]))
    return lines


def _fill(kept: NDArray[np.int64], cache: Any, lines: NDArray[np.int64]) -> None:
    """Let the ways of each set hold the last of these lines that belong to it."""
    number = np.arange(1, len(lines) + 1)
    sets = lines % cache.sets
    order = np.argsort(sets, kind="stable")
    begin = np.searchsorted(sets[order], np.arange(cache.sets), side="right")
    behind = begin[sets[order]] - 1 - np.arange(len(lines))  # how many of the set come later
    last = order[behind < cache.ways]
    at = cache.first + 1 + (sets[last] * cache.ways + behind[behind < cache.ways]) * cache.stride
    kept[at + TAG], kept[at + USED] = lines[last] + 1, number[last]
    for unit in range(WAY_HEAD, cache.stride):
        kept[at + unit] = ARRIVED
    kept[cache.first] = len(lines)
