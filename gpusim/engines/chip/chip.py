"""The compiled engine for all SMs of a chip: in each cycle one SM after another, which is lent the shared state."""

from __future__ import annotations

from gpusim.engines.compiled import NOTHING, advance, goes_on, next_time
from gpusim.sm.chip.chip import chip
from gpusim.sm.front.cluster import cluster_barrier
from gpusim.sm.jit.rule import NEVER, borrow, entry, rule
from gpusim.sm.records import Chip, Memory, Numbers, Records, Sm


@rule
def earliest(times: Numbers) -> int:
    """Return the earliest of the SMs' next times."""
    when = NEVER
    for s in range(times.size):
        when = min(when, times[s])
    return when


@rule
def _others(sms: Records[Sm], s: int, times: Numbers) -> None:
    """Take over the next times of the SMs that share clusters with SM s, which may have come nearer."""
    first = cluster_barrier.first_of(sms[s], s)
    for other in range(first, first + sms[s].launch.cluster):
        times[other] = min(times[other], next_time(sms[other]))


@entry
def run(sms: Records[Sm], chips: Records[Chip], times: Numbers, memory: Memory, until: int) -> int:
    """Advance all SMs to the first time at or after `until` (NEVER: nothing left) and return it.

    `times` holds each SM's next time, 0 at first. Stops early at a fault, and when a trace may not hold the records of
    another cycle; the later SMs of the order have then not yet run this cycle.
    """
    sms, chips, times, memory = borrow(sms), borrow(chips), borrow(times), borrow(memory)
    now, going = earliest(times), True
    while now < until and going:
        for s in range(times.size):
            if times[s] == now and going:
                chip.lend(sms, s, chips, now)
                times[s] = advance(sms[s], memory, now + 1, NOTHING)
                news = sms[s].cluster_news
                chip.take_back(sms, s, chips, now)
                if news and sms[s].launch.cluster > 1:
                    _others(sms, s, times)
                going = goes_on(sms[s])
        now = earliest(times)
    return now
