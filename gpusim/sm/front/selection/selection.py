"""Selection: the warp chosen by the policy waits for its operands, and perhaps for its pipe.

Meanwhile its scheduler issues nothing. On a machine with `[selection]` this warp issues next, even if others become
ready, and pipes of the classes `keeps` are checked only now, not before the choice. If the machine `freezes`, a stall
for operands alone stops the stall counts of the scheduler's warps. An H200 does both (docs/hopper.md). An instruction
whose guard holds in no lane needs neither operands nor pipe, only the slot.
"""

from __future__ import annotations

from gpusim.sm.account.record import record
from gpusim.sm.front.wakeup import wakeup
from gpusim.sm.front.warp_scheduler import warp_scheduler
from gpusim.sm.jit.rule import lowest_bit, rarely, rule
from gpusim.sm.lanes import predicates
from gpusim.sm.pipes.load_store import load_store
from gpusim.sm.pipes.pipe import pipe
from gpusim.sm.records import Row, Sm, Warp
from gpusim.sm.registers.in_flight import in_flight
from gpusim.sm.registers.register_file import register_file
from gpusim.sm.unit.stall import Stall
from isa.operands.operand import PT_INDEX

WAIT = int(Stall.WAIT)


@rarely
def commit(sm: Sm, k: int, j: int, now: int) -> int:
    """Select warp j of scheduler k: return j if it issues now, or -1, and no other warp issues until it can."""
    scheduler, machine = sm.schedulers[k], sm.machine
    g = j * machine.schedulers + k
    warp, free, read = sm.warps[g], now, now
    if not _needs_only_a_slot(sm, g, warp, now):
        free = _unit_free(sm, k, warp.unit, now)
        if free <= now and machine.register_banks:
            read = register_file.earliest(sm, k, warp, now)
            if scheduler.matrix_until > now or (sm.multiplies and sm.products.ends > now):
                read = register_file.making_way(sm, k, warp, read, now)
    scheduler.selected = -1
    if max(free, read) <= now:
        return j
    if sm.tracing:
        record.select(sm, k, g, max(free, read), now)
    register_file.stall(sm, k, max(free, read), now)
    if machine.selects:
        scheduler.selected = j
    if machine.freezes and read > now:
        _freeze(sm, k, read - now, now)
    return -1


@rule
def _needs_only_a_slot(sm: Sm, g: int, warp: Warp, now: int) -> bool:
    """Tell whether the warp's next instruction has a guard that holds in no lane."""
    instruction = sm.program[warp.pc]
    return instruction.guard != PT_INDEX and _holds_nowhere(sm, g, warp, instruction, now)


@rarely
def _holds_nowhere(sm: Sm, g: int, warp: Warp, instruction: Row, now: int) -> bool:
    if sm.trace_driven:
        return bool(sm.events[warp.cursor].threads == 0)
    if sm.defers:
        in_flight.write_back(sm, g, now)
    active = 0
    for half in range(sm.machine.groups):
        lanes = sm.lanes[g * sm.machine.groups + half]
        active |= predicates.mask_of(lanes, instruction.guard, instruction.guard_negated) & warp.lanes[half]
    return bool(active == 0)


@rule
def _unit_free(sm: Sm, k: int, unit: int, now: int) -> int:
    """Return when its unit may take the instruction: at selection it could, unless its class keeps the slot."""
    needs = sm.machine.units[unit]
    if needs.choices > 0:
        return pipe.earliest(sm, k, needs)
    full = needs.queued and not sm.machine.wastes_slot and load_store.earliest(sm, k, unit, now) > now
    return now + 1 if full else now


@rule
def _freeze(sm: Sm, k: int, cycles: int, now: int) -> None:
    """Delay the stall counts that are not over by so many cycles."""
    scheduler, machine = sm.schedulers[k], sm.machine
    waiting = scheduler.waiting
    while waiting:
        j = lowest_bit(waiting)
        waiting &= waiting - 1
        warp = sm.warps[j * machine.schedulers + k]
        if warp.release_at[WAIT] > now:
            wakeup.leave(machine, k, scheduler, j)
            warp.release_at[WAIT] += cycles
            warp_scheduler.wait(sm, k, j, warp, now)
