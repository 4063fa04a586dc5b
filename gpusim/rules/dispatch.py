"""Dispatch ports: what one scheduler issues in one turn beyond its first instruction.

A later port takes the next instruction of the warp that has just issued, or another ready warp's, as `issue.pairing`
says (Kepler and Maxwell: the same warp's). It never waits and never costs a slot: what does not go at once goes in a
later turn. The pairing matrix says which unit classes go beside those that have issued in the turn.
"""

from __future__ import annotations

from typing import Any

from gpusim.decode import BARRIER, BRANCH, EXIT
from gpusim.rule import lowest_bit, rule
from gpusim.rules import double_precision, load_store, pipe, warp_scheduler
from gpusim.stall import OWN, Stall

REISSUE = int(Stall.X_REISSUE)


@rule
def commit(sm: Any, k: int, instruction: Any, now: int) -> None:
    """An instruction issues: it takes a port of scheduler k's turn, and narrows what may go beside it."""
    scheduler, machine = sm.schedulers[k], sm.machine
    first = scheduler.issued_at < now
    scheduler.dispatched = 1 if first else scheduler.dispatched + 1
    scheduler.beside = machine.pairs[instruction.unit] & (-1 if first else scheduler.beside)
    if machine.same_warp and instruction.action in (BARRIER, BRANCH, EXIT):
        scheduler.beside = 0


@rule
def following(sm: Any, k: int, now: int) -> int:
    """Scheduler k's warp whose instruction goes in the next port of this turn, -1: none, and the turn is over."""
    scheduler, machine = sm.schedulers[k], sm.machine
    if scheduler.issued_at < now or scheduler.dispatched >= machine.ports or sm.fault.code != 0:
        return -1
    if not machine.same_warp:
        others = _others(sm, k, now)
        return warp_scheduler.choose(machine.policy, sm, k, others, 0) if others else -1
    warp = sm.warps[scheduler.last * machine.schedulers + k]
    return scheduler.last if _independent(warp, now) and takes(sm, k, warp.unit, now) else -1


@rule
def takes(sm: Any, k: int, unit: int, now: int) -> bool:
    """Whether a later port of scheduler k's turn takes an instruction of this unit class."""
    needs = sm.machine.units[unit]
    if not (sm.schedulers[k].beside >> unit) & 1 or double_precision.alone(sm, needs.double, now):
        return False
    if needs.queued:
        return load_store.earliest(sm, now) <= now
    return needs.pipe < 0 or pipe.earliest(sm, k, needs.pipe) <= now


@rule
def _others(sm: Any, k: int, now: int) -> int:
    """Mask of the ready warps that a later port takes; none of them has issued in this turn."""
    scheduler = sm.schedulers[k]
    taken, units = 0, scheduler.units
    while units:
        unit = lowest_bit(units)
        units &= units - 1
        if takes(sm, k, unit, now):
            taken |= scheduler.ready_for[unit]
    return taken


@rule
def _independent(warp: Any, now: int) -> bool:
    """Whether every own rung of the warp has let go, but for the reissue interval, which counts from turn to turn."""
    release = 0
    for rung in range(OWN):
        if rung != REISSUE:
            release = max(release, warp.rung[rung])
    return release <= now
