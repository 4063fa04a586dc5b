"""The way of copies through the load/store unit, which goes on before their words have passed.

The unit reads a copy's addresses, and goes on to the next instruction. Passes of copies follow one after the other, and
what the unit serves meanwhile waits for them. A line that was not in the L1 passes once more when it comes. The unit
gets so many cycles ahead at most. docs/units/async-copy.md has the rule.
"""

from __future__ import annotations

from gpusim.sm.jit.rule import rarely, rule
from gpusim.sm.memory.cache.declaration import SHARE_PARTS
from gpusim.sm.memory.l2_channel.declaration import LOADS
from gpusim.sm.records import Entry, MachineNumbers, Queue, Row, Sm
from isa.row import CLOSES


@rarely
def enter(sm: Sm, instruction: Row, now: int) -> int:
    """Return when a copy that is served now enters: the unit is not too far ahead of passes and lines before."""
    unit, machine = sm.load_store, sm.machine
    if machine.copy_cycles == 0:
        return now
    ahead = int(unit.copied // SHARE_PARTS)
    if instruction.through_l1 == 0:
        ahead = max(ahead, int(unit.port[LOADS] // machine.port_parts))
    return max(now, int(ahead - machine.passes_ahead), int(unit.brought // SHARE_PARTS - machine.lines_ahead))


@rule
def kept(machine: MachineNumbers, instruction: Row, cycles: int) -> int:
    """Return the cycles for which a copy of so many passes keeps the unit; it asks the L1 for one."""
    if machine.copy_cycles and cycles >= machine.behind_passes:
        return int(machine.copy_cycles)
    return int(max(machine.copy_cycles, cycles + int(instruction.through_l1)))


@rarely
def take(sm: Sm, queue: Queue, instruction: Row, entry: Entry, begun: int) -> int:
    """Let the words of a copy that has entered pass, and keep the port of its scheduler's queue.

    Return when the words of one past the L1 have passed at the earliest, 0 for others.
    """
    unit, machine, passes = sm.load_store, sm.machine, int(entry.cycles)
    if machine.copy_cycles == 0:
        queue.free = begun + max(int(instruction.port), passes * int(instruction.port_cycles))
        return 0
    passes = max(passes, int(entry.requests))
    late, parts = instruction.through_l1 and unit.late > 0, passes * SHARE_PARTS
    if instruction.through_l1:
        parts = max(parts + machine.pass_cost, machine.copy_cycles * SHARE_PARTS)
        queue.passed = max(queue.passed, begun) + (0 if late else passes * int(instruction.port_cycles))
    unit.copied = max(unit.copied, begun * SHARE_PARTS) + parts
    unit.brought = max(unit.brought, begun * SHARE_PARTS) + parts + late * machine.line_again
    unit.near_copies = instruction.through_l1
    queue.free = max(begun + int(instruction.port), int(queue.passed - machine.passes_ahead))
    if instruction.through_l1:
        return 0
    return int(unit.brought // SHARE_PARTS + machine.far_latency[instruction.far])


@rarely
def follow(sm: Sm, instruction: Row, entry: Entry, cycles: int, begun: int) -> int:
    """Return when what the unit takes from then on passes: behind the copies before it, which have entered already.

    What has no passes of its own takes none behind copies past the L1; LDGDEPBAR does behind those through it, and all
    else there.
    """
    unit, now = sm.load_store, begun * SHARE_PARTS
    if instruction.copies:
        return begun
    passes = instruction.service == 0 and not entry.idle
    if unit.brought > now and (passes or (instruction.grouping & CLOSES and unit.near_copies)):
        unit.brought += cycles * SHARE_PARTS
    if unit.copied <= now:
        return begun
    behind = int(unit.copied // SHARE_PARTS)
    if passes or unit.near_copies:
        unit.copied += cycles * SHARE_PARTS
    return behind
