"""The global addresses, comparisons and texture coordinates of a recorded block.

They decide whether other blocks can take its script.
"""

from __future__ import annotations

import numpy as np

from gpusim.sm.jit.on_demand import on_demand
from gpusim.sm.jit.rule import rarely
from gpusim.sm.memory.memory_access import memory_access
from gpusim.sm.memory.texture import texel
from gpusim.sm.records import Row, Script, Sm
from gpusim.sm.unit.capacities import FEED, LANES
from gpusim.sm.unit.opcodes import COMPUTE, FETCH, GLOBAL_MEMORY

END = 1 << 40  # stands for the end of a row, or of the rows: distances from it are relative to this


@on_demand
def widen(sm: Sm, group: int, instruction: Row, active: int) -> None:
    """Include the accesses, comparisons or coordinates of a lane group's instruction that was just computed."""
    script, feed = sm.scripts[sm.scripted], instruction.feed
    if instruction.action == COMPUTE and feed >= 0 and instruction.evaluate:
        for lane in range(LANES):
            if (active >> lane) & 1:
                a = int(np.int64(sm.scratch.a[0, lane]) + instruction.bias) & 0xFFFFFFFF
                b = int(np.int64(sm.scratch.b[0, lane]) + instruction.bias) & 0xFFFFFFFF
                script.low[feed] = min(script.low[feed], a, b)
                script.high[feed] = max(script.high[feed], a + 1, b + 1)
    elif memory_access.accesses(instruction) and instruction.memory_kind == GLOBAL_MEMORY:
        if feed < FEED:  # else nobody asks (gpusim/launch/feed.py)
            remembered = sm.feed[group, memory_access.place(instruction)]
            script.low[feed] = min(script.low[feed], remembered.low)
            script.high[feed] = max(script.high[feed], remembered.high)
    elif instruction.action == FETCH and feed >= 0:
        for lane in range(LANES):
            if (active >> lane) & 1:
                pitch, lines = texel.rows(sm.scratch, instruction, lane)
                _include(script, feed, sm.scratch.a[0, lane], min(pitch, np.int64(instruction.limit)))
                _include(script, feed + 1, sm.scratch.b[0, lane], lines)


@rarely
def _include(script: Script, feed: int, coordinate: int, end: np.int64) -> None:
    """Include a coordinate, and how far it lies from the end of its range."""
    place = int(np.int64(np.int32(coordinate)))
    script.low[feed] = min(script.low[feed], place)
    script.high[feed] = max(script.high[feed], place + 1 - int(end) + END)
