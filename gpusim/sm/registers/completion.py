"""Completion: an access of the load/store unit is done, and its waiters get the time."""

from __future__ import annotations

from gpusim.sm.jit.rule import rarely, rule
from gpusim.sm.records import Sm
from gpusim.sm.registers.control_code import control_code
from gpusim.sm.registers.in_flight import in_flight
from gpusim.sm.registers.scoreboard import scoreboard
from gpusim.sm.registers.wait_count import wait_count
from gpusim.sm.unit.opcodes import STORE


@rule
def commit(sm: Sm, g: int, pc: int, ready: int) -> int:
    """The access of warp slot g at `pc` is done at `ready`; return when wait counters have it back."""
    warp, instruction = sm.warps[g], sm.program[pc]
    warp.pending -= 1
    warp.drained = max(warp.drained, ready)
    back = _back(sm, g, pc, ready) if instruction.counter >= 0 else ready
    if sm.machine.obeys_codes:
        control_code.release_written(warp, instruction, ready)
    elif instruction.tracked and instruction.action != STORE:
        scoreboard.commit(warp, instruction, ready)
    return int(back)


@rarely
def _back(sm: Sm, g: int, pc: int, ready: int) -> int:
    """Return when a counted access is back: at `ready`, or with a later one of the accesses before it."""
    warp, counter = sm.warps[g], sm.program[pc].counter
    back = wait_count.serve(warp, counter, pc, ready)
    while wait_count.settles(warp, counter):
        earlier = warp.asked[counter, 0] - 1
        settled = wait_count.settle(warp, counter)
        if sm.defers and not sm.machine.obeys_codes:
            in_flight.served(sm, g, earlier, 0, sm.now, settled)
    return int(back)
