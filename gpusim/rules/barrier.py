"""BAR.SYNC: a block's barrier lets its warps go once as many as it names have arrived."""

from __future__ import annotations

from typing import Any

from gpusim.rule import NEVER, lowest_bit, rule
from gpusim.rules import warp_scheduler
from gpusim.stall import Stall

BARRIER = int(Stall.BARRIER)


@rule
def commit(sm: Any, g: int, instruction: Any, now: int) -> int:
    """Warp slot g arrives; returns the cycle at which it is released, NEVER while others are missing."""
    warp, schedulers = sm.warps[g], sm.machine.schedulers
    barrier = sm.blocks[warp.block].barriers[instruction.barrier]
    barrier.arrived += 1
    if barrier.arrived < instruction.arrivals:
        barrier.waiting[g % schedulers] |= 1 << (g // schedulers)
        return NEVER
    release = now + max(1, sm.machine.barrier)
    barrier.arrived = 0
    for k in range(schedulers):
        _release(sm, k, barrier.waiting[k], release)
        barrier.waiting[k] = 0
    return release


@rule
def _release(sm: Any, k: int, waiting: int, release: int) -> None:
    while waiting:
        j = lowest_bit(waiting)
        waiting &= waiting - 1
        g = j * sm.machine.schedulers + k
        sm.warps[g].rung[BARRIER] = release
        warp_scheduler.wake(sm, g)
