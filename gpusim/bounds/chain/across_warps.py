"""The dependence chain over the warps of a block that wait for each other at barriers in shared memory.

The first block is followed in program order, and each of its warps has a clock that only certain waits move: its own
stall counts and dependency barriers, the release of a block's barrier by its last warp, the end of a phase in shared
memory by the arrivals and copies that it counts, and products of its warpgroup. Everything else adds time. Who ends a
phase does not depend on the order of warps in a program without races.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from gpusim.bounds.chain.chain import Code
from gpusim.sm.memory.cache.declaration import SHARE_PARTS
from gpusim.sm.pipes.warpgroup.declaration import WARPS
from gpusim.sm.registers.control_code import control_code
from gpusim.sm.unit.capacities import UNITS_OF_MEMORY
from gpusim.sm.unit.opcodes import BARRIER, BRANCH
from gpusim.sm.walk.marks import ASKED, AWAITING, FLIPPED, NO_BARRIER, NOTED, PASSED, SIGNALLED
from isa.errors import UserError
from isa.instruction import Instruction
from isa.kernel import Kernel
from isa.memory import LINE_BYTES, SECTOR_BYTES
from isa.nvidia.control import BARRIERS
from isa.row import WAITS, Bulk, Groups, Signal

LIMIT = 100_000  # warp instructions of a block up to which it is followed
MARKS = {Signal.BEGIN: SIGNALLED, Signal.ARRIVE: SIGNALLED, Signal.FOLLOW: SIGNALLED, Signal.AWAIT: PASSED}
Words = NDArray[np.uint32]
Active = NDArray[np.bool_]


@dataclass(slots=True)
class _Clock:
    """Of a warp: when it issued last, may next, is let go by a block's barrier, and when each of its barriers is.

    `units`: when each part of the load/store unit has served its own accesses.
    """

    pc: int = -1
    issued: int = 0
    next: int = 0
    released: int = 0
    ready: list[int] = field(default_factory=lambda: [0] * BARRIERS)
    units: list[int] = field(default_factory=lambda: [0] * UNITS_OF_MEMORY)


@dataclass(frozen=True, slots=True)
class _Block:
    """The clocks of a block's warps, when the products of each warpgroup end, and phases by barrier.

    `known`: the least time at which the phase under way may end, `ended`: that of the last one, `waiting`: who waits.
    """

    code: Code
    instructions: tuple[Instruction, ...]
    clocks: list[_Clock]
    products: list[int]
    known: dict[int, int] = field(default_factory=dict)
    ended: dict[int, int] = field(default_factory=dict)
    waiting: dict[int, list[tuple[int, int]]] = field(default_factory=dict)


def waits_for_phases(kernel: Kernel) -> bool:
    """Tell whether warps of a kernel wait for phases, and its blocks for no others."""
    return kernel.cluster_blocks == 1 and any(one.row.signal is Signal.AWAIT for one in kernel.program.instructions)


def cycles_of_block(kernel: Kernel, code: Code) -> int:
    """Return the least cycles of the first block with an SM to itself; 0 if it is long, or does not end by itself."""
    from gpusim.engines.walks.program_order import walk  # noqa: PLC0415  (--help waits for no compiler)

    machine = code.machine
    if not machine.obeys_codes or machine.ports > 1:
        return 0
    block = _Block(
        code,
        kernel.program.instructions,
        [_Clock() for _ in range(kernel.warps)],
        [0] * -(-kernel.warps // WARPS),
    )
    wanted = np.array([_mark(one) for one in kernel.program.instructions] + [0], np.int64)
    see, free = partial(_see, block), partial(_free, block)
    try:
        walk(kernel, (0,), _ignore, addresses=True, released=free, marked=see, wanted=wanted, limit=LIMIT)
    except UserError:
        return 0
    return max(clock.issued for clock in block.clocks) + int(machine.interval)


def _mark(one: Instruction) -> int:
    """Return how an instruction is noted: each is, at least as executed."""
    return ASKED if one.row.bulk is Bulk.LOAD else MARKS.get(one.row.signal, NOTED)


def _ignore(*_: object) -> None:
    """Accesses to memory are noted as instructions."""


def _see(block: _Block, mark: int, pc: int, warps: NDArray[np.int64], words: Words, active: Active) -> None:
    """See an instruction of some warps, or phases that have ended."""
    if mark == FLIPPED:
        for barrier in words[:, 0].tolist():
            _flip(block, barrier)
        return
    for warp, row, lanes in zip(warps.tolist(), words, active, strict=True):
        _issue(block, warp, pc, does=bool(lanes.any()))
        if mark == ASKED:
            _ask(block, warp, int(row[0]), int(row[5]))
        elif mark == SIGNALLED:
            _signal(block, warp, pc, np.unique(row[lanes]).tolist())
        elif mark in (PASSED, AWAITING):
            _wait(block, warp, pc, np.unique(row[lanes]).tolist(), later=mark == AWAITING)


def _issue(block: _Block, warp: int, pc: int, *, does: bool) -> None:
    """Let a warp issue an instruction, which does something or not."""
    row, control, clock = block.code.rows[pc], block.instructions[pc].control, block.clocks[warp]
    machine = block.code.machine
    at = max(clock.next, clock.released if row.stays_behind else 0)
    if block.code.rows[clock.pc].action == BRANCH and pc != clock.pc + 1:
        at = max(at, clock.issued + int(machine.branch))
    if control:
        at = max([at, *(clock.ready[b] for b in range(BARRIERS) if control.waits >> b & 1)])
    if row.grouping & WAITS and row.groups == Groups.MATRIX and not row.open_groups:
        at = max(at, block.products[warp // WARPS])
    clock.pc, clock.issued = pc, at
    clock.next = at + max(int(machine.issue_interval), control_code.stall_of(machine, row))
    if control and does:
        _hold(block.code, clock, pc, control.write_barrier, control.read_barrier)
    if row.columns and warp % WARPS == 0:
        cycles = -(-int(row.columns) // int(machine.product_columns))
        block.products[warp // WARPS] = max(block.products[warp // WARPS], at) + cycles


def _hold(code: Code, clock: _Clock, pc: int, write: int | None, read: int | None) -> None:
    """Let an instruction hold its dependency barriers at least until its result is there, and its sources are read."""
    row, cost, served = code.rows[pc], code.costs.get(pc), clock.issued
    if cost:
        path = int(row.path)
        served = max(served, clock.units[path])
        clock.units[path] = served + cost.shortest
    if write is not None:
        clock.ready[write] = max(clock.ready[write], served + (cost.delay if cost else int(row.latency)))
    if read is not None and cost:
        clock.ready[read] = max(clock.ready[read], served + cost.hold)


def _free(block: _Block, warps: NDArray[np.int64]) -> None:
    """A block's barrier lets its warps go: those that wait there, when the last one has come."""
    machine, clocks = block.code.machine, [block.clocks[warp] for warp in warps.tolist()]
    come = max(clock.issued for clock in clocks) + machine.per_arrival
    free = int(come + max(1, machine.barrier) + machine.per_warp)
    for clock in clocks:
        row = block.code.rows[clock.pc]
        if row.action != BARRIER or row.goes_on or machine.barriers_pass:
            continue
        if machine.barrier_defers:
            clock.released = free
        else:
            clock.next = max(clock.next, free)


