"""Predicates of a warp: masks of the lanes in which they are true, and what an instruction sets of them."""

from __future__ import annotations

import numpy as np

from gpusim.sm.jit.rule import rarely, rule
from gpusim.sm.records import Lanes, Numbers, Row
from gpusim.sm.unit.capacities import LANES, WRITTEN
from isa.operands.operand import FIRST_UNIFORM

ALL = (1 << LANES) - 1


@rule
def mask_of(lanes: Lanes, predicate: int, negated: int) -> int:
    """Return the lanes in which a predicate, perhaps negated, is true."""
    mask = lanes.predicates[predicate]
    return ALL & ~mask if negated else mask


@rule
def set_told(lanes: Lanes, instruction: Row, flag: Numbers, own: int, active: int) -> None:
    """Set the predicates that an instruction writes from the words of truths, P in bit 0.

    A predicate of lanes changes in the lanes that take part (`own`), one that all share in the `active` ones.
    """
    _set(lanes, instruction.predicate, flag, 0, own, active)
    if instruction.second_predicate >= 0:
        _set(lanes, instruction.second_predicate, flag, 1, own, active)
    if instruction.others:
        _set_more(lanes, instruction, flag, own, active)


@rule
def _set(lanes: Lanes, predicate: int, flag: Numbers, bit: int, own: int, active: int) -> None:
    if predicate < 0:
        return
    mask, changed = 0, own if predicate < FIRST_UNIFORM else active
    for lane in range(LANES):
        mask |= int(flag[lane] >> np.uint32(bit) & np.uint32(1)) << lane
    lanes.predicates[predicate] = (mask & changed) | (lanes.predicates[predicate] & ~changed)


@rarely
def _set_more(lanes: Lanes, instruction: Row, flag: Numbers, own: int, active: int) -> None:
    """Set the predicates beyond the first two."""
    for place in range(WRITTEN - 2):
        _set(lanes, instruction.more_predicates[place], flag, place + 2, own, active)
