"""What a launch touches of its buffers, where that decides what the L2 keeps of them from launch to launch.

Blocks are run in program order, for addresses alone: all of them where these are few accesses. Else, where data flow
says how far a block's place moves each address, and the middle block leaves out none, all blocks touch what it does,
further on. Where not, some blocks are run, and the others touch as many new lines as the later ones of these.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusim.engines.walks.program_order import Rows, Walker, lanes_of, run_block, walker
from gpusim.launch.caches import filled_caches
from gpusim.launch.caches.filled_caches import Touched
from gpusim.launch.feed import recordable
from gpusim.machine.machine import Machine
from gpusim.machine.occupancy import occupancy
from gpusim.sm.memory.cache.declaration import FarCache, tagged
from gpusim.sm.walk.access_log import FIRST, PC, RELEASE
from gpusim.sm.walk.marks import BOXED, MARK
from isa.dataflow.block_step import states
from isa.dataflow.memory.address_steps import address_steps, linear_steps
from isa.dataflow.moving import Step
from isa.errors import UserError
from isa.executing import clusters
from isa.executing.places import lanes_in
from isa.kernel import Kernel
from isa.memory import SECTOR_BYTES, length
from isa.nvidia.abi.on_chip import on_chip
from isa.program import WORD_BYTES
from isa.row import GLOBAL_UNITS, Bulk, Unit
from isa.support.once import once

ACCESSES, LONG = 100_000, 2_000_000  # of warps, and their instructions, up to which all blocks are run
FEW, SOME = 3, 32  # blocks that are run else, as many as have LONG instructions
MOVED, AT_ONCE = 1 << 24, 1 << 18  # sectors of all blocks that one step moves, at most, and in one go
MOVING = Bulk.LOAD, Bulk.STORE, Bulk.REDUCE  # commands of the copy engine whose boxes are seen
SECTORED = GLOBAL_UNITS | {Unit.TEXTURE}
ADDRESSES = 1 << 32  # bytes that addresses reach
DEVIATIONS = 4  # beyond the mean a normal distribution has less than a 64th
PCS = (1 << MARK) - 1
Numbers = NDArray[np.int64]


class _Seen(NamedTuple):
    """Sectors, and of each the instruction that touches it."""

    sector: Numbers
    pc: Numbers


class _Marks(NamedTuple):
    """The lines of memory, of this many bytes, that are touched so far, and those stored to."""

    line_bytes: int
    touched: NDArray[np.bool_]
    stored: NDArray[np.bool_]


def lost(kernel: Kernel, machine: Machine, blocks: int) -> tuple[int, int]:
    """Return `spills` and `passes` of filled_caches.py for what the launch touches; so many `blocks` fit on an SM."""
    given = machine, kernel, blocks, of_launch(kernel, machine)
    return filled_caches.spills(*given), filled_caches.passes(*given)


def of_launch(kernel: Kernel, machine: Machine) -> Touched | None:
    """Return what a launch touches if the L2 would not keep all of its buffers; None also if blocks can't be run.

    Only of machines that say how much their L2 keeps (`l2.keeps_bytes`).
    """
    if not (tagged(machine) and machine.l2 and machine.l2.keeps_bytes):
        return None
    given = machine, kernel, occupancy(kernel, machine).blocks
    if not (filled_caches.passes(*given) or filled_caches.spills(*given)):
        return None
    there = on_chip(kernel, machine.chip.sms) if kernel.cluster_blocks == 1 else kernel
    return lines(there, machine.global_memory.line_bytes, _enough(machine.l2, machine.global_memory.line_bytes))


def _enough(l2: FarCache, line_bytes: int) -> int:
    """Return of how many lines the L2 keeps none."""
    return -(-max(l2.loses_bytes, l2.bytes, l2.left_bytes + DEVIATIONS * l2.left_spread) // line_bytes)


@once
def lines(kernel: Kernel, line_bytes: int, enough: int) -> Touched | None:
    """Return what a launch touches, in lines of so many bytes, or that it is `enough`; None if blocks can't be run."""
    size = -(-WORD_BYTES * length(kernel) // line_bytes)
    marks = _Marks(line_bytes, np.zeros(size, np.bool_), np.zeros(size, np.bool_))
    with suppress(UserError):
        one, middle = walker(kernel, addresses=True), _clusters(kernel) // 2
        first, accesses = _of_block(one, clusters.block_of(kernel, middle, 0))
        fit = LONG // max(1, int(one.launch.program.issued.sum()))
        steps, most = _steps(kernel, one.state().active), min(ACCESSES // max(1, accesses), fit)
        if most < _clusters(kernel) and steps and set(np.unique(first.pc).tolist()) <= steps.keys():
            return _moved(kernel, marks, first, steps, enough)
        one.again()
        return _of_some(one, marks, min(SOME, max(FEW, fit))) if most < _clusters(kernel) else _of_all(one, marks)
    return None


def _steps(kernel: Kernel, executed: Numbers) -> Mapping[int, Step]:
    """Return how far accesses move from block to block, if all blocks do what one did that executed these instructions.

    If guards and branches may depend on the block, one that leaves out an access says nothing of others.
    """
    if not recordable(kernel):
        return {}
    rows = [instruction.row for instruction in kernel.program.instructions]
    reached = [pc for pc, state in enumerate(states(kernel)) if state is not None]
    left = [pc for pc in reached if not executed[pc] and (rows[pc].unit in SECTORED or rows[pc].bulk in MOVING)]
    return address_steps(kernel) if left else linear_steps(kernel)


def _clusters(kernel: Kernel) -> int:
    return kernel.blocks // kernel.cluster_blocks


def _of_all(one: Walker, marks: _Marks) -> Touched:
    touched, stored = _run(one, marks, range(_clusters(one.kernel))).tolist()
    return Touched(touched, stored, np.flatnonzero(marks.touched))


def _of_some(one: Walker, marks: _Marks, some: int) -> Touched:
    """Return what blocks, or clusters, touch if it is in proportion to some of them: the last, and some evenly spread.

    These are run in two parts, each of which has some of each half, quarter, ... of the grid, and of each two
    neighbours, each four, ... The second part says how many new lines the others touch.
    """
    number = _clusters(one.kernel)
    run = sorted({*range(0, number, -(-number // some) | 1), number - 1})  # odd: in step with no power of two
    parts = ([at for n, at in enumerate(run) if n.bit_count() % 2 == part] for part in (0, 1))  # Thue-Morse
    before, now = (_run(one, marks, part) for part in parts)
    later = sum(n.bit_count() % 2 for n in range(len(run)))
    others = number - len(run)
    touched, stored = (now + others * (now - before) // later if others else now).tolist()
    return Touched(touched, stored, None)


def _run(one: Walker, marks: _Marks, some: Iterable[int]) -> Numbers:
    """Run blocks, or clusters; return how many lines are touched so far, and stored to."""
    for cluster in some:
        _mark(one.kernel, marks, _of_block(one, clusters.block_of(one.kernel, cluster, 0))[0], np.zeros(1, np.int64))
    return np.array([marks.touched.sum(), marks.stored.sum()])


def _moved(kernel: Kernel, marks: _Marks, seen: _Seen, steps: Mapping[int, Step], enough: int) -> Touched | None:
    """Return what blocks touch if each does what the middle one does, further on; None if these are too many."""
    for step in {steps[pc] for pc in np.unique(seen.pc).tolist()}:
        own = np.array([step == steps.get(pc) for pc in range(len(kernel.program))], np.bool_)[seen.pc]
        some = _Seen(*(each[own] for each in seen))
        number = prod(size for size, each in zip(kernel.grid, step, strict=True) if each)
        if number > MOVED or len(by := _shifts(kernel, step)) * len(some.sector) > MOVED:
            return None
        for part in np.array_split(by, -(-len(by) * len(some.sector) // AT_ONCE)):
            _mark(kernel, marks, some, part)
            if marks.touched.sum() >= enough:
                break
    return Touched(int(marks.touched.sum()), int(marks.stored.sum()), np.flatnonzero(marks.touched))


def _shifts(kernel: Kernel, step: Step) -> Numbers:
    """Return by how many bytes the blocks of the grid lie further on than the middle one."""
    middle, (x, y, _) = clusters.block_of(kernel, _clusters(kernel) // 2, 0), kernel.grid
    own = middle % x, middle // x % y, middle // (x * y)
    along = [
        (np.arange(size if each else 1) - (at if each else 0)) * each
        for size, at, each in zip(kernel.grid, own, step, strict=True)
    ]
    return np.unique((along[0] + along[1][:, None] + along[2][:, None, None]) % ADDRESSES)


def _mark(kernel: Kernel, marks: _Marks, seen: _Seen, by: Numbers) -> None:
    """Mark the lines of these sectors, each so many bytes further on."""
    rows = [i.row for i in kernel.program.instructions]
    stores = np.array([bool(r.is_store or r.update or r.bulk in (Bulk.STORE, Bulk.REDUCE)) for r in rows], np.bool_)
    places = (seen.sector[:, None] * SECTOR_BYTES + by) % ADDRESSES // marks.line_bytes
    for marked, some in ((marks.touched, places), (marks.stored, places[stores[seen.pc]])):
        marked[some[some < len(marked)]] = True


def _of_block(one: Walker, block: int) -> tuple[_Seen, int]:
    """Run a block, or its cluster; return the sectors that it touches, once each, and how many accesses these were."""
    code = one.kernel.program.instructions
    none = np.zeros(0, np.int64)
    found, accesses = [_Seen(none, none)], [0]
    wanted = np.array([BOXED * (i.row.bulk in MOVING) for i in code] + [0], np.int64)

    def tell(rows: Rows) -> None:
        rows = rows[rows[:, PC] != RELEASE]
        accesses[0] += len(rows)
        lanes, boxes = (rows[rows[:, PC] >> MARK == mark] for mark in (0, BOXED))
        found.append(_distinct([_of_lanes(one.kernel, lanes), *_boxes(boxes)]))
        if sum(len(some.pc) for some in found[1:]) > len(found[0].pc):  # no sector is sorted at each turn
            found[:] = [_distinct(found)]

    run_block(one, block, LONG, tell, wanted if wanted.any() else None)
    return _distinct(found), accesses[0]


def _of_lanes(kernel: Kernel, rows: Rows) -> _Seen:
    """Return the sectors that lanes access."""
    code = [i.row for i in kernel.program.instructions]
    rows = rows[np.array([row.unit in SECTORED for row in code], np.bool_)[rows[:, PC]]]
    places, active = rows[:, FIRST:], lanes_of(rows)
    if any(row.generic for row in code):
        generic = np.array([row.generic for row in code], np.bool_)[rows[:, PC]]
        active &= ~generic[:, None] | lanes_in(Unit.GLOBAL, places)
    at, lane = np.nonzero(active)
    first, pcs = places[at, lane].astype(np.int64), rows[at, PC].astype(np.int64)
    last = (first + np.array([row.nbytes - 1 for row in code], np.int64)[pcs]) // SECTOR_BYTES
    first //= SECTOR_BYTES
    new = (np.diff(first, prepend=-1) != 0) | (np.diff(pcs, prepend=-1) != 0)  # not the lane before's, either
    new_last = (last != first) & ((np.diff(last, prepend=-1) != 0) | new)
    return _Seen(np.concatenate([first[new], last[new_last]]), np.concatenate([pcs[new], pcs[new_last]]))


def _boxes(rows: Rows) -> Iterator[_Seen]:
    """Yield the sectors of boxes: some runs of rows each, of a first byte, a size, bytes to the next, and how many."""
    for row in rows.astype(np.int64):
        for first, size, step, count in row[FIRST:][: len(row[FIRST:]) // 4 * 4].reshape(-1, 4).tolist():
            begins = first + (step - (step >> 31 << 32)) * np.arange(count)
            each = begins[:, None] // SECTOR_BYTES + np.arange(size // SECTOR_BYTES + 2)
            sectors = each[each <= (begins[:, None] + size - 1) // SECTOR_BYTES]
            yield _Seen(sectors, np.full(len(sectors), row[PC] & PCS))


def _distinct(each: Iterable[_Seen]) -> _Seen:
    keys = np.sort(np.concatenate([some.sector << MARK | some.pc for some in each]))
    keys = keys[np.diff(keys, prepend=-1) != 0]
    return _Seen(keys >> MARK, keys & PCS)
