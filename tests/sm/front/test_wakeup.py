"""The calendar of waiting warps, compared with a scan of when each is due (plain Python only)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from timing import plain_machine

from gpusim.launch.packing import packed as pack
from gpusim.sm.account.stall_accounting import stall_accounting
from gpusim.sm.front.wakeup import wakeup
from gpusim.sm.jit.rule import COMPILED, NEVER
from gpusim.sm.state.room import made, sizes
from gpusim.sm.unit.capacities import CALENDAR
from gpusim.sm.unit.dimensions import SLOT

pytestmark = pytest.mark.skipif(COMPILED, reason="calls single rules, which compiled code alone can call")
WARPS = 6
FAR = 3 * CALENDAR  # slots: some are beyond the calendar
Step = tuple[int, int, int]  # slots that pass, a warp, and in how many slots it is due


def packed(interval, stagger):
    """The machine of a launch, with this spacing of slots."""
    changes = {"schedulers.interval": interval, "schedulers.stagger": stagger, "schedulers.count": 2}
    return pack(plain_machine(changes), flagged=False)


def waiting(due, now):
    """The earliest slot at which a warp is due; NEVER if none waits."""
    return min((slot for slot in due.values() if slot > now), default=NEVER)


@given(
    st.integers(1, 5),
    st.integers(0, 1),
    st.lists(st.tuples(st.integers(1, 40), st.integers(0, WARPS - 1), st.integers(1, FAR)), max_size=30),
)
def test_a_warp_is_taken_at_the_slot_at_which_it_is_due(interval, k, steps: list[Step]):
    """Entered, entered anew or renewed, near or far: at each slot those are taken that a scan of all finds due."""
    machine, scheduler = packed(interval, 1), made("scheduler", 1, sizes({SLOT: WARPS}))[0]
    scheduler.due[:] = scheduler.later_due = NEVER
    now, due = int(stall_accounting.slot_from(machine, k, 0)), {}
    for passed, j, ahead in steps:
        for _ in range(passed):
            page = wakeup.page_of(machine, k, now)
            taken = wakeup.take(scheduler, page, now)
            assert taken == sum(1 << warp for warp, slot in due.items() if slot == now)
            assert wakeup.next_due(machine, scheduler, page, now) == waiting(due, now)
            now += interval
        due = {warp: slot for warp, slot in due.items() if slot >= now}
        wakeup.leave(machine, k, scheduler, j)
        due[j] = now + ahead * interval
        wakeup.enter(machine, k, scheduler, j, due[j], now)
        scheduler.waiting = sum(1 << warp for warp in due)
        if ahead % 2:
            wakeup.renew(machine, k, scheduler, now)
