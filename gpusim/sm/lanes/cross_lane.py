"""Cross-lane instructions: results that depend on other lanes of the warp, as `isa.values.cross_lane` defines them.

A shuffle, a reduction, a vote and a matrix are compiled from the functions that the definition names; each other
function has a rule of its own here, with the same meaning.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gpusim.sm.jit.lane_functions import Rule
from gpusim.sm.jit.rule import COMPILED, lowest_bit, rule
from gpusim.sm.records import Scratch, Sm
from gpusim.sm.unit.capacities import LANES
from gpusim.sm.unit.opcodes import Function
from isa.values import cross_lane as definition
from isa.values.cross_lane import HALF, LOWER, InRange, Reduction, Shuffle, Tile, Vote


def interpreted(function: Function) -> Rule:
    """Return a rule (sm) that computes the function itself: where nothing is compiled."""
    across = function.function

    def apply(sm: Sm) -> None:
        scratch = sm.scratch
        active = (np.int64(scratch.active) >> np.arange(LANES) & 1) != 0
        operands = (np.asarray(operand[: function.takes]) for operand in (scratch.a, scratch.b, scratch.c))
        to = scratch.d[: function.gives] if function.gives else scratch.flag
        with np.errstate(all="ignore"):
            found = across(*operands, active)
        np.copyto(np.asarray(to), found, casting="unsafe")

    return apply


def shuffled(of: Shuffle) -> Rule:
    """Return a rule (sm) for a shuffle."""
    there, in_range = rule(of.there), rule(of.in_range)

    def apply(sm: Sm) -> None:
        scratch, active = sm.scratch, sm.scratch.active
        for lane in range(LANES):
            own = np.uint32(lane)
            source = np.int64(lane)
            if in_range(own, scratch.b[0, lane], scratch.c[0, lane]):
                source = np.int64(there(own, scratch.b[0, lane], scratch.c[0, lane]))
            scratch.d[0, lane] = scratch.a[0, source] if (active >> source) & 1 else np.uint32(0)

    return apply


def told_in_range(of: InRange) -> Rule:
    """Return a rule (sm) for the predicate of a shuffle."""
    in_range = rule(of.in_range)

    def apply(sm: Sm) -> None:
        scratch = sm.scratch
        for lane in range(LANES):
            scratch.flag[lane] = 1 if in_range(np.uint32(lane), scratch.b[0, lane], scratch.c[0, lane]) else 0

    return apply


def reduced(of: Reduction) -> Rule:
    """Return a rule (sm) for a reduction."""
    join, first = rule(of.join), of.first

    def apply(sm: Sm) -> None:
        scratch, active = sm.scratch, sm.scratch.active
        whole = np.uint32(first)
        for lane in range(LANES):
            if (active >> lane) & 1:
                whole = np.uint32(join(whole, scratch.a[0, lane]))
        scratch.d[0, :] = whole

    return apply


def voted(of: Vote) -> Rule:
    """Return a rule (sm) for a vote."""
    agreed = rule(of.agreed)

    def apply(sm: Sm) -> None:
        told = agreed(np.uint32(_yes(sm.scratch)), np.uint32(sm.scratch.active))
        sm.scratch.flag[:] = np.uint32(1) if told else np.uint32(0)

    return apply


@rule
def _yes(scratch: Scratch) -> int:
    """Return the mask of the active lanes in which c is 1."""
    mask = np.int64(0)
    for lane in range(LANES):
        mask |= np.int64(scratch.c[0, lane] & np.uint32(1)) << lane
    return int(mask & scratch.active)


def ballot(sm: Sm) -> None:
    """Compute `isa.values.cross_lane.ballot`."""
    sm.scratch.d[0, :] = np.uint32(_yes(sm.scratch))


@rule
def _alike(scratch: Scratch, lane: int) -> int:
    """Return the mask of the active lanes whose a is that of a lane, of two words or of one and a zero."""
    mask = np.int64(0)
    for other in range(LANES):
        same = scratch.a[0, other] == scratch.a[0, lane] and scratch.a[1, other] == scratch.a[1, lane]
        mask |= np.int64(same) << other
    return int(mask & scratch.active)


@rule
def _all_alike(scratch: Scratch) -> bool:
    return bool(scratch.active == 0 or _alike(scratch, lowest_bit(scratch.active)) == scratch.active)


@rule
def different(scratch: Scratch) -> int:
    """Return how many values a of the active lanes are different."""
    left, count = scratch.active, 0
    while left:
        left &= ~_alike(scratch, lowest_bit(left))
        count += 1
    return count


def match_any(sm: Sm) -> None:
    """Compute `isa.values.cross_lane.match_any`."""
    for lane in range(LANES):
        sm.scratch.d[0, lane] = _alike(sm.scratch, lane)


def match_all(sm: Sm) -> None:
    """Compute `isa.values.cross_lane.match_all`."""
    sm.scratch.d[0, :] = np.uint32(sm.scratch.active if _all_alike(sm.scratch) else 0)


def all_match(sm: Sm) -> None:
    """Compute `isa.values.cross_lane.all_match`."""
    sm.scratch.flag[:] = np.uint32(1) if _all_alike(sm.scratch) else np.uint32(0)


def of_first_lane(sm: Sm) -> None:
    """Compute `isa.values.cross_lane.of_first_lane`."""
    scratch = sm.scratch
    scratch.d[0, :] = scratch.a[0, lowest_bit(scratch.active)] if scratch.active else np.uint32(0)


def is_other(sm: Sm) -> None:
    """Compute `isa.values.cross_lane.is_other`."""
    scratch = sm.scratch
    first = scratch.a[0, lowest_bit(scratch.active)] if scratch.active else np.uint32(0)
    for lane in range(LANES):
        scratch.flag[lane] = 1 if scratch.a[0, lane] != first or scratch.c[0, lane] != 0 else 0


def first_lane(sm: Sm) -> None:
    """Compute `isa.values.cross_lane.first_lane`."""
    yes = _yes(sm.scratch)
    sm.scratch.d[0, :] = np.uint32(lowest_bit(yes)) if yes else np.uint32(0)


def is_first(sm: Sm) -> None:
    """Compute `isa.values.cross_lane.is_first`."""
    yes = _yes(sm.scratch)
    sm.scratch.flag[:] = np.uint32(0)
    if yes:
        sm.scratch.flag[lowest_bit(yes)] = np.uint32(1)


def transposed(sm: Sm) -> None:
    """Compute `isa.values.cross_lane.transposed`."""
    scratch = sm.scratch
    for lane in range(LANES):
        first, shift = 8 * (lane % 4) + lane // 8, HALF * np.uint32(lane // 4 % 2)
        lower, upper = _given(scratch, first) >> shift & LOWER, _given(scratch, first + 4) >> shift & LOWER
        scratch.d[0, lane] = lower | upper << HALF


@rule
def _given(scratch: Scratch, lane: int) -> np.uint32:
    """Return a of a lane, 0 if it takes no part."""
    return np.uint32(scratch.a[0, lane]) if (scratch.active >> lane) & 1 else np.uint32(0)


OWN: Mapping[Any, Rule] = {
    definition.ballot: ballot,
    definition.match_any: match_any,
    definition.match_all: match_all,
    definition.all_match: all_match,
    definition.of_first_lane: of_first_lane,
    definition.is_other: is_other,
    definition.first_lane: first_lane,
    definition.is_first: is_first,
    definition.transposed: transposed,
}


def tiled(of: Tile) -> Rule:
    """Return a rule (sm) for a matrix."""
    fill = rule(of.fill)

    def apply(sm: Sm) -> None:
        scratch = sm.scratch
        fill(scratch.d, scratch.a, scratch.b, scratch.c, scratch.n, max(scratch.tiles, 1))

    return apply


OF_KIND: Mapping[type, Callable[[Any], Rule]] = {
    Shuffle: shuffled,
    InRange: told_in_range,
    Reduction: reduced,
    Vote: voted,
    Tile: tiled,
}


def rule_of(function: Function) -> Rule:
    """Return the rule (sm) that sets d or the flag in `sm.scratch` to a function of the instruction table."""
    of = function.function
    if not COMPILED and not isinstance(of, Tile):
        return interpreted(function)
    make = OF_KIND.get(type(of))
    return make(of) if make else OWN[of]
