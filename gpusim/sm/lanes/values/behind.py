"""Words of a matrix instruction behind those of its sources: places of a sparse matrix's numbers, scales."""

from __future__ import annotations

from gpusim.sm.jit import lane_words
from gpusim.sm.jit.rule import rule
from gpusim.sm.records import Lanes, Numbers


@rule
def load(to: Numbers, lanes: Lanes, register: int) -> None:
    """Set a word of each lane to a register; -1: there is none, -2: to zero."""
    if register >= 0:
        lane_words.copy(to, lanes.registers, register)
    elif register < -1:
        to[:] = 0
