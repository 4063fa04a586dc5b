"""The global addresses and comparisons of a recorded block, which decide whether other blocks can take its script."""

from __future__ import annotations

import numpy as np

from gpusim.jit.kinds import Row, Sm
from gpusim.jit.on_demand import on_demand
from gpusim.rules import memory_access
from gpusim.units.capacities import LANES
from gpusim.units.opcodes import COMPARISON, GLOBAL_MEMORY


@on_demand
def widen(sm: Sm, group: int, instruction: Row, active: int) -> None:
    """Include the accesses or comparisons of a lane group's instruction that was just computed."""
    script, feed = sm.scripts[sm.scripted], instruction.feed
    if instruction.action == COMPARISON and feed >= 0 and instruction.evaluate:
        for lane in range(LANES):
            if (active >> lane) & 1:
                a = (np.int64(sm.scratch.a[lane]) + instruction.bias) & 0xFFFFFFFF
                b = (np.int64(sm.scratch.b[lane]) + instruction.bias) & 0xFFFFFFFF
                script.low[feed] = min(script.low[feed], a, b)
                script.high[feed] = max(script.high[feed], a + 1, b + 1)
    elif memory_access.accesses(instruction) and instruction.memory_kind == GLOBAL_MEMORY:
        script.low[feed] = min(script.low[feed], sm.feed[group, feed].low)
        script.high[feed] = max(script.high[feed], sm.feed[group, feed].high)
