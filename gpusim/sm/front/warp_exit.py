"""EXIT: a warp leaves its block, and with the last warp the block is finished."""

from __future__ import annotations

from gpusim.sm.front.barrier import barrier
from gpusim.sm.front.block_scheduler import block_scheduler
from gpusim.sm.front.cluster import cluster_barrier
from gpusim.sm.jit.rule import NEVER, rarely, rule
from gpusim.sm.records import Sm, Warp
from gpusim.sm.registers.in_flight import in_flight


@rule
def earliest(sm: Sm, warp: Warp, exits: bool) -> int:
    """Return when the warp's accesses are done; NEVER: not known yet. Who `exits` waits for copies, too.

    Where other lanes of the warp go on, these wait for them.
    """
    copying = exits and warp.copying > 0 and not (sm.independent and warp.parted)
    return NEVER if warp.pending > 0 or copying else int(warp.drained)


@rarely
def commit(sm: Sm, g: int, pc: int, now: int) -> None:
    """Warp slot g has exited; with the block's last warp the block is finished."""
    warp = sm.warps[g]
    block = sm.blocks[warp.block]
    if sm.defers:
        in_flight.write_back(sm, g, NEVER - 1)
    warp.live, warp.pc = 0, pc
    sm.schedulers[warp.scheduler].active &= ~(1 << warp.place)
    block.live -= 1
    if sm.independent:
        barrier.leave(sm, g, pc, now)
    if sm.launch.cluster > 1 or block.arrived > 0:
        cluster_barrier.leave(sm, g)
    if block.live == 0:
        block_scheduler.finish(sm, block, now + sm.machine.interval)
