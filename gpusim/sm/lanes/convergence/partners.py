"""Partners: the lanes for which a lane of a warp waits at a WARPSYNC, or to execute a collective."""

from __future__ import annotations

from gpusim.sm.jit.rule import lowest_bit, rule
from gpusim.sm.records import Sm, Warp
from gpusim.sm.unit.capacities import LANES


@rule
def alike(warp: Warp, lanes: int) -> int:
    """Return those of the lanes whose partners are those of the lowest."""
    found, lowest = 0, lowest_bit(lanes)
    for lane in range(LANES):
        if lanes >> lane & 1 and warp.partners[lane] == warp.partners[lowest]:
            found |= 1 << lane
    return found


@rule
def waiting(sm: Sm, g: int, state: int) -> int:
    """Return the lanes in a state."""
    lanes = 0
    for i in range(sm.warps[g].parted):
        if sm.parted[g, i].state == state:
            lanes |= sm.parted[g, i].lanes
    return lanes


@rule
def free(warp: Warp, lanes: int, there: int) -> int:
    """Return those of the lanes all of whose partners are there, too, and wait for them, or have exited."""
    found = 0
    for lane in range(LANES):
        theirs = warp.gone
        for other in range(LANES):
            if there >> other & 1 and warp.partners[other] >> lane & 1:
                theirs |= 1 << other
        if lanes >> lane & 1 and warp.partners[lane] & ~theirs == 0:
            found |= 1 << lane
    return found
