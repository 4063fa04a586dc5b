"""Blocks in program order, compiled, without time: what they leave in memory, execute and access.

No machine's number plays a part. `tests/interpreter` says the same in another way, apart from the rules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from gpusim.engines.sm_run import beyond_of
from gpusim.engines.walks.told_faults import cluster_deadlock, deadlock_of, fault_of
from gpusim.engines.walks.waits import one_block
from gpusim.engines.walks.waits import resident as among_resident
from gpusim.launch import undefined
from gpusim.launch.feed import ADDRESS_ONLY, EXECUTION_DRIVEN, evaluated
from gpusim.launch.launch import Launch, launch_together
from gpusim.machine import machine as model
from gpusim.machine.machine import Machine
from gpusim.machine.schema import PIPE_UNITS
from gpusim.sm.jit.on_demand import uninterrupted
from gpusim.sm.jit.rule import borrow, entry
from gpusim.sm.memory.copy_engine.declaration import CopyEngine
from gpusim.sm.memory.mbarrier import Mbarrier
from gpusim.sm.records import Memory, Numbers, Records, Sm, Table
from gpusim.sm.registers.scalar_registers import ScalarFile
from gpusim.sm.unit.capacities import BARRIERS, BLOCKS, REGISTERS, WARPS
from gpusim.sm.walk import access_log, program_order
from gpusim.sm.walk.access_log import ACTIVE, FIRST, PC, RELEASE, TURN, WARP, Log
from gpusim.sm.walk.marks import MARK
from isa.architecture import Target
from isa.errors import UserError
from isa.executing import clusters, faults
from isa.executing.beyond import Beyond, joined
from isa.executing.faults import LIMIT
from isa.kernel import Kernel
from isa.memory import Held
from isa.row import Unit

MANY = 1 << 30  # of what a machine has for blocks
Observe = Callable[[int, NDArray[np.int64], NDArray[np.uint32], NDArray[np.bool_]], None]
Released = Callable[[NDArray[np.int64]], None]
Started = Callable[[int], None]
Marked = Callable[[int, int, NDArray[np.int64], NDArray[np.uint32], NDArray[np.bool_]], None]
Rows = NDArray[np.uint32]
Tell = Callable[[Rows], None]
Counts = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]


@dataclass(frozen=True, eq=False)
class Walked:
    """The state after some blocks. Of a walk for addresses alone `memory` is what it needed of global memory."""

    memory: NDArray[np.uint32]  # global memory, 32-bit words
    counts: NDArray[np.int64]  # [pc] warp instructions, those whose guard was false included: they issue too
    active: NDArray[np.int64]  # [pc] thread instructions whose guard was true
    copied: NDArray[np.int64]  # [2, pc] bytes and pieces that the copy engine has asked for, or sent
    beyond: Beyond | None  # loads behind buffers


def walk(
    kernel: Kernel,
    blocks: Iterable[int] | None = None,
    observe: Observe | None = None,
    *,
    addresses: bool = False,
    started: Started | None = None,
    released: Released | None = None,
    marked: Marked | None = None,
    wanted: NDArray[np.int64] | None = None,
    limit: int = LIMIT,
    left: NDArray[np.uint32] | Held | None = None,
    resident: int | None = None,
    made: Callable[[Walker], None] | None = None,
) -> Walked:
    """Run `blocks` (None: all, in order) one after the other, on memory as others have `left` it (None: the launch's).

    A block that waits for others makes way, while at most `resident` have begun and not ended (None: as many as an H200
    holds); it comes back when what it asks for has changed. Where each block is told of when it starts it can't.

    Inside a block the warps with the smallest pc, of those that can run, execute one instruction each. For `addresses`
    alone only what addresses, guards and branches depend on is computed. `observe(pc, warps[W], addresses[W, lanes],
    active[W, lanes])` is called for accesses to memory: for those of one turn, in their order, if releases are wanted,
    else for several of one instruction, of one block, in any order. Byte addresses of inactive lanes mean nothing.
    `started(block)` is called for each block, `released(warps)` for each barrier release. `marked(mark, pc, warps,
    words, active)` is called, beside releases, for the instructions that are `wanted` (gpusim.sm.walk.marks).

    Clusters run whole, one after the other: each of `blocks` brings those of its cluster, `started` is called for the
    first of them, and warps are numbered through all. `started` and `released` are given with `marked` alone.

    `made` gets what runs the blocks before the first: its state is that of the blocks so far, also after a fault.

    Raises ExecutionError for a bad address or an undefined name; DeadlockError, also of blocks that wait for each other
    without end; LimitError after `limit` warp instructions in one block.
    """
    one = walker(kernel, left, addresses=addresses, again=False)
    if made is not None:
        made(one)
    lanes, most = (kernel.warp_size, access_log.MOST) if observe else (0, 0)
    log = access_log.room(lanes, most, wanted, kernel.cluster_blocks)
    tell = _in_turn(observe, released, marked) if observe and released else _together(observe) if observe else nothing
    if kernel.cluster_blocks > 1:
        if (started or released) and not marked:
            raise UserError(f"{kernel.name}: blocks of a cluster run together, and this looks at one after the other")
        for cluster in clusters.of_blocks(kernel, range(kernel.blocks) if blocks is None else blocks):
            if started is not None:
                started(clusters.block_of(kernel, cluster, 0))
            _run_cluster(one, cluster, log, limit, tell)
        return one.state()
    each = range(kernel.blocks) if blocks is None else blocks
    if started is None and released is None:
        first, then = (
            partial(one_block.started, one, log, limit, tell),
            partial(one_block.gone_on, one, log, limit, tell),
        )
        among_resident.walk(one, each, first, then, log, resident, limit)
        return one.state()
    for block in each:
        if started is not None:
            started(block)
        one_block.alone(one, block, log, limit, tell)
    return one.state()


@entry
def run_cluster(sms: Records[Sm], memory: Memory, away: Table, group: Numbers, log: Log, steps: int) -> int:
    """Run a cluster, a block in each SM, by turns for at least so many warp instructions or to its end; the same."""
    rows = access_log.borrowed(log)
    return program_order.proceed_together(borrow(sms), borrow(memory), borrow(away), borrow(group), rows, steps)


@dataclass(frozen=True, eq=False)
class Walker:
    """A launch whose blocks are run one by one; `start` is the memory that it began with, if blocks may change it.

    `each` are the launches of the blocks of a cluster, by rank, `sms` their SMs.
    """

    kernel: Kernel
    each: Sequence[Launch]
    sms: Records[Sm]
    start: NDArray[np.uint32] | None
    away: NDArray[np.int64]
    group: NDArray[np.int64]

    @property
    def launch(self) -> Launch:
        """The launch of the first of these blocks."""
        return self.each[0]

    def state(self) -> Walked:
        """Return what the blocks so far have left."""
        length, held = len(self.kernel.program), self.launch
        programs = [one.program[:length] for one in self.each]
        counts, active, *copied = (
            np.sum([one[name] for one in programs], axis=0) for name in ("issued", "active", "copied", "pieces")
        )
        beyond = joined(beyond_of(one.sm) for one in self.each)
        return Walked(held.memory[: held.global_words], counts, active, np.stack(copied), beyond)

    def again(self) -> None:
        """Forget the blocks so far, and a fault of theirs."""
        if self.start is not None:
            self.launch.memory[: len(self.start)] = self.start
        for one in self.each:
            one.sm.fault.code = 0
        for one in self.each:
            one.program.issued[:] = one.program.active[:] = one.program.copied[:] = one.program.pieces[:] = 0


def walker(
    kernel: Kernel,
    left: NDArray[np.uint32] | Held | None = None,
    *,
    addresses: bool = False,
    machine: Machine | None = None,
    again: bool = True,
    threads: int = 1,
) -> Walker:
    """Return what runs blocks of a launch, on memory as others have `left` it (None: as it is before the launch).

    Only with `again`, which takes as much memory once more, may it forget what blocks have done. It has a launch for
    each of so many `threads` (side_by_side.py).

    For `addresses` alone blocks leave nothing in memory. A `machine` on which the kernel fits changes nothing, but that
    its decoded program serves the walk, too. Raises UserError where the kernel is larger than
    records are, ExecutionError for what it names and the launch does not give.
    """
    feed = ADDRESS_ONLY if addresses else EXECUTION_DRIVEN
    undefined.check(kernel, evaluated(kernel, feed))
    where = machine or _fitting(kernel.warp_size, kernel.target, max(1, kernel.sms))
    sms, each = launch_together(kernel, where, memory=left, feed=feed, threads=threads)
    for prepared in each:
        sm = prepared.sm
        prepared.program.cached[:] = 0  # no cache is asked, and nothing waits
        sm.machine.fetch_cost = sm.machine.barrier_defers = sm.machine.barriers_pass = 0
        sm.launch.sms = kernel.sms
        sm.defers = False
        sm.launch.timeless = 1
    first = each[0]
    start = first.memory[: first.global_words].copy() if again and _writes(kernel, first) else None
    return Walker(kernel, each, sms, start, np.zeros((len(each), WARPS), np.int64), np.zeros(WARPS, np.int64))


def _writes(kernel: Kernel, held: Launch) -> bool:
    """Tell whether something that is computed changes global memory."""
    code, kept = kernel.program.instructions, {Unit.SHARED, Unit.LOCAL}
    computed = [code[pc].row for pc in np.flatnonzero(held.program.evaluate[: len(code)])]
    changes = [row for row in computed if row.is_store or row.update is not None or row.bulk]
    return any(not kernel.program.memories(row) <= kept for row in changes)


@lru_cache
def _fitting(lanes: int, target: Target | None, sms: int) -> Machine:
    """Return a machine of so many SMs that has room for every kernel of such warps, and pipes for each instruction."""
    base, replace = model.load("wide"), msgspec.structs.replace
    limits = replace(
        base.limits,
        warp_size=lanes,
        warps=WARPS,
        threads=MANY,
        blocks=BLOCKS,
        registers=MANY,
        registers_per_thread=REGISTERS,
        threads_per_block=MANY,
        block_z=MANY,
        shared_bytes=MANY,
        shared_per_block=MANY,
        barriers=BARRIERS,
    )
    units = {unit.value: base.unit["int"] for unit in PIPE_UNITS}
    named = str(target) if target else ""
    return replace(
        base,
        chip=replace(base.chip, sms=sms),
        limits=limits,
        unit=units,
        scalar_file=ScalarFile(MANY, 1, REGISTERS),
        mbarrier=Mbarrier(1, 1, 1, 0, 1, 0),
        copy_engine=CopyEngine(1, 1, 1, 1, 0, 0, 0, 0, 0, 0),
        architecture=named,
    )


def block_alone(one: Walker, block: int, limit: int, tell: Tell | None = None) -> Counts:
    """Return warp instructions, thread instructions and bytes of copies of one block, by pc, as it runs alone.

    A block of a cluster runs with the others: it is all of theirs then.

    `tell` gets the rows of what it accesses (gpusim.sm.walk.access_log), some at a time. Raises as `walk` does.
    """
    one.again()
    run_block(one, block, limit, tell)
    found = one.state()
    return found.counts, found.active, found.copied


def run_block(
    one: Walker, block: int, limit: int, tell: Tell | None = None, wanted: NDArray[np.int64] | None = None
) -> None:
    """Run one more block, otherwise as `block_alone`; raises InTurnError where it meets the words of another thread.

    `wanted`: of which instructions `tell` gets marked rows, too (gpusim.sm.walk.marks).
    """
    lanes = one.kernel.warp_size if tell else 0
    log = access_log.room(lanes, access_log.MOST if tell else 0, wanted, one.kernel.cluster_blocks)
    if one.kernel.cluster_blocks > 1:
        _run_cluster(one, clusters.of_block(one.kernel, block)[0], log, limit, tell or nothing)
    else:
        one_block.alone(one, block, log, limit, tell or nothing)


def nothing(_rows: Rows) -> None:
    """Tell nobody."""


def _run_cluster(one: Walker, cluster: int, log: Log, limit: int, tell: Tell) -> None:
    """Run the blocks of a cluster together to their end. Raises as `walk` does."""
    kernel, memory = one.kernel, one.launch.memory
    blocks = [clusters.block_of(kernel, cluster, rank) for rank in range(len(one.each))]
    for block, held, away in zip(blocks, one.each, one.away, strict=True):
        held.sm.launch.index = block % kernel.sms if kernel.sms else 0
        one_block.begin(held.sms, memory, away, block)
    log.members[:] = log.phases[:] = 0
    advance = uninterrupted(partial(run_cluster, one.sms, memory, one.away, one.group, log))
    if not one_block.to_end(advance, log, limit * len(blocks), tell):
        raise faults.endless(kernel, blocks[0], limit, one_block.next_instruction(one.launch.sm, kernel))
    for held in one.each:
        if held.sm.fault.code:
            raise fault_of(kernel, held)
    for held in one.each:
        if held.sm.blocks[0].live:
            raise cluster_deadlock(kernel, one.each) or deadlock_of(kernel, held)


def _together(observe: Observe) -> Tell:
    """Return what tells of all accesses of an instruction at once."""

    def tell(rows: Rows) -> None:
        rows = rows[rows[:, PC] != RELEASE]
        rows = rows[np.argsort(rows[:, PC], kind="stable")]
        warps, places, active = _columns(rows)
        for part in _parts(rows[:, PC]):
            observe(int(rows[part.start, PC]), warps[part], places[part], active[part])

    return tell


def _in_turn(observe: Observe, released: Released, marked: Marked | None) -> Tell:
    """Return what tells of each turn's accesses, of releases, and of groups of copies, in their order."""

    def tell(rows: Rows) -> None:
        releases = rows[:, PC] == RELEASE
        warps, places, active = _columns(rows.copy())
        for part in _parts(rows[:, TURN], rows[:, PC], np.cumsum(releases)):
            pc = int(rows[part.start, PC])
            if releases[part.start]:
                released(warps[part.start] + np.flatnonzero(bits(rows[part.start, ACTIVE:FIRST])))
            elif marked and pc >> MARK:
                marked(pc >> MARK, pc & (1 << MARK) - 1, warps[part], places[part], active[part])
            else:
                observe(pc, warps[part], places[part], active[part])

    return tell


def _parts(*columns: NDArray[Any]) -> Iterator[slice]:
    """Yield the runs of rows that have the same in all columns."""
    if len(columns[0]):
        changes = [np.diff(column.astype(np.int64)) != 0 for column in columns]
        begins = [0, *(np.flatnonzero(np.logical_or.reduce(changes)) + 1).tolist(), len(columns[0])]
        yield from map(slice, begins[:-1], begins[1:])


def _columns(rows: Rows) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.bool_]]:
    """Return the warps of rows, the addresses, and whether lanes are active."""
    return rows[:, WARP].astype(np.int64), rows[:, FIRST:], lanes_of(rows)


def lanes_of(rows: Rows) -> NDArray[np.bool_]:
    """Return [row, lane]: whether the lane is active."""
    return bits(rows[:, ACTIVE:FIRST])[:, : rows.shape[1] - FIRST]


def bits(words: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Return the bits of words, the lowest first, along the last axis."""
    return np.unpackbits(np.ascontiguousarray(words).view(np.uint8), axis=-1, bitorder="little").astype(np.bool_)
