"""BAR: once as many warps as it names have arrived, a block's barrier releases them.

A warp arrives as a whole, also if only some of its lanes execute the instruction. BAR.ARV arrives and does not wait.
BAR.RED finds in how many active lanes of all warps a predicate holds, or whether in any or in all. Where lanes are
independent, a barrier that names no threads waits for the warps that have not exited, so that an exit may complete it.
"""

from __future__ import annotations

from gpusim.sm.account.record import record
from gpusim.sm.account.stopping import stop
from gpusim.sm.front.cluster import cluster_barrier
from gpusim.sm.front.warp_scheduler import warp_scheduler
from gpusim.sm.jit.rule import NEVER, count_bits, lowest_bit, rarely, rule
from gpusim.sm.records import Barrier, Row, Sm, Warp
from gpusim.sm.state.fault import Fault
from gpusim.sm.unit.capacities import BARRIERS, GROUPS, LANES
from gpusim.sm.unit.stall import Stall
from isa.executing.barriers import COUNT as MOST_THREADS
from isa.executing.barriers import COUNT_AT, IDENTIFIER
from isa.nvidia.rows.control import ANY, COUNT

BARRIER = int(Stall.BARRIER)
MISCOUNTED, MIXED, SEVERAL = int(Fault.MISCOUNTED), int(Fault.MIXED), int(Fault.SEVERAL)


@rule
def commit(sm: Sm, k: int, g: int, instruction: Row, pc: int, now: int) -> None:
    """Let warp slot g of scheduler k arrive; its release time is known if it is the last one."""
    if instruction.cluster_step:
        cluster_barrier.commit(sm, g, instruction, pc, now)
        return
    warp = sm.warps[g]
    warp.waits_for = _number(sm, g, instruction)
    if sm.tracing:
        record.arrival(sm, warp.waits_for)
    release = _arrive(sm, g, instruction, now)
    warp.released_at = 0 if instruction.goes_on else release
    if not sm.machine.barrier_defers:
        warp.release_at[BARRIER] = warp.released_at
    if sm.tracing and release < NEVER:
        record.release(sm, k, g, pc, warp.waits_for, release, now)


@rarely
def leave(sm: Sm, g: int, pc: int, now: int) -> None:
    """Warp slot g has exited: barriers that wait for nobody any more are complete."""
    warp = sm.warps[g]
    block = sm.blocks[warp.block]
    for number in range(BARRIERS):
        barrier = block.barriers[number]
        if barrier.arrived > 0 and barrier.expected == 0 and barrier.arrived >= block.live:
            release = _release(sm, barrier, g, max(now, barrier.last_ends))
            if sm.tracing:
                record.release(sm, warp.scheduler, g, pc, number, release, now)


@rule
def earliest(warp: Warp, instruction: Row) -> None:
    """Store in the warp's reasons when the barrier that it has arrived at lets `instruction` pass."""
    warp.release_at[BARRIER] = warp.released_at if instruction.stays_behind else 0


@rule
def _number(sm: Sm, g: int, instruction: Row) -> int:
    """Return the number of the barrier, from a register if it has one; lanes with several numbers are a fault."""
    if instruction.barrier_at and instruction.source[0] >= 0:
        word = _word(sm, g, instruction, 0)
        words = sm.lanes[g * sm.machine.groups].registers[instruction.source[0]]
        for lane in range(LANES):
            if sm.outcome.active[0] >> lane & 1 and words[lane] != word:
                stop(sm, SEVERAL, g, sm.warps[g].pc - 1)
        return word & IDENTIFIER
    return int(instruction.barrier)


@rule
def _needed(sm: Sm, g: int, instruction: Row) -> int:
    """Return the warps that the barrier is for, 0: all that have not exited.

    A register has threads from bit 16 on if a register has the number, too, which then is the same one.
    """
    if instruction.barrier_at and instruction.source[1] >= 0:
        shift = COUNT_AT if instruction.source[0] >= 0 else 0
        threads = _word(sm, g, instruction, 1) >> shift & MOST_THREADS
        size = LANES * sm.machine.groups
        return (threads + size - 1) // size
    return int(instruction.arrivals)


