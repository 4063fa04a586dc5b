"""Who acts first within a cycle: the schedulers take turns where they rotate; the other agents do not."""

from __future__ import annotations

from gpusim.sm.account.stall_accounting import stall_accounting
from gpusim.sm.jit.rule import entry, rule
from gpusim.sm.records import Sm
from gpusim.sm.unit.sm import FIRST_SCHEDULER


@entry
def first_scheduler(sm: Sm, now: int) -> int:
    """The scheduler that acts before the others in this cycle: they take turns, slot by slot, where they rotate.

    Of four, by the Gray code: so that neighbours, who share pipes, go first equally often in every second slot too.
    """
    machine = sm.machine
    if machine.rotate == 0:
        return 0
    slots = stall_accounting.slots(machine, now)
    if is_power_of_two(machine.schedulers):
        turn = slots & (machine.schedulers - 1)
        return int(turn ^ turn >> 1)
    return int(slots % machine.schedulers)


@rule
def is_power_of_two(count: int) -> bool:
    """Whether the count is a power of two."""
    return count & (count - 1) == 0


@rule
def ranked(position: int, first: int, schedulers: int) -> int:
    """The scheduler in this position, given the first: its neighbour, then the other pair; three in a row."""
    if is_power_of_two(schedulers):
        return position ^ first
    k = position + first
    return k if k < schedulers else k - schedulers


@entry
def rank(sm: Sm, position: int, first: int) -> int:
    """The agent that acts in this position of the order inside a cycle, given the first scheduler."""
    schedulers, behind = sm.machine.schedulers, position - 1  # the second, the effects, has the last number
    if FIRST_SCHEDULER <= behind < FIRST_SCHEDULER + schedulers:
        return FIRST_SCHEDULER + int(ranked(behind - FIRST_SCHEDULER, first, schedulers))
    return int(sm.effects_agent) if position == 1 else max(behind, 0)
