"""The hazard ladder: charge each cycle of a waiting warp, and each empty issue slot, to exactly one reason.

Time is counted in issue slots of the warp's scheduler: a cycle has the reason of the last slot that began before it.
A warp waits first on rungs of its own (stored release times), then for what its unit class is refused (running sums
kept by the scheduler); each is settled in closed form when the warp issues.
"""

from __future__ import annotations

from typing import Any

from gpusim.rule import rule
from gpusim.stall import OWN, SHARED, Stall

FIRST, LAST = int(SHARED.start), int(SHARED.stop)
EMPTY = int(Stall.X_EMPTY)


@rule
def slot_from(machine: Any, k: int, cycle: int) -> int:
    """Begin of scheduler k's first issue slot at or after `cycle`."""
    late = (cycle - k * machine.stagger) % machine.interval
    return cycle if late == 0 else cycle + machine.interval - late


@rule
def latest(warp: Any) -> int:
    """When the warp's last own rung lets go: from then on it is ready."""
    release = 0
    for rung in range(OWN):
        release = max(release, warp.rung[rung])
    return release


@rule
def settle_own(machine: Any, k: int, warp: Any, stall: Any, until: int) -> None:
    """Charge the cycles from `warp.since` up to the slot `until` to the warp's own rungs."""
    reached = warp.since
    for rung in range(OWN):
        if warp.rung[rung] > reached:
            release = min(slot_from(machine, k, warp.rung[rung]), until)
            stall[rung] += release - reached
            reached = release
    warp.since = until


@rule
def settle_shared(scheduler: Any, warp: Any, stall: Any) -> None:
    """Charge the cycles since the warp became ready to what its unit class has been refused."""
    for reason in range(FIRST, LAST):
        stall[reason] += scheduler.refused[warp.unit, reason] - warp.refused[reason]


@rule
def remember(scheduler: Any, warp: Any) -> None:
    """Note the running sums of the warp's unit class at the moment when it becomes ready."""
    for reason in range(FIRST, LAST):
        warp.refused[reason] = scheduler.refused[warp.unit, reason]
        warp.idle[reason] = scheduler.idle[warp.unit, reason]


@rule
def blame(machine: Any, k: int, scheduler: Any, warp: Any) -> None:
    """Charge the scheduler's unused slots so far to the warp that ends them, before that warp is settled itself."""
    reached = scheduler.used_until
    if warp.since > reached:
        scheduler.lost[EMPTY] += warp.since - reached
        reached = warp.since
    for rung in range(OWN):
        if warp.rung[rung] > reached:
            release = min(slot_from(machine, k, warp.rung[rung]), warp.ready_at)
            if release > reached:
                scheduler.lost[rung] += release - reached
                reached = release
    for reason in range(FIRST, LAST):
        seen = max(warp.idle[reason], scheduler.idle_used[warp.unit, reason])
        scheduler.lost[reason] += scheduler.idle[warp.unit, reason] - seen


@rule
def use_slot(scheduler: Any, now: int, interval: int) -> None:
    """The slot at `now` is used: what was idle up to here has been blamed."""
    if scheduler.used_until < now:
        scheduler.idle_used[:, FIRST:LAST] = scheduler.idle[:, FIRST:LAST]
    scheduler.used_until = now + interval
