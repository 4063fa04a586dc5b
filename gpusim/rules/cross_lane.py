"""Cross-lane instructions: results that depend on other lanes of the warp, as `isa.values.cross_lane` defines them."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpusim.jit.kinds import Sm
from gpusim.jit.on_demand import on_demand
from gpusim.jit.rule import rule
from gpusim.units.capacities import LANES
from gpusim.units.opcodes import ACROSS
from isa.values.cross_lane import ballot, shuffle_butterfly, shuffle_index, total

SHUFFLE_INDEX, SHUFFLE_BUTTERFLY, BALLOT, TOTAL = map(ACROSS.index, (shuffle_index, shuffle_butterfly, ballot, total))


@on_demand
def exchange(sm: Sm, function: int, active: int) -> None:
    """Set `sm.scratch.d` in every lane, from the operands of the active ones; `function` is an index into ACROSS."""
    scratch = sm.scratch
    if function == SHUFFLE_INDEX or function == SHUFFLE_BUTTERFLY:  # noqa: SIM109, PLR1714  (two compares when compiled)
        for lane in range(LANES):
            there = np.int64(scratch.b[lane]) % LANES
            there = lane ^ there if function == SHUFFLE_BUTTERFLY else there
            scratch.d[lane] = scratch.a[there if (active >> there) & 1 else lane]
    else:
        _gather(scratch.c if function == BALLOT else scratch.a, scratch.d, active, function == BALLOT)


@rule
def _gather(of: Any, into: Any, active: int, places: bool) -> None:
    """Give every lane the sum over the active lanes, each lane's part moved to its own place if `places`."""
    whole = np.int64(0)
    for lane in range(LANES):
        if (active >> lane) & 1:
            whole += np.int64(of[lane]) << (lane if places else 0)
    into[:] = np.uint32(whole & 0xFFFFFFFF)
