"""Wait counters: how many accesses of a warp are under way, by kind of memory.

Accesses of the load/store unit that one counter counts come back in the order of issue. Scalar loads come back when
they do, and count two where they load more than a word. A count is at most n once all but n are back; so of what is
under way the times are kept from the latest on, and the one behind n of them says when. On GCN programs wait for the
counts, and nothing else waits for what an access loads. On other machines an access only waits while its warp has as
many under way as it may.
"""

from __future__ import annotations

from typing import Any

from gpusim.on_demand import on_demand
from gpusim.row import COUNTERS
from gpusim.rule import NEVER, rule
from gpusim.stall import Stall
from gpusim.state import COUNTED

SHORT, LONG, MIO = int(Stall.SHORT_SCOREBOARD), int(Stall.LONG_SCOREBOARD), int(Stall.MIO_THROTTLE)
VECTOR = 0  # the other counts accesses to shared memory


@on_demand
def earliest(warp: Any, instruction: Any) -> None:
    """Raise the warp's rungs to when the counts have come down to what `instruction` may issue with."""
    for counter in range(COUNTERS):
        most, rung = instruction.most[counter], LONG if counter == VECTOR else SHORT
        if counter == instruction.counter and instruction.tracked:
            warp.rung[MIO] = warp.returned[counter, most]
        elif most >= 0:
            warp.rung[rung] = max(warp.rung[rung], warp.returned[counter, most])


@on_demand
def commit(warp: Any, instruction: Any) -> None:
    """An access is under way, and nobody knows until when."""
    counter, step = instruction.counter, instruction.counted
    for n in range(COUNTED - 1, step - 1, -1):
        warp.returned[counter, n] = warp.returned[counter, n - step]
    for n in range(step):
        warp.returned[counter, n] = NEVER
    warp.unserved[counter] += step


@on_demand
def serve(warp: Any, instruction: Any, back: int) -> int:
    """The oldest access that waited is back then, or of those of the load/store unit not before the one before it."""
    counter, found = instruction.counter, back
    if instruction.queued:
        found = max(back, warp.latest[counter])
        warp.latest[counter] = found
    for _ in range(instruction.counted):
        warp.unserved[counter] -= 1
        _insert(warp.returned[counter], int(warp.unserved[counter]), found)
    return int(found)


@rule
def _insert(times: Any, n: int, back: int) -> None:
    """Put a time into place n, or behind the later ones that follow."""
    while n + 1 < COUNTED and times[n + 1] > back:
        times[n] = times[n + 1]
        n += 1
    times[n] = back


@on_demand
def clear(warp: Any) -> None:
    """A new warp has no access under way."""
    for counter in range(COUNTERS):
        warp.unserved[counter] = warp.latest[counter] = 0
        for n in range(COUNTED):
            warp.returned[counter, n] = 0
