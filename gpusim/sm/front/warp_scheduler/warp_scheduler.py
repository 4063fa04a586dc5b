"""A warp scheduler: in each of its issue slots it picks one ready warp whose unit accepts it.

It sleeps while nothing can change: until the last release time of a waiting warp, or until a unit that refuses its
ready warps may accept one.
"""

from __future__ import annotations

from gpusim.sm.account.stall_accounting import stall_accounting
from gpusim.sm.front.wakeup import wakeup
from gpusim.sm.jit.on_demand import on_demand
from gpusim.sm.jit.rule import NEVER, lowest_bit, rule
from gpusim.sm.pipes.double_precision import double_precision
from gpusim.sm.pipes.instruction_replay import instruction_replay
from gpusim.sm.pipes.load_store import load_store
from gpusim.sm.pipes.pipe import pipe
from gpusim.sm.pipes.warpgroup import warpgroup
from gpusim.sm.records import MachineNumbers, Row, Scheduler, Sm, Warp
from gpusim.sm.registers.matrix_registers import matrix_registers
from gpusim.sm.registers.register_file import register_file
from gpusim.sm.unit.opcodes import UNIT_CODE
from gpusim.sm.unit.sm import FIRST_SCHEDULER
from gpusim.sm.unit.stall import BUSY, DISPATCH, EXCLUSIVE, REPLAY, UNCHOSEN
from isa.row import Unit

WARPGROUP = UNIT_CODE[Unit.WARPGROUP]


@rule
def promote(sm: Sm, k: int, page: int, now: int) -> None:
    """Make warps ready whose release times have all passed."""
    due = wakeup.take(sm.schedulers[k], page, now)
    while due:
        j = lowest_bit(due)
        due &= due - 1
        _make_ready(sm, k, j, sm.warps[j * sm.machine.schedulers + k], now)


@rule
def _make_ready(sm: Sm, k: int, j: int, warp: Warp, now: int) -> None:
    scheduler = sm.schedulers[k]
    warp.ready_at = now
    stall_accounting.remember(sm.machine, scheduler, warp, now)
    scheduler.waiting &= ~(1 << j)
    scheduler.ready |= 1 << j
    scheduler.ready_for[warp.unit] |= 1 << j
    scheduler.units |= 1 << warp.unit


@rule
def unready(scheduler: Scheduler, j: int, unit: int) -> None:
    """Remove warp j from the ready set."""
    scheduler.ready &= ~(1 << j)
    scheduler.ready_for[unit] &= ~(1 << j)
    if scheduler.ready_for[unit] == 0:
        scheduler.units &= ~(1 << unit)


@rule
def earliest(sm: Sm, k: int, unit: int, now: int) -> int:
    """Return when the SM lets scheduler k issue for this unit class; from now on the cause of the wait is charged."""
    needs, scheduler = sm.machine.units[unit], sm.schedulers[k]
    when, holding = instruction_replay.earliest(scheduler), REPLAY
    if when <= now:
        when, holding = scheduler.stalled_until, DISPATCH
    if when <= now:
        when, holding = _unit_free(sm, k, unit, now), BUSY
    if when <= now:
        when = double_precision.earliest(sm, k, needs.double, now)
        holding = EXCLUSIVE if when > now else UNCHOSEN
    stall_accounting.hold(sm, k, unit, holding, now)
    return when


@rule
def _unit_free(sm: Sm, k: int, unit: int, now: int) -> int:
    """Return when the pipe or queue takes an instruction."""
    needs = sm.machine.units[unit]
    if needs.asked:
        return pipe.earliest(sm, k, needs)
    if sm.multiplies and unit == WARPGROUP:
        return warpgroup.earliest(sm, k, now)
    return load_store.earliest(sm, k, unit, now) if needs.queued and not sm.machine.wastes_slot else now


@rule
def eligible(sm: Sm, k: int, now: int) -> tuple[int, int]:
    """Return the mask of ready warps whose unit accepts them now, and the time of the next check."""
    scheduler = sm.schedulers[k]
    accepted, again = 0, NEVER
    units = scheduler.units
    while units:
        unit = lowest_bit(units)
        units &= units - 1
        when = earliest(sm, k, unit, now)
        if when <= now and (scheduler.matrix_until > now or (sm.multiplies and sm.products.ends > now)):
            able = _among_matrices(sm, k, unit, now)
            accepted |= able
            again = min(again, NEVER if able == scheduler.ready_for[unit] else now + 1)
        elif when <= now:
            accepted |= scheduler.ready_for[unit]
        else:
            again = min(again, when)
    return accepted, again


@on_demand
def _among_matrices(sm: Sm, k: int, unit: int, now: int) -> int:
    """Return the mask of ready warps that find registers beside products, and leave the tensor cores behind others."""
    scheduler, able, summing = sm.schedulers[k], 0, sm.multiplies and sm.products.ends > now
    warps = scheduler.ready_for[unit] if unit != WARPGROUP else _longest_ready(sm, k, unit)
    while warps:
        j = lowest_bit(warps)
        warps &= warps - 1
        warp = sm.warps[j * sm.machine.schedulers + k]
        waits = summing and not register_file.selectable(sm, k, warp, now)
        able |= (matrix_registers.leaves(scheduler, sm.program[warp.pc], now) and not waits) << j
    if able == 0:
        stall_accounting.hold(sm, k, unit, DISPATCH if summing else BUSY, now)
    return able


@rule
def _longest_ready(sm: Sm, k: int, unit: int) -> int:
    """Return the mask of the warps that have been ready for a unit class longest: warpgroups take turns."""
    found, first = 0, NEVER
    warps = sm.schedulers[k].ready_for[unit]
    while warps:
        j = lowest_bit(warps)
        warps &= warps - 1
        since = int(sm.warps[j * sm.machine.schedulers + k].ready_at)
        found = found | 1 << j if since == first else 1 << j if since < first else found
        first = min(first, since)
    return found


@rule
def wake(sm: Sm, g: int) -> None:
    """Warp slot g's reasons changed while it waits: its scheduler checks again when they are over, or before.

    A caller that wakes a scheduler that has already acted in this cycle must have set a reason to a later cycle.
    """
    warp = sm.warps[g]
    k, j = warp.scheduler, warp.place
    wakeup.leave(sm.machine, k, sm.schedulers[k], j)
    agent = FIRST_SCHEDULER + k
    sm.agenda[agent] = min(sm.agenda[agent], wait(sm, k, j, warp, sm.now))


@rule
def wait(sm: Sm, k: int, j: int, warp: Warp, now: int) -> int:
    """Let warp j of scheduler k wait for its own reasons; return the slot from which it is ready, NEVER if unknown."""
    release, slot = stall_accounting.latest(warp), NEVER
    if release < NEVER:
        slot = stall_accounting.slot_from(sm.machine, k, max(release, now))
    wakeup.enter(sm.machine, k, sm.schedulers[k], j, slot, now)
    return slot


@rule
def issued(sm: Sm) -> int:
    """Return how many warp instructions have issued."""
    total = 0
    for k in range(sm.machine.schedulers):
        total += sm.schedulers[k].issued
    return total


@rule
def commit(machine: MachineNumbers, scheduler: Scheduler, warp: Warp, instruction: Row, now: int) -> None:
    """Count an issue of the warp's instruction."""
    matrix_registers.advance(scheduler, now)
    instruction.issued += 1
    scheduler.issued += 1
    scheduler.issued_at = warp.issued_at = now
    warp.since = now + machine.interval
