"""Completion: an access has read its sources, or is done, and all who wait for that get the time.

They are the scoreboard or the dependency barriers of control codes, counts of accesses, groups of them, and effects.
"""

from __future__ import annotations

from gpusim.sm.effects import effects, groups
from gpusim.sm.jit.rule import rarely, rule
from gpusim.sm.records import Sm
from gpusim.sm.registers.control_code import control_code
from gpusim.sm.registers.scoreboard import scoreboard
from gpusim.sm.registers.wait_count import wait_count
from gpusim.sm.unit.opcodes import STORE
from isa.row import JOINS


@rule
def read(sm: Sm, g: int, pc: int, number: int, when: int) -> None:
    """Access `number`, of warp slot g at `pc`, has read its sources at `when`."""
    warp, instruction = sm.warps[g], sm.program[pc]
    if sm.machine.obeys_codes == 0:
        scoreboard.let_go(warp, instruction, number, when)
        return
    control_code.release_read(warp, instruction, when)
    if warp.effects:
        effects.read(sm, g, number, when)


@rule
def commit(sm: Sm, g: int, pc: int, number: int, ready: int) -> int:
    """Access `number`, of warp slot g at `pc`, is done at `ready`; return when wait counters have it back."""
    warp, instruction = sm.warps[g], sm.program[pc]
    warp.pending -= 1
    warp.drained = max(warp.drained, ready)
    back = _back(sm, g, pc, number, ready) if instruction.counter >= 0 else ready
    if sm.machine.obeys_codes:
        control_code.release_written(warp, instruction, ready)
    elif instruction.tracked and instruction.action != STORE:
        scoreboard.commit(warp, instruction, ready)
    if instruction.grouping & JOINS and instruction.bulk == 0:  # the copy engine does what it is asked for later
        groups.done(warp, instruction.groups, ready)
    if warp.effects and (sm.machine.obeys_codes or not sm.defers or instruction.counter < 0):
        effects.done(sm, g, number, ready)
    return int(back)


@rarely
def _back(sm: Sm, g: int, pc: int, number: int, ready: int) -> int:
    """Return when a counted access is back: at `ready`, or with a later one of the accesses before it."""
    warp, counter = sm.warps[g], sm.program[pc].counter
    back = wait_count.serve(warp, counter, number, ready)
    while wait_count.settles(warp, counter):
        earlier = warp.asked[counter, 0]
        settled = wait_count.settle(warp, counter)
        if sm.defers and not sm.machine.obeys_codes:
            effects.read(sm, g, earlier, sm.now)
            effects.done(sm, g, earlier, settled)
    return int(back)
