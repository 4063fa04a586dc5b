"""Cross-lane instructions: results that depend on other lanes of the warp, as `isa.values.cross_lane` defines them.

A shuffle, a reduction and a vote are compiled from the functions that the definition names; each other function has a
rule of its own here, with the same meaning.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gpusim.sm.jit.on_demand import on_demand, one_on_demand
from gpusim.sm.jit.rule import COMPILED, lowest_bit, rule
from gpusim.sm.records import Row, Scratch, Sm
from gpusim.sm.unit.capacities import LANES
from gpusim.sm.unit.opcodes import ACROSS, ACROSS_TRUTHS
from isa.values import cross_lane as definition
from isa.values.cross_lane import InRange, Reduction, Shuffle, Vote

Rule = Callable[[Sm], None]


@on_demand
def exchange(sm: Sm, instruction: Row) -> None:
    """Set `sm.scratch.d`, and `flag` for a predicate, in every lane, from the operands of the lanes in `active`."""
    across(instruction.value, sm)
    if instruction.truth >= 0:
        across_truth(instruction.truth, sm)


def interpreted(function: Callable[..., Any], into: str) -> Rule:
    """Return a rule (sm) that sets a field of `sm.scratch` to the function itself: where nothing is compiled."""

    def apply(sm: Sm) -> None:
        scratch = sm.scratch
        active = (np.int64(scratch.active) >> np.arange(LANES) & 1) != 0
        a, b, c, d = (np.asarray(field) for field in (scratch.a, scratch.b, scratch.c, scratch[into]))
        a = a | b.astype(np.uint64) << np.uint64(32) if function in PAIRS else a
        with np.errstate(all="ignore"):
            found = function(a[None], b[None], c[None], active[None])
        np.copyto(d, found[0], casting="unsafe")

    return apply


def shuffled(of: Shuffle) -> Rule:
    """Return a rule (sm) for a shuffle."""
    there, in_range = rule(of.there), rule(of.in_range)

    def apply(sm: Sm) -> None:
        scratch, active = sm.scratch, sm.scratch.active
        for lane in range(LANES):
            own = np.uint32(lane)
            source = np.int64(lane)
            if in_range(own, scratch.b[lane], scratch.c[lane]):
                source = np.int64(there(own, scratch.b[lane], scratch.c[lane]))
            scratch.d[lane] = scratch.a[source] if (active >> source) & 1 else np.uint32(0)

    return apply


def told_in_range(of: InRange) -> Rule:
    """Return a rule (sm) for the predicate of a shuffle."""
    in_range = rule(of.in_range)

    def apply(sm: Sm) -> None:
        scratch = sm.scratch
        for lane in range(LANES):
            scratch.flag[lane] = 1 if in_range(np.uint32(lane), scratch.b[lane], scratch.c[lane]) else 0

    return apply


def reduced(of: Reduction) -> Rule:
    """Return a rule (sm) for a reduction."""
    join, first = rule(of.join), of.first

    def apply(sm: Sm) -> None:
        scratch, active = sm.scratch, sm.scratch.active
        whole = np.uint32(first)
        for lane in range(LANES):
            if (active >> lane) & 1:
                whole = np.uint32(join(whole, scratch.a[lane]))
        scratch.d[:] = whole

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
        mask |= np.int64(scratch.c[lane] & np.uint32(1)) << lane
    return int(mask & scratch.active)


def ballot(sm: Sm) -> None:
    """Compute `isa.values.cross_lane.ballot`."""
    sm.scratch.d[:] = np.uint32(_yes(sm.scratch))


@rule
def _alike(scratch: Scratch, lane: int) -> int:
    """Return the mask of the active lanes whose a, with its upper word in b, is that of a lane."""
    mask = np.int64(0)
    for other in range(LANES):
        same = scratch.a[other] == scratch.a[lane] and scratch.b[other] == scratch.b[lane]
        mask |= np.int64(same) << other
    return int(mask & scratch.active)


@rule
def _all_alike(scratch: Scratch) -> bool:
    return bool(scratch.active == 0 or _alike(scratch, lowest_bit(scratch.active)) == scratch.active)


def match_any(sm: Sm) -> None:
    """Compute `isa.values.cross_lane.match_any`."""
    for lane in range(LANES):
        sm.scratch.d[lane] = _alike(sm.scratch, lane)


def match_all(sm: Sm) -> None:
    """Compute `isa.values.cross_lane.match_all`."""
    sm.scratch.d[:] = np.uint32(sm.scratch.active if _all_alike(sm.scratch) else 0)


def all_match(sm: Sm) -> None:
    """Compute `isa.values.cross_lane.all_match`."""
    sm.scratch.flag[:] = np.uint32(1) if _all_alike(sm.scratch) else np.uint32(0)


def of_first_lane(sm: Sm) -> None:
    """Compute `isa.values.cross_lane.of_first_lane`."""
    scratch = sm.scratch
    scratch.d[:] = scratch.a[lowest_bit(scratch.active)] if scratch.active else np.uint32(0)


def is_other(sm: Sm) -> None:
    """Compute `isa.values.cross_lane.is_other`."""
    scratch = sm.scratch
    first = scratch.a[lowest_bit(scratch.active)] if scratch.active else np.uint32(0)
    for lane in range(LANES):
        scratch.flag[lane] = 1 if scratch.a[lane] != first or scratch.c[lane] != 0 else 0


def first_lane(sm: Sm) -> None:
    """Compute `isa.values.cross_lane.first_lane`."""
    yes = _yes(sm.scratch)
    sm.scratch.d[:] = np.uint32(lowest_bit(yes)) if yes else np.uint32(0)


def is_first(sm: Sm) -> None:
    """Compute `isa.values.cross_lane.is_first`."""
    yes = _yes(sm.scratch)
    sm.scratch.flag[:] = np.uint32(0)
    if yes:
        sm.scratch.flag[lowest_bit(yes)] = np.uint32(1)


PAIRS = frozenset({definition.match_any, definition.match_all, definition.all_match})  # a may have 64 bits
OWN: Mapping[Any, Rule] = {
    definition.ballot: ballot,
    definition.match_any: match_any,
    definition.match_all: match_all,
    definition.all_match: all_match,
    definition.of_first_lane: of_first_lane,
    definition.is_other: is_other,
    definition.first_lane: first_lane,
    definition.is_first: is_first,
}


def rule_of(function: Any, into: str) -> Rule:
    """Return the rule (sm) that sets a field of `sm.scratch` to a function of the instruction table."""
    if not COMPILED:
        return interpreted(function, into)
    match function:
        case Shuffle():
            return shuffled(function)
        case InRange():
            return told_in_range(function)
        case Reduction():
            return reduced(function)
        case Vote():
            return voted(function)
    return OWN[function]


across = one_on_demand("across", [rule_of(function, "d") for function in ACROSS])
across_truth = one_on_demand("across_truth", [rule_of(function, "flag") for function in ACROSS_TRUTHS])
