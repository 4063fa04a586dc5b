"""Special registers: a thread's place in the launch, and what the machine says of itself and of the time."""

from __future__ import annotations

import numpy as np

from gpusim.sm.jit.rule import rarely, rule
from gpusim.sm.lanes.predicates import ALL
from gpusim.sm.lanes.values.operand_change import WORD
from gpusim.sm.records import Numbers, Sm, Warp
from gpusim.sm.unit.capacities import LANES
from isa.operands.operand import EVERY_SPECIAL
from isa.operands.special import VIRTUAL_SM, VIRTUAL_WARP

CLOCK, SMID, LANES_EQUAL = (EVERY_SPECIAL.index(name) for name in ("CLOCKLO", "SMID", "LANEMASK_EQ"))
TIMER, VIRTUAL, RANK = (EVERY_SPECIAL.index(name) for name in ("GLOBALTIMERLO", "VIRTID", "CLUSTER_RANK"))


def read(sm: Sm) -> None:
    """Set d to the special register, numbered as in operand.SPECIALS, for every lane of the group."""
    group, launch = sm.scratch.group, sm.launch
    warp = sm.warps[group // sm.machine.groups]
    which = sm.program[warp.pc].special
    place = (group % sm.machine.groups) * LANES  # of the group's first lane in the warp
    block, axis = sm.blocks[warp.block].id, which % 3
    for lane in range(LANES):
        if which < 3:
            value = _coordinate(warp.index * sm.machine.groups * LANES + place + lane, launch.block, axis)
        elif which < 6:
            value = _coordinate(block, launch.grid, axis)
        elif which < 9:
            value = launch.block[axis]
        elif which < 12:
            value = launch.grid[axis]
        elif which < CLOCK:
            value = place + lane if which == 12 else warp.index
        else:
            value = _of_machine(sm, which, place + lane) if which < TIMER else _further(sm, warp, which)
        sm.scratch.d[0, lane] = value
    sm.scratch.d[1, :] = np.uint32(_upper_half(sm, which))


@rarely
def _further(sm: Sm, warp: Warp, which: int) -> int:
    """Return the time in nanoseconds, or where a warp runs: the SM and, for its slot, its number in the block."""
    if which == RANK:
        return int(sm.launch.rank)
    if which == VIRTUAL:
        return int(sm.launch.index << VIRTUAL_SM | warp.index << VIRTUAL_WARP)
    return _nanoseconds(sm) & 0xFFFFFFFF if which == TIMER else _nanoseconds(sm) >> WORD


@rule
def _upper_half(sm: Sm, which: int) -> int:
    """Return the upper half of the time; other special registers have none."""
    if which == TIMER:
        return _nanoseconds(sm) >> WORD
    return sm.now >> WORD if which == CLOCK else 0


@rule
def _nanoseconds(sm: Sm) -> int:
    """Return the time since the launch."""
    return int(sm.now * 1000 // sm.launch.mhz)


@rarely
def _of_machine(sm: Sm, which: int, lane: int) -> int:
    """Return a special register that only machine code names."""
    if which < SMID:
        return sm.now & 0xFFFFFFFF if which == CLOCK else sm.now >> WORD
    if which < LANES_EQUAL:
        return sm.launch.index if which == SMID else sm.launch.sms
    own, below = 1 << lane, (1 << lane) - 1
    if which == LANES_EQUAL:
        return own
    if which < LANES_EQUAL + 3:
        return below if which == LANES_EQUAL + 1 else below | own
    if which < LANES_EQUAL + 5:
        return ALL & ~(below | own) if which == LANES_EQUAL + 3 else ALL & ~below
    return 0


@rule
def _coordinate(linear: int, extent: Numbers, axis: int) -> int:
    if axis == 0:
        return linear % extent[0]
    if axis == 1:
        return linear // extent[0] % extent[1]
    return linear // (extent[0] * extent[1])
