"""Block scheduler: it places blocks of the grid while they fit, and the next one when a block has finished."""

from __future__ import annotations

from gpusim.sm.account.stall_accounting import stall_accounting
from gpusim.sm.effects import groups
from gpusim.sm.front.block_scheduler.declaration import DONE, FREE, RUNNING
from gpusim.sm.front.cluster import cluster
from gpusim.sm.front.fetch import fetch
from gpusim.sm.front.warp_scheduler import warp_scheduler
from gpusim.sm.jit.rule import NEVER, rarely, rule
from gpusim.sm.lanes import packed_lanes
from gpusim.sm.lanes.convergence import convergence
from gpusim.sm.lanes.simt_stack import simt_stack
from gpusim.sm.memory.cache.declaration import SHARE_PARTS
from gpusim.sm.memory.constant_operand import constant_operand
from gpusim.sm.memory.l2_channel import l2_channel
from gpusim.sm.memory.l2_share import l2_share
from gpusim.sm.records import Block, Chip, LaunchNumbers, Sm, Warp
from gpusim.sm.registers.control_code import control_code
from gpusim.sm.registers.register_file import register_file
from gpusim.sm.registers.wait_count import wait_count
from gpusim.sm.unit.capacities import BARRIERS, HOLDS
from gpusim.sm.unit.sm import LAUNCHER
from gpusim.sm.unit.stall import OWN, Stall

LAUNCH, EXITED, EMPTY = int(Stall.LAUNCH_DELAY), int(Stall.WARP_EXITED), int(Stall.NO_WARP)


@rule
def finish(sm: Sm, block: Block, when: int) -> None:
    """The block's last warp leaves at `when`: from then on its slot is free."""
    block.state, block.finished = DONE, when
    sm.agenda[LAUNCHER] = min(sm.agenda[LAUNCHER], when)


@rarely
def retire(sm: Sm, slot: int, now: int) -> None:
    """Free the block slot and settle its warps, which have waited for their last one."""
    for index in range(sm.launch.warps):
        g = slot * sm.launch.warps + index
        warp = sm.warps[g]
        sm.program[warp.pc].stall[EXITED] += now - warp.since
        sm.empty_since[g] = now
    sm.blocks[slot].state = FREE
    number = sm.retired % sm.ended.size
    sm.ended[number] = max(now, sm.load_store.updated - sm.machine.slices_end)  # then the L2 has done its atomics
    sm.cycles = max(sm.ended[number], l2_channel.emptied(sm), l2_share.passed_on(sm))
    sm.ended_after[number] = warp_scheduler.issued(sm)
    sm.retired += 1


@rule
def open_block(sm: Sm, slot: int, number: int) -> None:
    """Let the slot hold that block of the grid, whose warps are still to come."""
    block = sm.blocks[slot]
    block.id, block.state, block.live = number, RUNNING, sm.launch.warps
    block.coming = block.arrived = 0
    if sm.independent:  # whose warps may exit after BAR.ARV
        for barrier in range(BARRIERS):
            block.barriers[barrier].arrived = block.barriers[barrier].reduced = 0


@rule
def warp_slot(sm: Sm, slot: int, index: int) -> int:
    """Return the warp slot of a warp of the block in that block slot: scheduler k has slots k, k + n, ... of n.

    Warps take the schedulers in turn. Where a block takes each equally often, the next slot may begin one further.
    """
    first, schedulers = slot * sm.launch.warps, sm.machine.schedulers
    if sm.machine.rotates == 0 or sm.launch.warps % schedulers:
        return int(first + index)
    return int(first + index - index % schedulers + (index + slot) % schedulers)


@rule
def skew(sm: Sm) -> int:
    """Return the cycles between the starts of two blocks of the first wave."""
    last_warp = (sm.launch.warps - 1) * sm.machine.warp_skew
    return max(sm.machine.block_skew, last_warp + sm.machine.block_gap if sm.machine.block_gap else 0)


@rule
def hand_out(chip: Chip | LaunchNumbers, parts: int, now: int) -> int:
    """Return when a slot that is free at `now` gets its next block; a hand-out takes `parts` of a cycle.

    `chip` is the record of the end of the chip's last hand-out.
    """
    begin = max(now, chip.handed_until)
    taken = parts + (chip.handed_parts if chip.handed_until >= now else 0)
    chip.handed_until, chip.handed_parts = begin + taken // SHARE_PARTS, taken % SHARE_PARTS
    return begin


@rule
def comes(sm: Sm, slot: int) -> bool:
    """Tell whether a block is there for a free slot."""
    return bool(sm.blocks[slot].coming > 0 if sm.launch.cluster > 1 else sm.launch.next < sm.launch.end)


