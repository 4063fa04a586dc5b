"""The compiled engine: run the agents whose time has come, in order, and jump to the next time on the agenda."""

from __future__ import annotations

from typing import Any

from gpusim.sm.front.block_scheduler import block_scheduler
from gpusim.sm.jit.rule import NEVER, borrow, entry, rule
from gpusim.sm.replay.fast_forward import fast_forward
from gpusim.sm.unit.capacities import AGENTS, TRACE, TRACE_MARGIN
from gpusim.sm.unit.sm import FIRST_SCHEDULER, LAUNCHER
from gpusim.sm.walk import step

AT_HAND = 6  # agents of an SM of four schedulers, the common case: checking ten each cycle would cost a few percent


@rule
def next_time(sm: Any) -> int:
    """Return the earliest cycle on the agenda; agents that do not exist never act."""
    when = NEVER
    for agent in range(AT_HAND):
        when = min(when, sm.agenda[agent])
    if sm.agents > AT_HAND:
        for agent in range(AT_HAND, AGENTS):
            when = min(when, sm.agenda[agent])
    return when


@rule
def cycle(sm: Any, memory: Any, now: int) -> None:
    """Let the agents whose time has come act, in this cycle's order."""
    sm.now = now
    if sm.agenda[LAUNCHER] == now:
        step.launch(sm, memory, now)
    schedulers, first = sm.machine.schedulers, step.first_scheduler(sm, now)
    for position in range(schedulers):
        k = step.ranked(position, first, schedulers)
        if sm.agenda[FIRST_SCHEDULER + k] == now and sm.fault.code == 0:
            step.schedule(sm, memory, k, now)
    if sm.agenda[FIRST_SCHEDULER + schedulers] == now and sm.fault.code == 0:
        step.serve(sm, memory, now)


@rule
def goes_on(sm: Any) -> bool:
    """Tell whether the SM can take another cycle: no fault, and room for its trace records."""
    return sm.fault.code == 0 and sm.traced + TRACE_MARGIN < TRACE


@entry
def run(sms: Any, memory: Any, recurrence: Any, until: int, limit: int) -> int:
    """Advance the first SM to the first agenda time at or after `until` (NEVER: nothing left) and return it.

    If the SM is `forwarding`, periods of a recurring state are taken at once, up to cycle `limit`.

    Stops early at a fault, and when the trace may not hold the records of another cycle.
    """
    sm, memory = sms[0], borrow(memory)
    now = next_time(sm)
    while now < until and goes_on(sm):
        cycle(sm, memory, now)
        if sm.event:
            fast_forward.skip(sm, memory, recurrence, now, limit)
        now = next_time(sm)
    return now


@entry
def close(sms: Any) -> None:
    """Settle the remaining counts of the first SM when the launch is over."""
    block_scheduler.close(sms[0])
