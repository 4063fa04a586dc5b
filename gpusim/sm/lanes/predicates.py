"""Predicates of a warp: masks of the lanes in which they are true, and what an instruction sets of them."""

from __future__ import annotations

import numpy as np

from gpusim.sm.jit.rule import rarely, rule
from gpusim.sm.records import Lanes, Numbers, Row
from gpusim.sm.unit.capacities import LANES, WRITTEN

ALL = (1 << LANES) - 1


@rule
def mask_of(lanes: Lanes, predicate: int, negated: int) -> int:
    """Return the lanes in which a predicate, perhaps negated, is true."""
    mask = lanes.predicates[predicate]
    return ALL & ~mask if negated else mask


@rule
def set_one(lanes: Lanes, predicate: int, flag: Numbers, active: int) -> None:
    """Set a predicate, if there is one (-1: none), where a word of the flag is not 0, in the active lanes."""
    if predicate < 0:
        return
    mask = 0
    for lane in range(LANES):
        if flag[lane] != 0:
            mask |= 1 << lane
    lanes.predicates[predicate] = (mask & active) | (lanes.predicates[predicate] & ~active)


@rule
def set_both(lanes: Lanes, instruction: Row, flag: Numbers, active: int) -> None:
    """Set both predicates from the words of truths, P in bit 0 and p in bit 1."""
    first = second = 0
    for lane in range(LANES):
        first |= int(flag[lane] & np.uint32(1)) << lane
        second |= int(flag[lane] >> np.uint32(1) & np.uint32(1)) << lane
    if instruction.predicate >= 0:
        kept = lanes.predicates[instruction.predicate] & ~active
        lanes.predicates[instruction.predicate] = (first & active) | kept
    if instruction.second_predicate >= 0:
        kept = lanes.predicates[instruction.second_predicate] & ~active
        lanes.predicates[instruction.second_predicate] = (second & active) | kept
    if instruction.others:
        _set_more(lanes, instruction, flag, active)


@rarely
def _set_more(lanes: Lanes, instruction: Row, flag: Numbers, active: int) -> None:
    """Set the predicates beyond the first two, from bit 2 on."""
    for place in range(WRITTEN - 2):
        predicate, mask = instruction.more_predicates[place], 0
        if predicate >= 0:
            for lane in range(LANES):
                mask |= int(flag[lane] >> np.uint32(place + 2) & np.uint32(1)) << lane
            lanes.predicates[predicate] = (mask & active) | (lanes.predicates[predicate] & ~active)
