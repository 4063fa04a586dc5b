"""Interpret a kernel in program order between barriers: its results are the numerical reference.

Blocks run one after another. Inside a block the runnable warps with the smallest pc run together, one NumPy operation
on (warps, lanes) per instruction, until a branch, a barrier or the pc of other
warps. Running off the end exits. A warp arrives at a barrier as a whole if the guard holds in any of its lanes;
barriers count warps, exited ones never. If its lanes diverge, a warp executes one path after the other
(`interpreter.lanes.simt_stack`), up to the reconvergence point of `isa.dataflow.lanes.divergence`. Lanes that are
independent meet as in `interpreter.lanes.convergence`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from interpreter import block_barriers, steps
from interpreter.block_barriers import Arrival
from interpreter.frame import Frame, Group, group_of, new_frame
from interpreter.lanes import independent, simt_stack
from interpreter.lanes.simt_stack import StackEntry
from interpreter.lanes.steering import end, is_whole, steer
from interpreter.plan import NO_WARPS, Plan, Progress, Visit, alive, free, move
from interpreter.steps import Observe, Scope
from isa import memory
from isa.executing import faults
from isa.executing.beyond import Beyond, joined
from isa.kernel import Kernel
from isa.operands.operand import Label
from isa.row import Row, Unit
from isa.support import frozen

LIMIT = 100_000_000  # warp instructions of a block: some sixty times a 4800-deep matrix product


@frozen.comparable
@dataclass(frozen=True)
class Interpretation:
    """The state after the run."""

    memory: NDArray[np.uint32]  # global memory, 32-bit words
    counts: NDArray[np.int64]  # [pc] warp instructions, those whose guard was false included: they issue too
    active: NDArray[np.int64]  # [pc] thread instructions whose guard was true
    registers: NDArray[np.uint32]  # [register, warp, lane] of the last block
    predicates: NDArray[np.bool_]  # [predicate, warp, lane] of the last block, PT the last
    beyond: Beyond | None  # loads behind buffers


def interpret(
    kernel: Kernel,
    blocks: Iterable[int] | None = None,
    observe: Observe | None = None,
    evaluate: NDArray[np.bool_] | None = None,
    *,
    started: Callable[[int], None] | None = None,
    released: Callable[[NDArray[np.int64]], None] | None = None,
    limit: int = LIMIT,
    left: NDArray[np.uint32] | None = None,
) -> Interpretation:
    """Run `blocks` (None: all, in order) and return the memory and registers that they leave.

    `observe(pc, warps[W], addresses[W, lanes], active[W, lanes])` is called for each memory instruction; it must not
    change the arrays, and the byte addresses of inactive lanes are meaningless. The same array object comes again while
    an unguarded instruction's base register is unwritten. `started(block)` is called for each block, `released(warps)`
    for each barrier release. Instructions that `evaluate` marks False are counted, not computed. The blocks
    begin with the memory that others have `left` (None: with what buffers hold before the launch).

    Raises ExecutionError for a bad address or an undefined name; DeadlockError; LimitError after `limit` warp
    instructions in one block.
    """
    words = memory.image(kernel) if left is None else left.copy()
    plan = _plan(kernel, observe, evaluate, released, limit)
    counts, active = (np.zeros(len(kernel.program), np.int64) for _ in range(2))
    frame, seen = None, list[Beyond]()
    with np.errstate(all="ignore"):
        for block in range(kernel.blocks) if blocks is None else blocks:
            if started is not None:
                started(block)
            frame = new_frame(kernel, block, words, counts, active, seen)
            _run(plan, frame)
    frame = frame or new_frame(kernel, 0, words, counts, active, seen)
    return Interpretation(words, counts, active, frame.registers, frame.predicates, joined(seen))


def _plan(
    kernel: Kernel,
    observe: Observe | None,
    evaluate: NDArray[np.bool_] | None,
    released: Callable[[NDArray[np.int64]], None] | None,
    limit: int,
) -> Plan:
    instructions, length = kernel.program.instructions, len(kernel.program)
    constants = memory.constants(kernel)
    guards = {pc: steps.guard(i.guard) for pc, i in enumerate(instructions)}
    apart = kernel.program.has_independent_lanes
    control = [pc for pc, i in enumerate(instructions) if _transfers(i.row) or (apart and i.row.steers)]
    ways = [pc for pc in control if apart and instructions[pc].row.unit is not Unit.BARRIER]
    actions = {
        pc: steps.action(Scope(kernel, pc, constants, observe), evaluate is None or bool(evaluate[pc]))
        for pc in sorted(guards.keys() - set(control))
    }
    visits = [Visit(pc, guards[pc], act) for pc, act in actions.items() if act or guards[pc]]
    places = [v.pc for v in visits]
    return Plan(
        kernel=kernel,
        visits=visits,
        first=[bisect_left(places, pc) for pc in range(length + 1)],
        stops=[(*control, length)[bisect_left(control, pc)] for pc in range(length + 1)],
        guards=guards,
        steps={pc: independent.step(kernel, pc) for pc in ways},
        released=released,
        limit=limit,
    )


def _transfers(row: Row) -> bool:
    """Tell whether a warp may continue elsewhere, or wait."""
    return row.unit is Unit.BARRIER or row.is_branch or row.is_exit


def _run(plan: Plan, frame: Frame) -> None:
    """Run one block until every warp has exited."""
    warps = plan.kernel.warps
    progress = Progress([0] * warps, list(range(warps)), independent.begin(frame) if plan.steps else NO_WARPS)
    while progress.running:
        group, start, meet = _lowest(frame, progress)
        stop = min(plan.stops[start], meet)
        _straight(plan, frame, group, start, stop)
        progress.issued += len(group.members) * (stop - start + 1)
        if progress.issued > plan.limit:
            raise faults.endless(plan.kernel, frame.block, plan.limit, start)
        move(progress, group.members, stop)
        if stop < meet:
            _transfer(plan, frame, progress, group, stop)
        _meet(frame, progress, group.members)
    if progress.barriers and (who := block_barriers.stuck(progress.barriers, progress.pcs)):
        needed = {number: barrier.needed or plan.kernel.warps for number, barrier in progress.barriers.items()}
        raise faults.deadlock(plan.kernel, frame.block, who, needed)


def _lowest(frame: Frame, progress: Progress) -> tuple[Group, int, int]:
    """Return the warps with the smallest pc, that pc, and the next larger pc of the others."""
    pcs = progress.pcs
    start = min(pcs[w] for w in _awake(progress))
    members = tuple(w for w in progress.running if pcs[w] == start)
    meet = min((pcs[w] for w in progress.running if pcs[w] > start), default=1 << 62)
    if progress.diverged:
        points = (progress.diverged[w][-1].reconvergence for w in members if w in progress.diverged)
        meet = min([meet, *(point for point in points if point is not None and point > start)])
    group = progress.groups.get(members)
    if group is None:
        group = progress.groups[members] = group_of(frame, members)
    return group, start, meet


def _awake(progress: Progress) -> list[int]:
    """Return the warps that may run: those that have yielded only if no other can."""
    away = progress.warps.away
    if not away:
        return progress.running
    awake = [w for w in progress.running if w not in away]
    if not awake:
        away.clear()
    return awake or progress.running


def _straight(plan: Plan, frame: Frame, group: Group, start: int, stop: int) -> None:
    """Execute instructions start to stop - 1, none of which transfers control."""
    frame.counts[start:stop] += len(group.members)
    frame.active[start:stop] += group.lanes
    for visit in plan.visits[plan.first[start] : plan.first[stop]]:
        mask = group.mask
        if visit.guard is not None:
            mask = visit.guard(frame, group)
            frame.active[visit.pc] += np.count_nonzero(mask) - group.lanes
        if visit.action is not None:
            visit.action(frame, group, mask)


def _transfer(plan: Plan, frame: Frame, progress: Progress, group: Group, pc: int) -> None:
    """Execute the branch, exit or barrier at pc, or the end of the program, for the group."""
    if pc == len(plan.kernel.program):
        end(plan, frame, progress, group)
        return
    guard = plan.guards[pc]
    lanes: NDArray[np.bool_] = group.live if guard is None else guard(frame, group)
    frame.counts[pc] += len(group.members)
    move(progress, group.members, pc + 1)
    row = plan.kernel.program.instructions[pc].row
    if pc in plan.steps and not (row.is_branch and is_whole(plan, group, lanes, pc)):
        steer(plan, frame, progress, group, lanes, pc)
        return
    frame.active[pc] += np.count_nonzero(lanes)
    if row.unit is Unit.BARRIER:
        _arrive(plan, frame, progress, group, lanes, pc)
    elif row.is_exit:
        _exit(frame, progress, group, lanes)
    else:
        _branch(plan, frame, progress, group, lanes, pc)


def _branch(plan: Plan, frame: Frame, progress: Progress, group: Group, lanes: NDArray[np.bool_], pc: int) -> None:
    """Move the warps that branch, or let their lanes diverge."""
    held, target = np.count_nonzero(lanes, axis=1), _target(plan.kernel, pc)
    whole = held == np.count_nonzero(group.live, axis=1)
    taken = [int(w) for w in group.warps[whole & (held != 0)]]
    move(progress, taken, target)
    for row in np.flatnonzero(~whole & (held != 0)):
        here = _stack(frame, progress, group.members[row], pc)
        here[-1:] = simt_stack.diverge(here[-1], lanes[row], target, plan.reconvergence_points[pc])
        _take_up(frame, progress, group.members[row], here)


def _exit(frame: Frame, progress: Progress, group: Group, lanes: NDArray[np.bool_]) -> None:
    """Let lanes exit; a warp is done when no lane is left on any path."""
    for row in np.flatnonzero(lanes.any(axis=1)):
        warp = group.members[row]
        left = simt_stack.without(_stack(frame, progress, warp, progress.pcs[warp]), lanes[row])
        if left:
            _take_up(frame, progress, warp, left)
        else:
            progress.running.remove(warp)
            progress.diverged.pop(warp, None)


def _meet(frame: Frame, progress: Progress, members: Iterable[int]) -> None:
    """Let lanes at their reconvergence point wait for others, and the next path run."""
    for warp in members:
        if warp in progress.diverged and progress.pcs[warp] == progress.diverged[warp][-1].reconvergence:
            _take_up(frame, progress, warp, progress.diverged[warp][:-1])


def _stack(frame: Frame, progress: Progress, warp: int, pc: int) -> list[StackEntry]:
    """Return the paths of a warp at pc."""
    here = progress.diverged.get(warp, [StackEntry(pc, frame.live[warp].copy())])
    return [*here[:-1], replace(here[-1], pc=pc)]


def _take_up(frame: Frame, progress: Progress, warp: int, waiting: Sequence[StackEntry]) -> None:
    """Run the last of the paths that has not reached its reconvergence point."""
    left = list(waiting)
    while left[-1].pc == left[-1].reconvergence:
        left.pop()
    progress.diverged[warp] = left
    if len(left) == 1:
        del progress.diverged[warp]
    progress.pcs[warp], frame.live[warp] = left[-1].pc, left[-1].lanes
    progress.groups.clear()


def _target(kernel: Kernel, pc: int) -> int:
    label = kernel.program.instructions[pc].operands[0]
    assert isinstance(label, Label)
    return kernel.program.labels[label.name]


def _arrive(plan: Plan, frame: Frame, progress: Progress, group: Group, lanes: NDArray[np.bool_], pc: int) -> None:
    """Let each warp in turn wait at the barrier, whole; the last one needed releases all that wait there."""
    for row in np.flatnonzero(lanes.any(axis=1)):
        warp = group.members[row]
        arrival = Arrival(pc, warp, lanes[row])
        done = block_barriers.arrive(plan.kernel, frame, progress.barriers, arrival, alive(progress))
        if not block_barriers.passes(plan.kernel, arrival):
            progress.running.remove(warp)
        if done:
            free(plan, progress, done.waiting, done.members)