@rule
def _next(launch: LaunchNumbers) -> int:
    """Return the next block of a grid without clusters, which is handed out."""
    if launch.next == launch.gap:
        launch.next = launch.behind
    number = int(launch.next)
    launch.next += launch.stride
    return number


@rarely
def place(sm: Sm, slot: int, now: int) -> None:
    """Place the next block of the grid in the slot."""
    launch, block = sm.launch, sm.blocks[slot]
    clustered = launch.cluster > 1
    open_block(sm, slot, cluster.block_of(sm, block.coming - 1) if clustered else _next(launch))
    if launch.sharers > 1:
        l2_share.place(sm, block)
    known = now  # when the warps' first instructions are asked for
    if sm.placed < launch.resident:
        known = now + sm.machine.begin
        start = known + slot * skew(sm)
    elif clustered:
        start = max(now, block.begins + sm.machine.block_latency)
    else:
        start = hand_out(launch, sm.machine.refill_parts, now) + sm.machine.block_latency
    for index in range(launch.warps):
        _place_warp(sm, slot, index, now, known, start + index * sm.machine.warp_skew)
    sm.placed += 1


@rule
def _place_warp(sm: Sm, slot: int, index: int, now: int, known: int, start: int) -> None:
    g = warp_slot(sm, slot, index)
    k, warp = g % sm.machine.schedulers, sm.warps[g]
    open_warp(sm, slot, index)
    control_code.to_the_back(sm, warp)
    warp.since = stall_accounting.slot_from(sm.machine, k, now)
    sm.empty += warp.since - sm.empty_since[g]
    warp.release_at[LAUNCH] = start
    if sm.machine.fetches:
        fetch.begin(warp)
        fetch.commit(sm, k, warp, known)
    if sm.machine.constants:
        constant_operand.commit(sm, warp, known)
    sm.schedulers[k].waiting |= 1 << warp.place
    warp_scheduler.wake(sm, g)


@rule
def open_warp(sm: Sm, slot: int, index: int) -> None:
    """Let a warp of the slot's block begin at the first instruction, with nothing pending."""
    g = warp_slot(sm, slot, index)
    warp = sm.warps[g]
    _clear(warp)
    warp.kept_places, warp.bank_reads = 0, sm.program[0].bank_reads
    if sm.machine.counts:
        wait_count.clear(warp)
    if sm.grouped:
        groups.clear(warp)
    warp.block, warp.index, warp.live, warp.pc, warp.unit = slot, index, 1, 0, sm.program[0].unit
    warp.scheduler, warp.place, warp.age = g % sm.machine.schedulers, g // sm.machine.schedulers, sm.aged
    sm.aged += 1
    if sm.machine.reuse_shared:
        register_file.forget(sm, warp)
    simt_stack.begin(sm, g)
    if sm.independent:
        convergence.begin(sm, g)
    if sm.machine.packs:
        packed_lanes.begin(sm, warp)


@rule
def _clear(warp: Warp) -> None:
    warp.released_at = warp.drained = warp.shared_back = warp.pending = warp.copying = warp.effects = 0
    warp.cluster_until = warp.cluster_waits = 0
    warp.yield_ends = warp.products = warp.awaits = warp.stored = warp.loaded = 0
    for reason in range(OWN):
        warp.release_at[reason] = 0
    warp.ready[:] = 0
    warp.read_by[:] = 0
    warp.read[:] = 0
    warp.predicate[:] = 0
    warp.version[:] = 0
    warp.kept[:] = 0
    for place in range(HOLDS):  # a slice of an array of another length would be compiled separately
        warp.holders[place] = warp.let_go[place] = 0


@rule
def next_act(sm: Sm) -> int:
    """Return when the next block slot becomes free."""
    when = NEVER
    for slot in range(sm.launch.resident):
        if sm.blocks[slot].state == DONE:
            when = min(when, sm.blocks[slot].finished)
    return when


@rule
def close(sm: Sm) -> None:
    """Settle the warp slots and issue slots that had no more work when the launch ended.

    After the last block the launch may still wait for atomics of the L2, without a warp.
    """
    left = 0
    for g in range(sm.warp_slots):
        left = max(left, sm.empty_since[g])
        sm.empty += sm.cycles - sm.empty_since[g]
    for k in range(sm.machine.schedulers):
        scheduler = sm.schedulers[k]
        had_warps = k < sm.warp_slots
        scheduler.lost[EXITED if had_warps else EMPTY] += left - scheduler.used_until
        scheduler.lost[EMPTY] += sm.cycles - left
