"""The order of stall reasons: charge each cycle of a waiting warp, and each empty issue slot, to exactly one reason.

Time is counted in issue slots of the warp's scheduler: a cycle has the reason of the last slot that began before it. A
warp waits first for its own reasons (stored release times), then for reasons for which its unit class is refused
(running sums kept by the scheduler). Both are settled in closed form when the warp issues.
"""

from __future__ import annotations

from gpusim.sm.account.record import record
from gpusim.sm.jit.rule import lowest_bit, rarely, rule
from gpusim.sm.jit.vectors import later
from gpusim.sm.records import MachineNumbers, Numbers, Scheduler, Sm, Warp
from gpusim.sm.unit.capacities import UNITS
from gpusim.sm.unit.stall import BUSY, DISPATCH, EXCLUSIVE, OWN, REPLAY, SHARED, UNCHOSEN, Stall

EMPTY = int(Stall.NO_WARP)
LAUNCH, BARRIER, BRANCH = int(Stall.LAUNCH_DELAY), int(Stall.BARRIER), int(Stall.BRANCH_RESOLVING)
ISSUE_INTERVAL, MIO = int(Stall.ISSUE_INTERVAL), int(Stall.MIO_THROTTLE)
INSTRUCTION_REPLAY = int(Stall.INSTRUCTION_REPLAY)
# Offsets from a shared reason to its stall reason: before BUSY, which has a reason for each unit class, and after it.
BEFORE, BEHIND = INSTRUCTION_REPLAY - REPLAY, int(Stall.DP_ISSUE_CONFLICT) - EXCLUSIVE


@rule
def renew(machine: MachineNumbers, warp: Warp, now: int) -> None:
    """Forget the warp's reasons at its issue, but for the issue interval, which begins now."""
    release_at = warp.release_at
    release_at[LAUNCH] = release_at[BARRIER] = release_at[BRANCH] = release_at[MIO] = 0
    release_at[ISSUE_INTERVAL] = now + machine.issue_interval


@rule
def slot_from(machine: MachineNumbers, k: int, cycle: int) -> int:
    """Return the start of scheduler k's first issue slot at or after `cycle`."""
    interval, lag = machine.interval, cycle - k * machine.stagger
    late = lag & (interval - 1) if machine.shift >= 0 else lag % interval
    return cycle if late == 0 else cycle + interval - late


@rule
def slots(machine: MachineNumbers, cycle: int) -> int:
    """Return how many whole issue intervals have passed up to `cycle`."""
    return cycle >> machine.shift if machine.shift >= 0 else cycle // machine.interval


@rule
def latest(warp: Warp) -> int:
    """Return when the last of the warp's own reasons is over: from then on it is ready."""
    release = 0
    for reason in range(OWN):
        release = max(release, warp.release_at[reason])
    return release


@rule
def settle_own(machine: MachineNumbers, k: int, scheduler: Scheduler, warp: Warp, stall: Numbers) -> None:
    """Charge the cycles from `warp.since` until the warp was ready, and the unused slots, to its own reasons."""
    reached, until, unused = warp.since, warp.ready_at, scheduler.used_until
    lose(scheduler, EMPTY, unused, reached, unused)
    reasons = later(warp.release_at, reached) if until != reached else 0
    while reasons:
        reason = lowest_bit(reasons)
        reasons &= reasons - 1
        if warp.release_at[reason] > reached:
            release = min(slot_from(machine, k, warp.release_at[reason]), until)
            stall[reason] += release - reached
            lose(scheduler, reason, reached, release, unused)
            reached = release
    warp.since = until


@rule
def lose(scheduler: Scheduler, reason: int, since: int, until: int, unused: int) -> None:
    """Charge the slots from `since` up to `until` to the reason; those before `unused` were used."""
    if until > unused:
        scheduler.lost[reason] += until - max(since, unused)


@rule
def hold(sm: Sm, k: int, unit: int, shared: int, now: int) -> None:
    """Refuse the unit class's ready warps of scheduler k for this reason from now on."""
    scheduler = sm.schedulers[k]
    if shared != scheduler.holding[unit]:
        if sm.tracing:
            record.hold(sm, k, unit, shared, now)
        charge(scheduler, unit, now)
        scheduler.holding[unit] = shared


@rule
def charge(scheduler: Scheduler, unit: int, now: int) -> None:
    """Bring the running sums of a unit class up to now."""
    scheduler.refused[unit, scheduler.holding[unit]] += now - scheduler.since[unit]
    scheduler.since[unit] = now


@rarely
def forget(scheduler: Scheduler, now: int) -> None:
    """Clear values that are never read again, so that equal states compare as equal.

    Nothing reads the sums of a class without ready warps, nor those at empty slots before the last used one.
    """
    for unit in range(UNITS):
        idle = (scheduler.units >> unit) & 1 == 0
        if idle:
            scheduler.since[unit], scheduler.holding[unit] = now, UNCHOSEN
        if idle or scheduler.idle_since[unit] < scheduler.used_until:
            scheduler.idle_since[unit] = scheduler.used_until - 1
            for shared in range(SHARED):
                scheduler.refused_before[unit, shared] = scheduler.refused[unit, shared]


@rule
def remember(machine: MachineNumbers, scheduler: Scheduler, warp: Warp, now: int) -> None:
    """Store the running sums of the warp's unit class at the time when it becomes ready."""
    unit = warp.unit
    charge(scheduler, unit, now)
    if machine.replays:  # separate from the other four, which are copied as one vector
        warp.refused[REPLAY] = scheduler.refused[unit, REPLAY]
    for shared in range(DISPATCH, SHARED):
        warp.refused[shared] = scheduler.refused[unit, shared]


@rule
def settle_shared(machine: MachineNumbers, scheduler: Scheduler, warp: Warp, stall: Numbers, now: int) -> None:
    """Charge the cycles since the warp became ready, and the unused slots, to the refusals of its unit class.

    A slot that an access replays in is used.
    """
    unit, idle = warp.unit, scheduler.used_until < now
    if machine.replays:
        stall[INSTRUCTION_REPLAY] += scheduler.refused[unit, REPLAY] - warp.refused[REPLAY]
    for shared in range(DISPATCH, SHARED):
        reason, total, before = reason_of(machine, unit, shared), scheduler.refused[unit, shared], warp.refused[shared]
        stall[reason] += total - before
        if idle:
            scheduler.lost[reason] += total - max(before, scheduler.refused_before[unit, shared])


@rule
def reason_of(machine: MachineNumbers, unit: int, shared: int) -> int:
    """Return the stall reason of a shared reason, for a unit class."""
    if shared < BUSY:
        return BEFORE + shared
    return int(machine.units[unit].throttle) if shared == BUSY else BEHIND + shared


@rule
def begin_idling(machine: MachineNumbers, scheduler: Scheduler, now: int) -> None:
    """No warp uses the slot at `now`: store the sums of each ready class, if it is the first unused slot in a row."""
    units = scheduler.units
    while units:
        unit = lowest_bit(units)
        units &= units - 1
        if scheduler.idle_since[unit] < scheduler.used_until:
            scheduler.idle_since[unit] = now
            charge(scheduler, unit, now)
            if machine.replays:
                scheduler.refused_before[unit, REPLAY] = scheduler.refused[unit, REPLAY]
            for shared in range(DISPATCH, SHARED):
                scheduler.refused_before[unit, shared] = scheduler.refused[unit, shared]
