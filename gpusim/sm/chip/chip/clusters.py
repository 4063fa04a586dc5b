"""What the SMs of a cluster do together: they pass its barrier, and the next one begins in a slot that all have free.

SMs that follow each other have the ranks 0, 1, ... of their clusters. Each acts alone, and notes news; the engine asks
after its act. What follows for the other SMs lies at least a cycle ahead.
"""

from __future__ import annotations

from gpusim.sm.front.block_scheduler import block_scheduler
from gpusim.sm.front.block_scheduler.declaration import FREE
from gpusim.sm.front.cluster import cluster_barrier
from gpusim.sm.jit.rule import rarely, rule
from gpusim.sm.records import Chip, Records, Sm
from gpusim.sm.unit.sm import LAUNCHER


@rarely
def look(sms: Records[Sm], s: int, chips: Records[Chip], now: int) -> None:
    """SM s has news: let its clusters go on, or end."""
    cluster_barrier.meet(sms, s)
    first = cluster_barrier.first_of(sms[s], s)
    for slot in range(sms[s].launch.resident):
        _follow(sms, first, slot, chips[0], now)


@rule
def _follow(sms: Records[Sm], first: int, slot: int, chip: Chip, now: int) -> None:
    """Let the grid's next cluster begin in a slot that all SMs have free."""
    for s in range(first, first + sms[first].launch.cluster):
        if sms[s].blocks[slot].state != FREE or sms[s].blocks[slot].coming:
            return
    if chip.next < chip.end:
        begin = block_scheduler.hand_out(chip, sms[first].machine.refill_parts * sms[first].launch.cluster, now)
        for s in range(first, first + sms[first].launch.cluster):
            block = sms[s].blocks[slot]
            block.coming, block.begins = 1 + chip.next, begin
            sms[s].agenda[LAUNCHER] = min(sms[s].agenda[LAUNCHER], now + 1)
        chip.next += sms[first].launch.apart
