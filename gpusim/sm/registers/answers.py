"""When instructions on barriers in shared memory are done, and, without time, who goes on.

An arrival that follows copies comes when these are done. A wait is done when its answer comes (sm/effects/waiting.py).
"""

from __future__ import annotations

from gpusim.sm.account.record import record
from gpusim.sm.effects import effects, waiting
from gpusim.sm.jit.on_demand import on_demand
from gpusim.sm.jit.rule import NEVER
from gpusim.sm.records import Sm
from gpusim.sm.registers import completion
from gpusim.sm.unit.capacities import AWAITED
from isa.row import Groups, Signal

COPIES, FOLLOW = int(Groups.COPIES), int(Signal.FOLLOW)
ARRIVE, SEND = int(Signal.ARRIVE), int(Signal.SEND)


@on_demand
def serve(sm: Sm, g: int, pc: int, number: int, ready: int) -> int:
    """Return when the instruction of warp slot g that is served now is done: at `ready` or later; NEVER: not known."""
    if sm.program[pc].signal == FOLLOW:
        return max(ready, int(sm.warps[g].done_by[COPIES, 0])) if sm.grouped else ready
    if sm.launch.cluster > 1 and sm.program[pc].signal in (ARRIVE, SEND) and effects.of_access(sm, g, number) >= 0:
        return ready + int(sm.machine.cluster_signal)
    if sm.warps[g].awaits:
        i = waiting.numbered(sm, g, number)
        if i >= 0:
            waiting.served(sm, g, i, ready)
            return NEVER
    return ready


@on_demand
def answer(sm: Sm, g: int) -> bool:
    """Give warp slot g the answers that are known to come; tell whether there were any."""
    found = False
    for i in range(AWAITED if sm.warps[g].awaits else 0):
        one = sm.awaited[g, i]
        if one.number and one.answer < NEVER:
            completion.commit(sm, g, one.pc, one.number, one.answer)
            if sm.tracing:
                record.write(sm, g, one.pc, one.number, one.answer, sm.now)
            waiting.forget(sm, g, i)
            found = True
    return found


@on_demand
def without_time(sm: Sm, g: int) -> int:
    """Return NEVER if warp slot g waits for a phase that is not over; else it no longer waits: 0."""
    for i in range(AWAITED):
        if sm.awaited[g, i].number and sm.awaited[g, i].ended == NEVER:
            return NEVER
    for i in range(AWAITED):
        if sm.awaited[g, i].number:
            waiting.forget(sm, g, i)
    return 0
