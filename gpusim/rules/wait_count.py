"""Wait counters: how many accesses of a warp are under way, by kind of memory; programs wait for the counts (GCN).

Accesses of one counter come back in the order of issue: a count is at most n once all but the last n of them are back.
Nothing else waits for what an access loads.
"""

from __future__ import annotations

from typing import Any

from gpusim.on_demand import on_demand
from gpusim.row import COUNTERS
from gpusim.rule import NEVER
from gpusim.stall import Stall
from gpusim.state import COUNTED

SHORT, LONG = int(Stall.SHORT_SCOREBOARD), int(Stall.LONG_SCOREBOARD)
VECTOR = 0  # the other counts accesses to shared memory


@on_demand
def earliest(warp: Any, instruction: Any) -> None:
    """Raise the warp's rungs to when the counts have come down to what `instruction` may issue with."""
    for counter in range(COUNTERS):
        most, rung = instruction.most[counter], LONG if counter == VECTOR else SHORT
        if most >= 0:
            warp.rung[rung] = max(warp.rung[rung], warp.returned[counter, most])


@on_demand
def commit(warp: Any, counter: int) -> None:
    """An access is under way, and nobody knows until when."""
    for n in range(COUNTED - 1, 0, -1):
        warp.returned[counter, n] = warp.returned[counter, n - 1]
    warp.returned[counter, 0] = NEVER
    warp.unserved[counter] += 1


@on_demand
def serve(warp: Any, counter: int, back: int) -> None:
    """The oldest access that waited has been served: it is back then, or with those before it if they are later."""
    warp.unserved[counter] -= 1
    n = warp.unserved[counter]
    warp.returned[counter, n] = max(back, warp.returned[counter, n + 1])


@on_demand
def clear(warp: Any) -> None:
    """A new warp has no access under way."""
    for counter in range(COUNTERS):
        warp.unserved[counter] = 0
        for n in range(COUNTED):
            warp.returned[counter, n] = 0
