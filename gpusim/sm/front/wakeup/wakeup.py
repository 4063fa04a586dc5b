"""The calendar of a scheduler's waiting warps, by the issue slot from which each is ready.

A calendar has a mask of warps for each of the next slots, by the slot's number modulo the calendar's length; warps that
are due later are in one separate mask. All of it follows from `waiting` and `due`.
"""

from __future__ import annotations

from gpusim.sm.account.stall_accounting import stall_accounting
from gpusim.sm.jit.rule import NEVER, lowest_bit, rarely, rule
from gpusim.sm.records import MachineNumbers, Scheduler
from gpusim.sm.unit.capacities import CALENDAR


@rule
def page_of(machine: MachineNumbers, k: int, slot: int) -> int:
    """Return the calendar page of scheduler k for the warps that are due at this slot."""
    return stall_accounting.slots(machine, slot - k * machine.stagger) & (CALENDAR - 1)


@rule
def enter(machine: MachineNumbers, k: int, scheduler: Scheduler, j: int, due: int, now: int) -> None:
    """Enter warp j, not yet in the calendar, until the slot `due` (NEVER: until its reasons change)."""
    scheduler.due[j] = due
    if stall_accounting.slots(machine, due - now) < CALENDAR - 1:
        page = page_of(machine, k, due)
        scheduler.calendar[page] |= 1 << j
        scheduler.filled |= 1 << page
    elif due < NEVER:
        scheduler.later |= 1 << j
        scheduler.later_due = min(scheduler.later_due, due)


@rule
def leave(machine: MachineNumbers, k: int, scheduler: Scheduler, j: int) -> None:
    """Remove warp j, which no longer waits until the slot for which it was entered."""
    page = page_of(machine, k, scheduler.due[j])
    scheduler.calendar[page] &= ~(1 << j)
    if scheduler.calendar[page] == 0:
        scheduler.filled &= ~(1 << page)
    if (scheduler.later >> j) & 1:
        scheduler.later &= ~(1 << j)
        _take_later(scheduler, -1)  # takes none, but finds the first of those that stay


@rule
def take(scheduler: Scheduler, page: int, now: int) -> int:
    """Return the mask of the warps due at the slot `now`, which has this page; they leave the calendar."""
    due = scheduler.calendar[page]
    scheduler.calendar[page] = 0
    scheduler.filled &= ~(1 << page)
    return due | _take_later(scheduler, now) if scheduler.later_due <= now else due


@rarely
def _take_later(scheduler: Scheduler, now: int) -> int:
    """Return the mask of the later warps that are due now."""
    later, due = scheduler.later, 0
    scheduler.later_due = NEVER
    while later:
        j = lowest_bit(later)
        later &= later - 1
        if scheduler.due[j] <= now:
            due |= 1 << j
        else:
            scheduler.later_due = min(scheduler.later_due, scheduler.due[j])
    scheduler.later &= ~due
    return due


@rule
def next_due(machine: MachineNumbers, scheduler: Scheduler, page: int, now: int) -> int:
    """Return the next slot at which a warp is due after the slot `now`, whose page is empty; NEVER: none."""
    filled = scheduler.filled
    ahead = (filled >> page | filled << (CALENDAR - page)) & ((1 << CALENDAR) - 1)
    soon = now + lowest_bit(ahead) * machine.interval if ahead else NEVER
    return min(soon, scheduler.later_due)


@rule
def renew(machine: MachineNumbers, k: int, scheduler: Scheduler, now: int) -> None:
    """Enter all waiting warps again, after their slots have been moved."""
    scheduler.calendar[:] = 0
    scheduler.filled = scheduler.later = 0
    scheduler.later_due = NEVER
    waiting = scheduler.waiting
    while waiting:
        j = lowest_bit(waiting)
        waiting &= waiting - 1
        enter(machine, k, scheduler, j, scheduler.due[j], now)