@rule
def _word(sm: Sm, g: int, instruction: Row, place: int) -> int:
    lane = lowest_bit(sm.warps[g].lanes[0])
    return int(sm.lanes[g * sm.machine.groups].registers[instruction.source[place], lane])


@rarely
def _arrive(sm: Sm, g: int, instruction: Row, now: int) -> int:
    """Let warp slot g arrive; return the cycle at which it is released, NEVER while other warps are missing.

    It is a fault to name another number of warps, or another reduction, than those that wait there.
    What-if, on no chip: no warp waits.
    """
    if sm.machine.barriers_pass:
        return now
    warp, schedulers = sm.warps[g], sm.machine.schedulers
    block, needed = sm.blocks[warp.block], _needed(sm, g, instruction)
    barrier = block.barriers[warp.waits_for]
    if barrier.arrived > 0 and barrier.expected != needed:
        stop(sm, MISCOUNTED, g, warp.pc - 1, -1, barrier.expected, needed)
        return NEVER
    if barrier.arrived > 0 and barrier.reduced != instruction.reduces:
        stop(sm, MIXED, g, warp.pc - 1)
        return NEVER
    if instruction.reduces:
        _reduce(sm, barrier, g, instruction)
    warp.waits_at = warp.pc - 1
    barrier.expected = needed
    barrier.arrived += 1
    if instruction.goes_on == 0:
        barrier.waiting[g % schedulers] |= 1 << (g // schedulers)
    sm.arrival_free = barrier.last_ends = max(now, sm.arrival_free) + sm.machine.per_arrival
    complete = barrier.arrived >= (needed if needed else block.live)
    return _release(sm, barrier, g, barrier.last_ends) if complete else NEVER


@rarely
def _reduce(sm: Sm, barrier: Barrier, g: int, instruction: Row) -> None:
    """Add what the active lanes of warp slot g find to what the barrier has found."""
    true, active = 0, 0
    for half in range(GROUPS):
        if half < sm.machine.groups:
            held = sm.lanes[g * sm.machine.groups + half].predicates[instruction.selectors[0]]
            lanes = sm.outcome.active[half]
            true += count_bits(lanes & ~held if instruction.selectors_negated & 1 else lanes & held)
            active += count_bits(lanes)
    before = barrier.found if barrier.reduced else 0
    if instruction.reduces == COUNT:
        barrier.found = before + true
    elif instruction.reduces == ANY:
        barrier.found = 1 if before or true else 0
    else:
        barrier.found = 1 if true == active and (before or barrier.reduced == 0) else 0
    barrier.reduced = instruction.reduces


@rule
def _release(sm: Sm, barrier: Barrier, last: int, complete: int) -> int:
    """Release the waiting warps after all arrivals, in slot order; return when warp slot `last` is released."""
    schedulers, block = sm.machine.schedulers, sm.warps[last].block
    own = release = complete + max(1, sm.machine.barrier)
    for g in range(block * sm.launch.warps, (block + 1) * sm.launch.warps):
        if barrier.waiting[g % schedulers] >> (g // schedulers) & 1:
            release += sm.machine.per_warp
            if barrier.reduced:
                sm.warps[g].reduced = barrier.found
            if g == last:
                own = release
            else:
                _let_pass(sm, g, release)
    barrier.arrived = barrier.reduced = 0
    for k in range(schedulers):
        barrier.waiting[k] = 0
    return own


@rule
def _let_pass(sm: Sm, g: int, release: int) -> None:
    """Warp slot g's barrier lets it pass at `release`; the warp may not yet have come to an instruction that waits."""
    warp = sm.warps[g]
    warp.released_at = release
    if warp.release_at[BARRIER] >= NEVER:
        warp.release_at[BARRIER] = release
        warp_scheduler.wake(sm, g)
