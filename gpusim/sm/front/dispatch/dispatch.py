"""Dispatch ports: the instructions that one scheduler issues in one turn after its first.

A later port takes the next instruction of the warp that has just issued, or another ready warp's, as `issue.pairing`
says (Kepler and Maxwell: the same warp's; GCN: another's). It never waits and never costs a slot: an instruction that
cannot issue at once issues in a later turn. The pairing matrix, or the categories, say which unit classes may issue
beside those of the same turn.
"""

from __future__ import annotations

from gpusim.sm.front.policies import policies
from gpusim.sm.jit.on_demand import on_demand
from gpusim.sm.jit.rule import lowest_bit, rule
from gpusim.sm.pipes.double_precision import double_precision
from gpusim.sm.pipes.load_store import load_store
from gpusim.sm.pipes.pipe import pipe
from gpusim.sm.records import Row, Sm, Warp
from gpusim.sm.registers.register_file import register_file
from gpusim.sm.unit.opcodes import BARRIER, BRANCH, EXIT
from gpusim.sm.unit.stall import OWN, Stall

ISSUE_INTERVAL = int(Stall.ISSUE_INTERVAL)


@rule
def commit(sm: Sm, k: int, instruction: Row, now: int) -> None:
    """An instruction issues: it takes a port of scheduler k's turn, and limits the classes that may issue beside it."""
    scheduler, machine = sm.schedulers[k], sm.machine
    first = scheduler.issued_at < now
    scheduler.dispatched = 1 if first else scheduler.dispatched + 1
    scheduler.pairable = machine.pairs[instruction.unit] & (-1 if first else scheduler.pairable)
    if machine.same_warp and instruction.action in (BARRIER, BRANCH, EXIT):
        scheduler.pairable = 0


@on_demand
def goes_on(sm: Sm, k: int, warp: Warp, now: int) -> bool:
    """Tell whether the warp that has just issued from scheduler k issues its next instruction in the same turn."""
    taken = _free(sm, k, now) and _independent(warp, now) and takes(sm, k, warp.unit, now)
    return taken and _collects(sm, k, warp, now)


@on_demand
def another(sm: Sm, k: int, now: int) -> int:
    """Return the next of scheduler k's warps to issue in this turn, -1 if there is none."""
    others = _others(sm, k, now) if _free(sm, k, now) else 0
    j = policies.choose(sm.machine.policy, sm, k, others, 0) if others else -1
    return j if j >= 0 and _collects(sm, k, sm.warps[j * sm.machine.schedulers + k], now) else -1


@rule
def _collects(sm: Sm, k: int, warp: Warp, now: int) -> bool:
    """Tell whether the register file can deliver the warp's operands in this turn."""
    return sm.machine.register_banks == 0 or register_file.earliest(sm, k, warp, now) <= now


@rule
def _free(sm: Sm, k: int, now: int) -> bool:
    """Tell whether the turn has a port left: none after a refused instruction, a stall or a fault."""
    scheduler = sm.schedulers[k]
    left = scheduler.issued_at == now and scheduler.dispatched < sm.machine.ports
    return left and scheduler.stalled_until <= now and sm.fault.code == 0


@rule
def takes(sm: Sm, k: int, unit: int, now: int) -> bool:
    """Tell whether a later port of scheduler k's turn takes an instruction of this unit class."""
    needs = sm.machine.units[unit]
    if not (sm.schedulers[k].pairable >> unit) & 1 or double_precision.alone(sm, needs.double, now):
        return False
    if needs.queued:
        return load_store.earliest(sm, k, unit, now) <= now
    return needs.choices == 0 or pipe.earliest(sm, k, needs) <= now


@rule
def _others(sm: Sm, k: int, now: int) -> int:
    """Return the mask of the ready warps that a later port takes; none of them has issued in this turn."""
    scheduler = sm.schedulers[k]
    taken, units = 0, scheduler.units
    while units:
        unit = lowest_bit(units)
        units &= units - 1
        if takes(sm, k, unit, now):
            taken |= scheduler.ready_for[unit]
    return taken


@rule
def _independent(warp: Warp, now: int) -> bool:
    """Tell whether all release times of the warp have passed, except the issue interval, which spans turns."""
    release = 0
    for reason in range(OWN):
        if reason != ISSUE_INTERVAL:
            release = max(release, warp.release_at[reason])
    return release <= now
