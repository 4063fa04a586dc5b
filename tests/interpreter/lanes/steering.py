"""Run control flow of warps whose lanes are independent, warp by warp (interpreter.lanes.independent has the steps)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from interpreter import block_barriers
from interpreter.frame import Frame, Group
from interpreter.lanes import convergence, independent
from interpreter.plan import Plan, Progress, alive, free
from isa.executing import faults


def is_whole(plan: Plan, group: Group, lanes: NDArray[np.bool_], pc: int) -> bool:
    """Tell whether a branch with one target is taken by all lanes of each warp or by none, by its guard alone."""
    instruction = plan.kernel.program.instructions[pc]
    if instruction.row.is_indirect or instruction.gates() or instruction.row.mnemonic in independent.ASKS:
        return False
    held = np.count_nonzero(lanes, axis=1)
    return bool(((held == 0) | (held == np.count_nonzero(group.live, axis=1))).all())


def steer(plan: Plan, frame: Frame, progress: Progress, group: Group, lanes: NDArray[np.bool_], pc: int) -> None:
    """Execute control flow of independent lanes, warp by warp."""
    instruction = plan.kernel.program.instructions[pc]
    for warp, mask in zip(group.members, independent.masks(lanes).tolist(), strict=True):
        groups = progress.warps.groups[warp]
        groups.pc, running = pc + 1, groups.lanes
        held = independent.holds(instruction, independent.Here(frame, warp, groups, mask))
        asks = instruction.row.mnemonic in independent.ASKS  # whether it branches says nothing of its guard
        frame.active[pc] += (mask if asks else held).bit_count()
        if held:
            _step(plan, independent.Here(frame, warp, groups, held), pc)
        if held and instruction.row.mnemonic in independent.GIVE_WAY:
            progress.warps.away.add(warp)
        _follow(plan, frame, progress, warp, running)


def _step(plan: Plan, here: independent.Here, pc: int) -> None:
    try:
        plan.steps[pc](here)
    except convergence.StuckError:
        waiting = convergence.waiting_at(here.groups)
        raise faults.stuck(plan.kernel, pc, here.frame.block, here.warp, waiting) from None


def _follow(plan: Plan, frame: Frame, progress: Progress, warp: int, running: int) -> None:
    """Let a warp go on with its group that runs now, in the place of `running` lanes; it is done if there is none."""
    groups = progress.warps.groups[warp]
    progress.pcs[warp] = groups.pc
    if groups.lanes and groups.lanes != running:
        frame.live[warp] = independent.lanes_of(groups.lanes)
        progress.groups.clear()
    elif not groups.lanes:
        progress.running.remove(warp)
        for done in block_barriers.leave(frame, progress.barriers, alive(progress)):
            free(plan, progress, done.waiting, done.members)


def end(plan: Plan, frame: Frame, progress: Progress, group: Group) -> None:
    """Let warps exit that run off the end."""
    if not plan.steps:
        progress.running = [w for w in progress.running if w not in group.members]
        return
    for warp in group.members:
        groups = progress.warps.groups[warp]
        running = groups.lanes
        convergence.leave(groups, running)
        _follow(plan, frame, progress, warp, running)
