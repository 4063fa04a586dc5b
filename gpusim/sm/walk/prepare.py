"""When a warp may issue next: the release times of its next instruction, asked of every unit that knows one."""

from __future__ import annotations

from gpusim.sm.effects import groups
from gpusim.sm.front import warp_exit
from gpusim.sm.front.barrier import barrier
from gpusim.sm.front.warp_scheduler import warp_scheduler
from gpusim.sm.jit.rule import NEVER, rule
from gpusim.sm.jit.vectors import later
from gpusim.sm.records import Sm, Warp
from gpusim.sm.registers import questions
from gpusim.sm.registers.control_code import control_code
from gpusim.sm.registers.register_file import register_file
from gpusim.sm.registers.scoreboard import scoreboard
from gpusim.sm.registers.wait_count import wait_count
from gpusim.sm.unit.opcodes import EXIT
from gpusim.sm.unit.stall import Stall
from isa.row import DRAINS, WAITS

DRAIN = int(Stall.DRAIN)


@rule
def prepare(sm: Sm, warp: Warp) -> None:
    """Work out the release times of the warp's next instruction, as far as they are known."""
    instruction = sm.program[warp.pc]
    warp.unit = instruction.unit
    if sm.machine.obeys_codes:
        control_code.earliest(warp, instruction)
    else:
        scoreboard.earliest(warp, instruction)
    if sm.machine.counts:
        wait_count.earliest(warp, instruction)
    if sm.machine.barrier_defers:
        barrier.earliest(warp, instruction)
    if instruction.grouping & (WAITS | DRAINS):
        groups.earliest(warp, instruction)
    if sm.machine.register_banks:
        register_file.prepare(sm, warp, instruction)
    warp.release_at[DRAIN] = 0
    if instruction.action == EXIT or instruction.fence:
        warp.release_at[DRAIN] = warp_exit.earliest(sm, warp, instruction.action == EXIT)
        if sm.ahead.on and warp.pending > 0:
            questions.drain(sm, warp)


@rule
def wake(sm: Sm, g: int) -> None:
    """Let warp slot g compute when it can go on, if that was unknown."""
    if later(sm.warps[g].release_at, NEVER - 1):
        prepare(sm, sm.warps[g])
        warp_scheduler.wake(sm, g)
