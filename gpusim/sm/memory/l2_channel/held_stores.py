"""Stores that wait in front of the L2, where later stores to the same sectors join them.

The last lines stored to wait until their channel has moved them, and for some cycles since the last store to them;
those that all blocks store to, until slices are not too far behind. A store to a sector that waits moves nothing; one
to another sector of such a line moves that alone.
"""

from __future__ import annotations

from gpusim.sm.jit.rule import rarely, rule
from gpusim.sm.records import Sm


@rarely
def find(sm: Sm, line: int, now: int) -> int:
    """Return the place of a line that still waits, -1: it does not."""
    unit = sm.load_store
    for i in range(sm.machine.store_lines):
        if unit.held_line[i] == line + 1 and unit.held_until[i] > now:
            return i
    return -1


@rarely
def hold(sm: Sm, at: int, line: int, units: int, until: int) -> None:
    """Let these sectors of a line wait, in its place or in that of the line which was stored to longest ago."""
    unit, place = sm.load_store, at
    if sm.machine.store_lines == 0:
        return
    if at < 0:
        place = int(unit.held_next)
        unit.held_next = place + 1 if place + 1 < sm.machine.store_lines else 0
        unit.held_line[place], unit.held_sectors[place], unit.held_until[place] = line + 1, 0, 0
    unit.held = place
    unit.held_sectors[place] |= units
    unit.held_until[place] = max(unit.held_until[place], until)


@rule
def keep(sm: Sm, until: int) -> None:
    """Let the line stored to last wait until then, at least."""
    unit = sm.load_store
    if sm.machine.store_lines:
        unit.held_until[unit.held] = max(unit.held_until[unit.held], until)


@rule
def room(sm: Sm) -> int:
    """Return when the next line that is stored to has a place here; at once on a machine where none waits."""
    return int(sm.load_store.held_until[sm.load_store.held_next]) if sm.machine.store_lines else 0
