"""A scheduler's waiting warps by the issue slot from which they are ready, so that nobody scans them.

A calendar has a mask of warps for each of the next slots, by the slot's number modulo the calendar's length; warps that
are due later stand aside in one mask. All of it follows from `waiting` and `due`.
"""

from __future__ import annotations

from typing import Any

from gpusim.jit.rule import NEVER, lowest_bit, rarely, rule
from gpusim.rules import stall_accounting
from gpusim.units.capacities import CALENDAR


@rule
def page_of(machine: Any, k: int, slot: int) -> int:
    """Where the calendar of scheduler k keeps the warps that are due at this slot."""
    return stall_accounting.slots(machine, slot - k * machine.stagger) & (CALENDAR - 1)


@rule
def enter(machine: Any, k: int, scheduler: Any, j: int, due: int, now: int) -> None:
    """Warp j, which is not in the calendar, waits until the slot `due` (NEVER: until its reasons change)."""
    scheduler.due[j] = due
    if stall_accounting.slots(machine, due - now) < CALENDAR - 1:
        page = page_of(machine, k, due)
        scheduler.calendar[page] |= 1 << j
        scheduler.filled |= 1 << page
    elif due < NEVER:
        scheduler.later |= 1 << j
        scheduler.later_due = min(scheduler.later_due, due)


@rule
def leave(machine: Any, k: int, scheduler: Any, j: int) -> None:
    """Warp j no longer waits until the slot for which it has been entered."""
    page = page_of(machine, k, scheduler.due[j])
    scheduler.calendar[page] &= ~(1 << j)
    if scheduler.calendar[page] == 0:
        scheduler.filled &= ~(1 << page)
    if (scheduler.later >> j) & 1:
        scheduler.later &= ~(1 << j)
        _take_later(scheduler, -1)  # nobody: it looks for the first of those that stay


@rule
def take(scheduler: Any, page: int, now: int) -> int:
    """Mask of the warps that are due at the slot `now`, which has this page; they leave the calendar."""
    due = scheduler.calendar[page]
    scheduler.calendar[page] = 0
    scheduler.filled &= ~(1 << page)
    return due | _take_later(scheduler, now) if scheduler.later_due <= now else due


@rarely
def _take_later(scheduler: Any, now: int) -> int:
    """Mask of the warps that have stood aside until now."""
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
def next_due(machine: Any, scheduler: Any, page: int, now: int) -> int:
    """The next slot at which a warp is due, seen from the slot `now` with this page, now empty; NEVER: none."""
    filled = scheduler.filled
    ahead = (filled >> page | filled << (CALENDAR - page)) & ((1 << CALENDAR) - 1)
    soon = now + lowest_bit(ahead) * machine.interval if ahead else NEVER
    return min(soon, scheduler.later_due)


@rule
def renew(machine: Any, k: int, scheduler: Any, now: int) -> None:
    """Enter all waiting warps anew, after their slots have been moved."""
    scheduler.calendar[:] = 0
    scheduler.filled = scheduler.later = 0
    scheduler.later_due = NEVER
    waiting = scheduler.waiting
    while waiting:
        j = lowest_bit(waiting)
        waiting &= waiting - 1
        enter(machine, k, scheduler, j, scheduler.due[j], now)
