"""The barrier of a cluster: UCGABAR_ARV arrives and goes on, UCGABAR_WAIT waits until all blocks' warps have arrived.

Warps that have exited count as arrived. The SM's barrier unit counts the arrivals of its blocks, one after the other.
A block whose warps have all arrived is news for the other SMs (gpusim/sm/chip/chip/clusters.py); a cluster of one block
is released here. The warps that wait are released `cluster.barrier` cycles after the last arrival, and
`cluster.doubling` more for each doubling of the blocks.
"""

from __future__ import annotations

from gpusim.sm.account.stopping import stop
from gpusim.sm.effects import waiting
from gpusim.sm.front.block_scheduler.declaration import RUNNING
from gpusim.sm.front.cluster.declaration import ARRIVES
from gpusim.sm.front.warp_scheduler import warp_scheduler
from gpusim.sm.jit.on_demand import on_demand
from gpusim.sm.jit.rule import NEVER, rarely, rule
from gpusim.sm.records import Block, Records, Row, Sm
from gpusim.sm.state.fault import Fault
from gpusim.sm.unit.stall import Stall

BARRIER = int(Stall.BARRIER)
PART, TWICE = int(Fault.PART_OF_WARP), int(Fault.ARRIVED_TWICE)


@on_demand
def commit(sm: Sm, g: int, instruction: Row, pc: int, now: int) -> None:
    """Let warp slot g arrive or wait."""
    warp = sm.warps[g]
    if warp.parted > 0 or sm.outcome.active[0] != warp.lanes[0]:
        stop(sm, PART, g, pc)
    elif instruction.cluster_step == ARRIVES:
        _arrive(sm, g, pc, now)
    else:
        _wait(sm, g, pc)


@on_demand
def leave(sm: Sm, g: int) -> None:
    """Warp slot g has exited: its block may be complete without it."""
    warp = sm.warps[g]
    block = sm.blocks[warp.block]
    if warp.cluster_until >= NEVER:
        block.arrived -= 1
    _tell(sm, warp.block)


@rule
def complete(block: Block) -> bool:
    """Tell whether all of a block's warps that have not exited have arrived."""
    return bool(block.arrived >= block.live)


@rule
def _arrive(sm: Sm, g: int, pc: int, now: int) -> None:
    warp = sm.warps[g]
    block = sm.blocks[warp.block]
    if warp.cluster_until >= NEVER:
        stop(sm, TWICE, g, pc)
        return
    warp.cluster_until = NEVER
    sm.arrival_free = block.last_arrival = max(now, sm.arrival_free) + sm.machine.per_arrival
    block.arrived += 1
    _tell(sm, warp.block)


@rule
def _wait(sm: Sm, g: int, pc: int) -> None:
    warp = sm.warps[g]
    warp.waits_at, warp.released_at = pc, warp.cluster_until
    warp.cluster_waits = 1 if warp.cluster_until >= NEVER else 0
    if not sm.machine.barrier_defers:
        warp.release_at[BARRIER] = warp.released_at


@rule
def _tell(sm: Sm, slot: int) -> None:
    """Note that a block is complete; a cluster of one block is released at once."""
    block = sm.blocks[slot]
    if complete(block):
        if sm.launch.cluster > 1:
            sm.cluster_news = 1
        elif block.arrived > 0:
            release(sm, slot, block.last_arrival + sm.machine.cluster_barrier)


@rarely
def release(sm: Sm, slot: int, when: int) -> None:
    """Let the warps of a slot's block pass at `when`; those that come to wait later pass at once, if that is over."""
    sm.blocks[slot].arrived = 0
    for g in range(slot * sm.launch.warps, (slot + 1) * sm.launch.warps):
        warp = sm.warps[g]
        if warp.live and warp.cluster_until >= NEVER:
            warp.cluster_until = when
            if warp.cluster_waits:
                warp.cluster_waits, warp.released_at = 0, when
                if warp.release_at[BARRIER] >= NEVER:
                    warp.release_at[BARRIER] = when
                    warp_scheduler.wake(sm, g)


@rule
def latency(sm: Sm) -> int:
    """Return the cycles from the last arrival at the barrier of a cluster until the release."""
    cycles, blocks = sm.machine.cluster_barrier, 1
    while blocks < sm.launch.cluster:
        blocks *= 2
        cycles += sm.machine.cluster_doubling
    return int(cycles)


@rarely
def meet(sms: Records[Sm], s: int) -> None:
    """SM s has news: release the warps at the barriers of its clusters that are complete."""
    sms[s].cluster_news = 0
    first = first_of(sms[s], s)
    if sms[s].tells:
        _tell_others(sms, s, first)
    for slot in range(sms[s].launch.resident):
        _meet(sms, first, slot)


@rarely
def _tell_others(sms: Records[Sm], s: int, first: int) -> None:
    """Tell the SMs of a cluster which phases of their barriers SM s has ended."""
    for other in range(first, first + sms[s].launch.cluster):
        if other != s:
            sms[other].now = max(sms[other].now, sms[s].now)
            for i in range(sms[s].tells):
                place = sms[s].told[i]
                if 0 <= place - sms[other].launch.shared_word < sms[s].launch.resident * sms[s].launch.shared_words:
                    waiting.over(sms[other], -1, -1, place, -1)
    sms[s].tells = 0


@rule
def first_of(sm: Sm, s: int) -> int:
    """Return the first SM of those that share clusters with SM s."""
    return int(s - s % sm.launch.cluster)


@rule
def _meet(sms: Records[Sm], first: int, slot: int) -> None:
    """Release the warps at the barrier of the slot's cluster if all its blocks are complete."""
    arrived = ends = 0
    for s in range(first, first + sms[first].launch.cluster):
        block = sms[s].blocks[slot]
        if block.coming or (block.state == RUNNING and not complete(block)):
            return
        if block.arrived > 0:
            arrived, ends = 1, max(ends, block.last_arrival)
    if arrived:
        when = ends + latency(sms[first])
        for s in range(first, first + sms[first].launch.cluster):
            release(sms[s], slot, when)
