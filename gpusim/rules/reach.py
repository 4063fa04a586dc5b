"""What a recorded block accesses of global memory, and what it compares: other blocks play its script by that."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpusim.jit.on_demand import on_demand
from gpusim.rules import memory_access
from gpusim.units.capacities import LANES
from gpusim.units.opcodes import COMPARISON, GLOBAL_SPACE


@on_demand
def widen(sm: Any, group: int, instruction: Any, active: int) -> None:
    """Take in what a lane group's instruction, just computed, has accessed or compared."""
    script, feed = sm.scripts[sm.scripted], instruction.feed
    if instruction.action == COMPARISON and feed >= 0 and instruction.evaluate:
        for lane in range(LANES):
            if (active >> lane) & 1:
                a = (np.int64(sm.scratch.a[lane]) + instruction.bias) & 0xFFFFFFFF
                b = (np.int64(sm.scratch.b[lane]) + instruction.bias) & 0xFFFFFFFF
                script.low[feed] = min(script.low[feed], a, b)
                script.high[feed] = max(script.high[feed], a + 1, b + 1)
    elif memory_access.accesses(instruction) and instruction.space == GLOBAL_SPACE:
        script.low[feed] = min(script.low[feed], sm.feed[group, feed].low)
        script.high[feed] = max(script.high[feed], sm.feed[group, feed].high)