def _ask(block: _Block, warp: int, barrier: int, size: int) -> None:
    """A copy is asked for: its last byte comes at the earliest behind the way's time for those before it."""
    if barrier != NO_BARRIER:
        machine = block.code.machine
        behind = max(0, size - LINE_BYTES) // SECTOR_BYTES * int(machine.engine_load) // SHARE_PARTS
        comes = block.clocks[warp].issued + int(machine.engine_start) + least_latency(block.code) + behind
        block.known[barrier] = max(block.known.get(barrier, 0), comes)


def least_latency(code: Code) -> int:
    """Return the least cycles from a request of the copy engine until its bytes are there."""
    machine = code.machine
    return max(0, min(int(machine.engine_latency) - int(machine.slice_spread), int(machine.memory_latency)))


def _signal(block: _Block, warp: int, pc: int, barriers: Iterable[int]) -> None:
    """A warp begins barriers, or arrives at them."""
    for barrier in barriers:
        if block.instructions[pc].row.signal is Signal.BEGIN:
            block.known[barrier] = block.ended[barrier] = 0
        else:
            block.known[barrier] = max(block.known.get(barrier, 0), block.clocks[warp].issued)


def _wait(block: _Block, warp: int, pc: int, barriers: Iterable[int], *, later: bool) -> None:
    """A warp waits for phases that have ended, or will later."""
    control = block.instructions[pc].control
    write = control.write_barrier if control else None
    for barrier in barriers if write is not None else ():
        if later:
            block.waiting.setdefault(barrier, []).append((warp, write or 0))
        else:
            _answer(block, warp, write or 0, block.ended.get(barrier, 0))


def _answer(block: _Block, warp: int, write: int, ended: int) -> None:
    clock = block.clocks[warp]
    clock.ready[write] = max(clock.ready[write], ended)


def _flip(block: _Block, barrier: int) -> None:
    """A phase ends: when all that it counts has come."""
    ended = max(block.ended.get(barrier, 0), block.known.get(barrier, 0))
    block.ended[barrier] = block.known[barrier] = ended
    for warp, write in block.waiting.pop(barrier, ()):
        _answer(block, warp, write, ended)
