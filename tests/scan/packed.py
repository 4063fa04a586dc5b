"""Warps that pack their lanes, as a scan of every cycle sees them: they have time for a lane's way, and for memory."""

from __future__ import annotations

from collections.abc import Callable

from executed import execute, target
from neighbours import lifted

from gpusim.sm.unit.stall import Stall
from isa.row import Unit
from scan import parted, simt_stack
from scan.state import Scan, Warp

MEMORY = {Unit.SHARED, Unit.GLOBAL, Unit.LOCAL, Unit.CONSTANT, Unit.TEXTURE, Unit.SMEM}
OTHERS = {Unit.BARRIER, Unit.SYNC, Unit.TENSOR, Unit.WARPGROUP}
OF_LANES = {"none", "branch", "expect", "meet", "take away"}
FOR_MEMORY = {Stall.LONG_SCOREBOARD, Stall.SHORT_SCOREBOARD}


def packs(sm: Scan) -> bool:
    """Whether warps pack their lanes."""
    return lifted(sm.machine, "divergence", "packed")


def begin(sm: Scan, warp: Warp) -> None:
    """Choose the lane whose way the warp has time for."""
    count, size = sm.machine.schedulers.count, sm.kernel.warp_size
    threads = min(size, sm.kernel.threads - size * warp.index)
    warp.leads = (warp.age // count + warp.age % count) * (threads // 2 + 1) % threads


def pass_over(sm: Scan, warp: Warp, waits: Callable[[Scan, Warp, int], set[Stall]], now: int) -> None:
    """Go on to what the chosen lane does, or to an access to memory, or to what waits for one."""
    while not warp.exited and not warp.frame.live[warp.index][warp.leads] and _harmless(sm, warp.pc):
        if FOR_MEMORY & waits(sm, warp, now):
            return
        _execute(sm, warp)


def _harmless(sm: Scan, pc: int) -> bool:
    """Whether an instruction touches no memory, no other warp and no clock."""
    if pc == len(sm.kernel.program):
        return False
    instruction = sm.kernel.program.instructions[pc]
    row = instruction.row
    return row.unit not in MEMORY | OTHERS and row.flow in OF_LANES and not (row.grouping or instruction.reads_clock())


def _execute(sm: Scan, warp: Warp) -> None:
    """Let the lanes that run execute the next instruction, which takes no time."""
    kernel, pc = sm.kernel, warp.pc
    active, _ = execute(kernel, warp.frame, warp.group, pc)
    if parted.steers(kernel.program, pc):
        parted.move(kernel, warp, active)
    else:
        branch = kernel.program.instructions[pc].row.is_branch
        simt_stack.move(kernel.program, warp, pc, active, target(kernel, pc) if branch else pc + 1)
