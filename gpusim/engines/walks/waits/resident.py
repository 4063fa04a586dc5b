"""Blocks of a walk that wait for each other: one makes way, the next begins, and each comes back when it may go on.

Blocks begin in their order, each as soon as there is room for it: where all that are resident wait, those go on, in
turn, whose words have changed. Where none has, they wait for ever.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from gpusim.engines.walks.waits import waiting
from gpusim.engines.walks.waits.told_waits import deadlock, endless
from gpusim.engines.walks.waits.waiting import Outcome, Parked
from gpusim.sm.walk.access_log import Log
from isa.executing.faults import LIMIT

if TYPE_CHECKING:
    from gpusim.engines.walks.program_order import Walker

RESIDENT = 132 * 32  # blocks at once where no machine says how many: as many as an H200 holds
Begin = Callable[[int, bool], Outcome]  # of a block, and whether another has waited
GoOn = Callable[[int, int], Outcome]  # of a block, after so many warp instructions


def walk(
    one: Walker, blocks: Iterable[int], begin: Begin, go_on: GoOn, log: Log, resident: int | None, limit: int
) -> None:
    """Run blocks to their end, at most `resident` at once. Raises DeadlockError, and LimitError where none changes."""
    parked, coming, asks, waited = deque[Parked](), iter(blocks), 0, False
    most = RESIDENT if resident is None else resident
    while True:
        block = next(coming, None) if len(parked) < most else None
        if block is not None:
            found = begin(block, waited)
            waited = waited or found.asked is not None
            if found.asked:
                parked.append(waiting.park(one, block, log, found.asked, found.done))
            continue
        if not parked:
            return
        before = next((each for each in parked if waiting.may_go_on(one, each)), None)
        if before is None:
            raise deadlock(one, list(parked), next(coming, None), most)
        parked.remove(before)
        waiting.bring_back(one, before, log)
        found = go_on(before.block, before.done)
        if found.asked:
            parked.append(waiting.park(one, before.block, log, found.asked, found.done))
        asks = 0 if found.asked is None or found.asked.certain else asks + found.done - before.done
        if asks > max(limit, LIMIT):
            raise endless(one, list(parked))
