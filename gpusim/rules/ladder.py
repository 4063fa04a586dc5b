"""The hazard ladder: charge each cycle of a waiting warp, and each empty issue slot, to exactly one reason.

Time is counted in issue slots of the warp's scheduler: a cycle has the reason of the last slot that began before it.
A warp waits first on rungs of its own (stored release times), then for what its unit class is refused (running sums
kept by the scheduler); each is settled in closed form when the warp issues.
"""

from __future__ import annotations

from typing import Any

from gpusim.rule import rule
from gpusim.stall import DENIALS, DENIED, OWN, Stall
from gpusim.state import UNITS

EMPTY = int(Stall.X_EMPTY)


@rule
def slot_from(machine: Any, k: int, cycle: int) -> int:
    """Begin of scheduler k's first issue slot at or after `cycle`."""
    interval, lag = machine.interval, cycle - k * machine.stagger
    power_of_two = interval & (interval - 1) == 0  # then a mask does for the costly division
    late = lag & (interval - 1) if power_of_two else lag % interval
    return cycle if late == 0 else cycle + interval - late


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
    unit = warp.unit
    for denial in range(DENIALS):
        stall[DENIED + denial] += scheduler.refused[unit, denial] - warp.refused[denial]


@rule
def remember(scheduler: Any, warp: Any) -> None:
    """Note the running sums of the warp's unit class at the moment when it becomes ready."""
    unit = warp.unit
    for denial in range(DENIALS):
        warp.refused[denial] = scheduler.refused[unit, denial]
        warp.idle[denial] = scheduler.idle[unit, denial]


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
    for denial in range(DENIALS):
        seen = max(warp.idle[denial], scheduler.idle_used[warp.unit, denial])
        scheduler.lost[DENIED + denial] += scheduler.idle[warp.unit, denial] - seen


@rule
def use_slot(scheduler: Any, now: int, interval: int) -> None:
    """The slot at `now` is used: what was idle up to here has been blamed."""
    if scheduler.used_until < now:
        for unit in range(UNITS):
            for denial in range(DENIALS):
                scheduler.idle_used[unit, denial] = scheduler.idle[unit, denial]
    scheduler.used_until = now + interval
