"""How far warps went round their loops between two states, and how far they may still go."""

from __future__ import annotations

from gpusim.sm.jit.rule import rule
from gpusim.sm.records import Sm
from gpusim.sm.replay.fast_forward.same_state import CURSOR, LAPS, word
from gpusim.sm.replay.stream import stream
from gpusim.sm.state.recurrence import Recurrence
from gpusim.sm.unit.capacities import DEPTHS

ROUND = 4096  # of a loop, in the parts that are counted


@rule
def turned(r: Recurrence, before: int, here: int, g: int) -> int:
    """Return the outermost loop that the warp went round between two states; -1: none."""
    found = -1
    for depth in range(DEPTHS):
        if word(r, here, LAPS, g * DEPTHS + depth) != word(r, before, LAPS, g * DEPTHS + depth):
            found = depth
    return found


@rule
def went(sm: Sm, r: Recurrence, before: int, here: int, g: int) -> int:
    """Return how far a warp went round its loop between two states: rounds, and parts of one, times ROUND; 0: nowhere.

    Warps of a block that meet at barriers go as far as its first one, which differs by less than a round.
    """
    own = _alone(sm, r, before, here, g)
    if sm.launch.meets:
        first = g - g % sm.launch.warps
        if sm.marker >= first and sm.marker < first + sm.launch.warps:
            first = sm.marker
        others = _alone(sm, r, before, here, first)
        if abs(own - others) <= ROUND:
            return others
    return own


@rule
def _alone(sm: Sm, r: Recurrence, before: int, here: int, g: int) -> int:
    depth = turned(r, before, here, g)
    if depth < 0:
        return 0
    rounds = word(r, here, LAPS, g * DEPTHS + depth) - word(r, before, LAPS, g * DEPTHS + depth)
    if depth > 0:
        further = _walked(sm, r, here, g, depth) - _walked(sm, r, before, g, depth)
        return rounds * ROUND + further * ROUND // _round(sm, word(r, here, CURSOR, g), depth)
    further = word(r, here, CURSOR, g) - word(r, before, CURSOR, g)
    return rounds * ROUND + further * ROUND // events(sm, r, here, g, 0)


@rule
def _walked(sm: Sm, r: Recurrence, at: int, g: int, depth: int) -> int:
    """Return the instructions that a warp has walked through in its round of the loop of that depth."""
    cursor = word(r, at, CURSOR, g)
    found = sm.events[cursor].passed
    for inner in range(depth):
        found += word(r, at, LAPS, g * DEPTHS + inner) * _round(sm, cursor, inner)
    return int(found)


@rule
def _round(sm: Sm, cursor: int, depth: int) -> int:
    """Return the instructions of a round of the loop of that depth around an event, 1 where there is none."""
    end = stream.loop_around(sm, cursor, depth)
    marker = sm.events[end]
    return max(1, int(marker.passed - sm.events[end - marker.length].passed)) if marker.pc == stream.MARKER else 1


@rule
def events(sm: Sm, r: Recurrence, here: int, g: int, depth: int) -> int:
    """Return how many events a round of the warp's loop of that depth has: so finely is its place in it known."""
    return max(1, int(sm.events[stream.loop_around(sm, word(r, here, CURSOR, g), depth)].length))


@rule
def rounds_ahead(sm: Sm, r: Recurrence, before: int, here: int, g: int, depth: int) -> int:
    """Return the further rounds of the loop in which the warp was in both states; 0 if it was in two."""
    loop = stream.loop_around(sm, word(r, here, CURSOR, g), depth)
    same = loop == stream.loop_around(sm, word(r, before, CURSOR, g), depth)
    if not same or sm.events[loop].pc != stream.MARKER:
        return 0
    return int(sm.events[loop].rounds) - word(r, here, LAPS, g * DEPTHS + depth)
