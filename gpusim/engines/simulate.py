"""Run a kernel on one SM of a machine with either engine, and collect what came out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusim.feed import AFFINE, EXECUTION, REPLAY, recordable
from gpusim.launch import Launch, launch
from gpusim.machine import Machine
from gpusim.occupancy import Occupancy
from gpusim.recurrence import recurrence
from gpusim.state import NEVER
from isa import faults
from isa.errors import DeadlockError, LimitError, UserError
from isa.kernel import Kernel

ENGINES = ("compiled", "reference")
SLICE = 1 << 20  # cycles between two looks at the clock
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class SmRun:
    """What one SM did. Cycles are of the machine's fastest clock; arrays are indexed by pc unless said otherwise.

    `stalls[pc, reason]` counts warp-cycles, `lost[scheduler, reason]` cycles of unused issue slots; with `empty`, the
    warp-cycles of slots without a block, `stalls` adds up to `cycles * warp_slots`.
    """

    cycles: int
    blocks: int
    warp_slots: int
    interval: int
    issued: NDArray[np.int64]
    active: NDArray[np.int64]
    load_store_cycles: NDArray[np.int64]
    stalls: NDArray[np.int64]
    empty: int
    lost: NDArray[np.int64]
    pipe_cycles: dict[str, int]
    memory: NDArray[np.uint32]
    registers: NDArray[np.uint32]
    trace: Any
    occupancy: Occupancy
    engine: str
    feed: str
    skipped: int  # cycles taken at once
    events: int

    @property
    def warp_instructions(self) -> int:
        """Warp instructions issued, those whose guard was false included."""
        return int(self.issued.sum())


def run_sm(
    kernel: Kernel,
    machine: Machine,
    *,
    engine: str = "compiled",
    feed: str = EXECUTION,
    fast_forward: bool = True,
    blocks: int | None = None,
    max_cycles: int = NEVER,
    trace: bool = False,
    memory: NDArray[np.uint32] | None = None,
    progress: Progress | None = None,
) -> SmRun:
    """Simulate the SM that gets the most blocks of the grid, or its first `blocks` ones.

    `feed`: one of gpusim.feed.FEEDS; replay becomes affine where nothing can be recorded. `fast_forward`: take periods
    at once where the compiled engine replays. `memory`: global memory to start from. `progress(blocks done, blocks in
    all)` is called now and then. Raises UserError where kernel and machine don't fit, ExecutionError at a fault,
    DeadlockError, and LimitError beyond `max_cycles`.
    """
    run = partial(_run, kernel, machine, engine, max_cycles, progress, blocks=blocks, trace=trace, memory=memory)
    if feed == REPLAY and recordable(kernel):
        try:
            return run(feed=feed, fast_forward=fast_forward and engine == "compiled")
        except _UnrecordedError:
            pass
    return run(feed=AFFINE if feed == REPLAY else feed)


class _UnrecordedError(Exception):
    """The SM met what it could not record, a fault perhaps, which then comes up in its own time."""


def _run(
    kernel: Kernel, machine: Machine, engine: str, max_cycles: int, progress: Progress | None, **how: Any
) -> SmRun:
    prepared = launch(kernel, machine, **how)
    chunks: list[Any] = []
    advance, events = _engine(engine, kernel, prepared, max_cycles)
    total = -(-int(prepared.sm.launch.end) // int(prepared.sm.launch.stride))
    now = 0
    while now < NEVER:
        now = advance(min(now + SLICE, max_cycles + 1))
        if prepared.sm.tracing:
            chunks.append(_drain(prepared))
        _check(kernel, prepared, now, max_cycles)
        if progress:
            progress(_done(prepared), total)
    _close(prepared)
    trace = np.concatenate(chunks) if chunks else prepared.sm.records[:0]
    return _result(kernel, machine, prepared, trace, engine, how["feed"], events())


def _engine(
    name: str, kernel: Kernel, prepared: Launch, max_cycles: int
) -> tuple[Callable[[int], int], Callable[[], int]]:
    """How to advance to a cycle, and how many events that has taken so far."""
    if name == "reference":
        from gpusim.engines import reference  # noqa: PLC0415  (heavy imports only when simulating)

        agents = reference.start(prepared)
        return lambda until: reference.run(agents, until), lambda: agents.events
    if name == "compiled":
        from gpusim.engines import compiled  # noqa: PLC0415

        roles = recurrence(prepared.sms, len(prepared.program), kernel.program.registers)
        limit = max_cycles + 1
        return lambda until: int(compiled.run(prepared.sms, prepared.memory, roles, until, limit)), lambda: 0
    raise UserError(f"unknown engine {name}; choose one of {', '.join(ENGINES)}")


def _done(prepared: Launch) -> int:
    """Blocks that have left the SM."""
    return int(prepared.sm.placed) - sum(bool(block.state) for block in prepared.sm.blocks)


def _drain(prepared: Launch) -> Any:
    """Take the trace records so far away."""
    count = int(prepared.sm.traced)
    prepared.sm.traced = 0
    return prepared.sm.records[:count].copy()


def _close(prepared: Launch) -> None:
    from gpusim.engines.compiled import close  # noqa: PLC0415

    close(prepared.sms)


def _check(kernel: Kernel, prepared: Launch, now: int, max_cycles: int) -> None:
    sm = prepared.sm
    if sm.fault.code and sm.replaying:
        raise _UnrecordedError
    if sm.fault.code:
        raise _fault(kernel, prepared)
    if now >= NEVER and any(block.state for block in sm.blocks):
        raise _deadlock(kernel, prepared)
    if max_cycles < now < NEVER:
        raise LimitError(
            f"{kernel.name}: still running after {max_cycles} cycles with {sm.placed} blocks placed; "
            "check its loops' end conditions, or raise --max-cycles"
        )


def _fault(kernel: Kernel, prepared: Launch) -> UserError:
    from gpusim.rules import barrier, memory_access, values  # noqa: PLC0415

    fault, sm = prepared.sm.fault, prepared.sm
    warp = sm.warps[fault.warp]
    block, index, pc = int(sm.blocks[warp.block].id), int(warp.index), int(fault.pc)
    if fault.code == values.DIVERGENT:
        lanes, active = int(warp.lanes).bit_count(), int(sm.outcome.active).bit_count()
        return faults.divergence(kernel, pc, block, index, true_lanes=active, live_lanes=lanes)
    if fault.code == barrier.MISCOUNTED:
        row = prepared.program[pc]
        expected = int(sm.blocks[warp.block].barriers[int(row.barrier)].expected)
        return faults.barrier_count(kernel, pc, block, index, expected=expected, given=int(row.arrivals))
    tell = faults.misaligned if fault.code == memory_access.MISALIGNED else faults.out_of_bounds
    return tell(kernel, pc, block, index, lane=int(fault.lane), address=int(fault.address))


def _deadlock(kernel: Kernel, prepared: Launch) -> DeadlockError:
    """Name the first block that can't go on, and who waits where in it."""
    sm = prepared.sm
    slot = next(s for s, block in enumerate(sm.blocks) if block.state)
    waiting: dict[int, list[tuple[int, int]]] = {}
    needed: dict[int, int] = {}
    for g in range(slot * kernel.warps, (slot + 1) * kernel.warps):
        warp = sm.warps[g]
        if warp.live:
            row = prepared.program[int(warp.pc) - 1]
            waiting.setdefault(int(row.barrier), []).append((int(warp.index), int(warp.pc) - 1))
            needed[int(row.barrier)] = int(row.arrivals)
    return faults.deadlock(kernel, int(sm.blocks[slot].id), waiting, needed)


def _result(
    kernel: Kernel, machine: Machine, prepared: Launch, trace: Any, engine: str, feed: str, events: int
) -> SmRun:
    sm, program, schedulers = prepared.sm, prepared.program, machine.schedulers.count
    return SmRun(
        cycles=int(sm.cycles),
        blocks=int(sm.placed),
        warp_slots=int(sm.warp_slots),
        interval=machine.schedulers.interval,
        issued=np.array(program.issued),
        active=np.array(program.active),
        load_store_cycles=np.array(program.passes),
        stalls=np.array(program.stall),
        empty=int(sm.empty),
        lost=np.array(sm.schedulers["lost"][:schedulers]),
        pipe_cycles={name: int(sm.pipes["busy"][:, i].sum()) for i, name in enumerate(machine.pipe)},
        memory=prepared.memory[: prepared.global_words],
        registers=np.array(sm.lanes["registers"][: int(sm.warp_slots), : kernel.program.registers]),
        trace=trace.view(np.recarray),
        occupancy=prepared.occupancy,
        engine=engine,
        feed=feed,
        skipped=int(sm.skipped),
        events=events,
    )
