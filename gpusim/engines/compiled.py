"""The compiled engine: run the agents whose time has come, in order, and jump to the next time on the agenda.

`advance` is called by address, and compiled for all machines and, with numbers that these share, for those since Volta:
the engines for one SM and for all SMs of a chip drive it.
"""

from __future__ import annotations

from gpusim.sm.chip.chip import sharing
from gpusim.sm.front.block_scheduler import block_scheduler
from gpusim.sm.jit.on_demand import on_demand
from gpusim.sm.jit.rule import NEVER, borrow, entry, rarely, rule, since_volta
from gpusim.sm.records import Memory, Records, Sm
from gpusim.sm.registers import questions
from gpusim.sm.replay.fast_forward import fast_forward
from gpusim.sm.state.recurrence import Recurrence
from gpusim.sm.unit.capacities import AT_HAND, TRACE, TRACE_MARGIN
from gpusim.sm.unit.sm import FIRST_SCHEDULER, LAUNCHER
from gpusim.sm.walk import step, turn_order

# Stops of `advance`, as bits. Before: a block scheduler's act; a request to caches or channels; a scalar load that may
# miss; a cycle in which an answer may be felt, or questions may find no room; a request that can't be answered later.
# After: a cycle with a fast-forward event.
NOTHING, BLOCKS, REQUESTS, SCALARS, ANSWERS, EVENTS, ASKS = 0, 1, 2, 4, 8, 16, 32


@rule
def next_time(sm: Sm) -> int:
    """Return the earliest cycle on the agenda; agents that do not exist never act."""
    when = NEVER
    for agent in range(AT_HAND):
        when = min(when, sm.agenda[agent])
    if sm.agents > AT_HAND:
        for agent in range(AT_HAND, sm.agents):
            when = min(when, sm.agenda[agent])
    return when


@rule
def cycle(sm: Sm, memory: Memory, now: int, stops: int) -> bool:
    """Let the agents whose time has come act, in this cycle's order; false: the SM `stops` before one of them."""
    sm.now = now
    if sm.agenda[LAUNCHER] == now:
        if stops & BLOCKS:
            return False
        step.launch(sm, memory, now)
    schedulers, first = sm.machine.schedulers, turn_order.first_scheduler(sm, now)
    if sm.agenda[FIRST_SCHEDULER + schedulers + 1] == now:
        if stops & REQUESTS and sm.bulk and sm.engine.next == now:
            return False
        step.land(sm, memory, now)
    for position in range(schedulers):
        k = turn_order.ranked(position, first, schedulers)
        if sm.agenda[FIRST_SCHEDULER + k] == now and sm.fault.code == 0:
            if stops & SCALARS and sharing.may_ask(sm, memory, k, now):
                return False
            step.schedule(sm, memory, k, now)
    if sm.agenda[FIRST_SCHEDULER + schedulers] == now and sm.fault.code == 0:
        while sm.agenda[FIRST_SCHEDULER + schedulers] <= now:
            if stops & REQUESTS and sharing.may_go_far(sm):
                return False
            if stops & ASKS and sharing.asks_now(sm, memory, now):
                return False
            step.serve(sm, memory, now)
    return True


@rule
def goes_on(sm: Sm) -> bool:
    """Tell whether the SM can take another cycle: no fault, and room for its trace records."""
    return sm.fault.code == 0 and sm.traced + TRACE_MARGIN < TRACE


@rarely
def last(sm: Sm, until: int) -> int:
    """Return the cycle before which an SM stops that runs ahead of answers: no further than there is room to ask."""
    return min(until, sm.ahead.until) if questions.has_room(sm) else 0


@rule
def advance(sm: Sm, memory: Memory, until: int, stops: int) -> int:
    """Advance an SM to its first agenda time at or after `until` (NEVER: nothing left), or to a stop; return that time.

    Stops early at a fault, and when the trace may not hold the records of another cycle.
    """
    if sm.machine.since_volta:
        return advance_since_volta(sm, memory, until, stops)
    return advance_any(sm, memory, until, stops)


@on_demand
def advance_any(sm: Sm, memory: Memory, until: int, stops: int) -> int:
    """Advance the SM of any machine."""
    return int(_advance(sm, borrow(memory), until, stops))


@on_demand
def advance_since_volta(sm: Sm, memory: Memory, until: int, stops: int) -> int:
    """Do the same for an SM of whose machine some numbers are known, in code with these as constants."""
    return int(_advance(since_volta(sm), borrow(memory), until, stops))


@rule
def _advance(sm: Sm, memory: Memory, until: int, stops: int) -> int:
    now = next_time(sm)
    paused = bool(stops & ANSWERS and now >= last(sm, until))
    while now < until and not paused and goes_on(sm) and cycle(sm, memory, now, stops):
        now = next_time(sm)
        paused = bool(stops & EVENTS and sm.event) or bool(stops & ANSWERS and now >= last(sm, until))
    return now


@entry
def run(sms: Records[Sm], memory: Memory, recurrence: Recurrence, until: int, limit: int) -> int:
    """Advance the first SM to the first agenda time at or after `until` (NEVER: nothing left) and return it.

    If the SM is `forwarding`, periods of a recurring state are taken at once, up to cycle `limit`.

    Stops early at a fault, and when the trace may not hold the records of another cycle.
    """
    sm, memory = sms[0], borrow(memory)
    now = advance(sm, memory, until, EVENTS)
    while sm.event:
        fast_forward.skip(sm, memory, recurrence, sm.now, limit)
        now = advance(sm, memory, until, EVENTS)
    return now


@entry
def close(sms: Records[Sm]) -> None:
    """Settle the remaining counts of the first SM when the launch is over."""
    block_scheduler.close(sms[0])
