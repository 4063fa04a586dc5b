"""BAR.SYNC: a block's barrier lets its warps go once as many as it names have arrived."""

from __future__ import annotations

from typing import Any

from gpusim.rule import NEVER, lowest_bit, rarely, rule
from gpusim.rules import warp_scheduler
from gpusim.stall import Stall

BARRIER = int(Stall.BARRIER)
MISCOUNTED = 6  # fault code, behind those of memory_access


@rarely
def commit(sm: Any, g: int, instruction: Any, now: int) -> int:
    """Warp slot g arrives; returns the cycle at which it is released, NEVER while others are missing.

    It is a fault to name another number of warps than those who wait there already.
    """
    warp, schedulers = sm.warps[g], sm.machine.schedulers
    barrier = sm.blocks[warp.block].barriers[instruction.barrier]
    if barrier.arrived > 0 and barrier.expected != instruction.arrivals:
        sm.fault.code, sm.fault.pc, sm.fault.warp = MISCOUNTED, warp.pc - 1, g
        return NEVER
    barrier.expected = instruction.arrivals
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
