"""Loads that wait for lines: the load/store unit looks them up, and serves them when the lines have come.

Those whose lines have come take their turns with the heads of the queues. docs/units/tag-stage.md has the rule.
"""

from __future__ import annotations

from gpusim.sm.account.record import record
from gpusim.sm.jit.rule import NEVER, rarely, rule
from gpusim.sm.records import Entry, Question, Row, Sm
from gpusim.sm.registers import completion
from gpusim.sm.registers.write_back import write_back
from gpusim.sm.unit.capacities import RETURNS
from gpusim.sm.unit.opcodes import LOAD


@rule
def waits(sm: Sm, instruction: Row) -> bool:
    """Tell whether the load that has just looked up its lines waits for some of them."""
    machine, unit = sm.machine, sm.load_store
    loads = instruction.through_l1 and instruction.action == LOAD and not instruction.copies
    return bool(
        machine.late_asks and loads and unit.late and instruction.words >= machine.late_words and unit.returns < RETURNS
    )


@rule
def first(sm: Sm) -> int:
    """Return when the unit can serve a load whose lines have come; NEVER: none waits."""
    unit = sm.load_store
    return int(max(unit.return_at[0], unit.free[0], sm.products.port)) if unit.returns else NEVER


@rarely
def wait(sm: Sm, entry: Entry | Question, instruction: Row, ready: int) -> int:
    """Let a load wait whose result is there at `ready` if the unit is free when its lines come; return NEVER."""
    unit, at = sm.load_store, ready - instruction.latency
    place = unit.returns
    while place > 0 and unit.return_at[place - 1] > at:
        unit.return_at[place] = unit.return_at[place - 1]
        _move(unit.return_entries[place - 1], unit.return_entries[place])
        place -= 1
    unit.return_at[place] = at
    _move(entry, unit.return_entries[place])
    unit.returns += 1
    return NEVER


@rule
def _move(entry: Entry | Question, to: Entry) -> None:
    """Copy what is needed of an entry."""
    to.number, to.warp, to.pc, to.cycles = entry.number, entry.warp, entry.pc, entry.cycles


@rarely
def serve(sm: Sm, now: int) -> int:
    """Serve the first load whose lines have come; return its warp slot."""
    unit, entry = sm.load_store, sm.load_store.return_entries[0]
    instruction, g, number, pc = sm.program[entry.pc], entry.warp, entry.number, entry.pc
    ready = now + int(instruction.latency)
    unit.free[0] = now + entry.cycles
    instruction.held += entry.cycles
    results = write_back.expect(sm, instruction, entry, now) if sm.machine.writes_back else 0
    if results:
        write_back.come_back(sm, instruction, entry, ready, now)
    unit.returns -= 1
    for i in range(unit.returns):
        unit.return_at[i] = unit.return_at[i + 1]
        _move(unit.return_entries[i + 1], unit.return_entries[i])
    if results == 0:
        completion.commit(sm, g, pc, number, ready)
        if sm.tracing:
            record.write(sm, g, pc, number, ready, now)
    return int(g)
