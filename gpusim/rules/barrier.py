"""BAR.SYNC: once as many warps as it names have arrived, a block's barrier releases them one after the other."""

from __future__ import annotations

from typing import Any

from gpusim.jit.rule import NEVER, rarely, rule
from gpusim.rules import record, warp_scheduler
from gpusim.state.fault import Fault
from gpusim.units.stall import Stall

BARRIER = int(Stall.BARRIER)
MISCOUNTED = int(Fault.MISCOUNTED)


@rule
def commit(sm: Any, k: int, g: int, instruction: Any, pc: int, now: int) -> None:
    """Let warp slot g of scheduler k arrive; its release time is known if it is the last one."""
    release_at = sm.warps[g].release_at
    release_at[BARRIER] = _arrive(sm, g, instruction, now)
    if sm.tracing and release_at[BARRIER] < NEVER:
        record.release(sm, k, g, pc, release_at[BARRIER], now)


@rarely
def _arrive(sm: Any, g: int, instruction: Any, now: int) -> int:
    """Let warp slot g arrive; return the cycle at which it is released, NEVER while other warps are missing.

    It is a fault to name another number of warps than those that wait there already. What-if, on no chip: no warp
    waits.
    """
    if sm.machine.barriers_pass:
        return now
    warp, schedulers = sm.warps[g], sm.machine.schedulers
    barrier = sm.blocks[warp.block].barriers[instruction.barrier]
    if barrier.arrived > 0 and barrier.expected != instruction.arrivals:
        sm.fault.code, sm.fault.pc, sm.fault.warp = MISCOUNTED, warp.pc - 1, g
        return NEVER
    warp.waits_at = warp.pc - 1
    barrier.expected = instruction.arrivals
    barrier.arrived += 1
    barrier.waiting[g % schedulers] |= 1 << (g // schedulers)
    return NEVER if barrier.arrived < instruction.arrivals else _release(sm, barrier, g, now)


@rule
def _release(sm: Any, barrier: Any, last: int, now: int) -> int:
    """Release all waiting warps in slot order; return when warp slot `last`, which has just arrived, is released."""
    schedulers, block = sm.machine.schedulers, sm.warps[last].block
    own = release = now + max(1, sm.machine.barrier)
    for g in range(block * sm.launch.warps, (block + 1) * sm.launch.warps):
        if barrier.waiting[g % schedulers] >> (g // schedulers) & 1:
            release += sm.machine.per_warp
            if g == last:
                own = release
            else:
                sm.warps[g].release_at[BARRIER] = release
                warp_scheduler.wake(sm, g)
    barrier.arrived = 0
    for k in range(schedulers):
        barrier.waiting[k] = 0
    return own
