"""Tag stage of the L1: where loads and stores look up their lines, one after the other.

A load looks up late lines again when they come. An access keeps the load/store unit until the stage is free.
docs/units/tag-stage.md has the rule.
"""

from __future__ import annotations

from gpusim.sm.jit.rule import rule
from gpusim.sm.memory.cache.declaration import SHARE_PARTS
from gpusim.sm.records import MachineNumbers, Row, Sm
from isa.memory import SECTOR_BYTES


@rule
def enter(sm: Sm, now: int) -> int:
    """Return the cycle at which an access that is served now enters the stage; of a load no line is late yet."""
    sm.load_store.late, sm.load_store.late_last = 0, -1
    return max(now, int(sm.load_store.tagged) // SHARE_PARTS)


@rule
def comes_late(sm: Sm, line: int) -> None:
    """Count a line that is not there yet, unless it lies in one group with the late line before it."""
    if sm.machine.tag_stages and line // sm.machine.late_lines != sm.load_store.late_last:
        sm.load_store.late += 1
        sm.load_store.late_last = line // sm.machine.late_lines


@rule
def lookups(machine: MachineNumbers, lines: int) -> int:
    """Return the cycles in which so many lines are looked up."""
    at_once = max(1, int(machine.near_lines))
    return (lines + at_once - 1) // at_once


@rule
def take_load(sm: Sm, instruction: Row, lines: int, now: int) -> None:
    """Take the stage for a load of so many lines that enters it now."""
    cycles, again = lookups(sm.machine, lines), min(int(sm.load_store.late), int(sm.machine.late_most))
    if again == 0 or sm.machine.late_asks == 0:
        cycles = max(int(instruction.words), cycles)
    _take(sm, cycles * SHARE_PARTS + again * sm.machine.late_cost, now)


@rule
def take_store(sm: Sm, instruction: Row, sectors: int, now: int) -> None:
    """Take the stage for a store to so many sectors that enters it now; those of a line count for each word at most."""
    machine, words = sm.machine, int(instruction.words)
    least, most = machine.store_cost + words * machine.store_word_cost, words * (machine.line_bytes // SECTOR_BYTES)
    _take(sm, max(least, min(sectors, int(most)) * machine.store_sector_cost), now)


@rule
def _take(sm: Sm, parts: int, now: int) -> None:
    if sm.machine.tag_stages:
        sm.load_store.tagged = max(sm.load_store.tagged, now * SHARE_PARTS) + parts
