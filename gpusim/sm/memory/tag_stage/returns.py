"""Loads that wait for lines: their passes follow when these come, before what the load/store unit serves then.

The unit keeps, of the cycles to come, the stretches that such loads will take. docs/units/tag-stage.md has the rule.
"""

from __future__ import annotations

from gpusim.sm.jit.rule import rarely, rule
from gpusim.sm.records import Row, Sm
from gpusim.sm.unit.capacities import RETURNS
from gpusim.sm.unit.opcodes import LOAD


@rule
def waits(sm: Sm, instruction: Row) -> bool:
    """Tell whether the load that has just looked up its lines waits for some."""
    loads = instruction.through_l1 and instruction.action == LOAD and not instruction.copies
    return bool(sm.machine.late_asks and loads and sm.load_store.late)


@rule
def over(sm: Sm, begun: int, cycles: int) -> int:
    """Return when so many cycles of the unit from `begun` on are over, besides those that loads on their way take."""
    return _over(sm, begun, cycles) if sm.load_store.returns else begun + cycles


@rarely
def _over(sm: Sm, begun: int, cycles: int) -> int:
    unit, end = sm.load_store, begun + cycles
    for i in range(unit.returns):
        if unit.return_ends[i] > begun and unit.return_begins[i] < end:
            end += unit.return_ends[i] - max(begun, unit.return_begins[i])
    return int(end)


@rarely
def take(sm: Sm, begun: int, cycles: int, now: int) -> int:
    """Take so many free cycles from `begun` on; return by how much that is longer than if all were free."""
    unit, kept, place = sm.load_store, 0, 0
    end = over(sm, begun, cycles)
    first, last = begun, end
    for i in range(unit.returns):
        begins, ends = unit.return_begins[i], unit.return_ends[i]
        if ends <= now:
            continue
        if ends < begun or begins > end:
            unit.return_begins[kept], unit.return_ends[kept] = begins, ends
            kept, place = kept + 1, place + (ends < begun)
        else:
            first, last = min(first, begins), max(last, ends)
    _put(sm, place, min(kept, RETURNS - 1), first, last)
    return end - begun - cycles


@rule
def _put(sm: Sm, place: int, kept: int, begins: int, ends: int) -> None:
    """Put a stretch at its place among those that are kept; of too many the last one is forgotten."""
    unit = sm.load_store
    for i in range(kept, place, -1):
        unit.return_begins[i], unit.return_ends[i] = unit.return_begins[i - 1], unit.return_ends[i - 1]
    unit.return_begins[min(place, kept)], unit.return_ends[min(place, kept)] = begins, ends
    unit.returns = kept + 1
