"""The uses of register values at each instruction: those of a buffer, results, or others such as addresses.

A forward data flow of names. A load brings the name of the buffer that it reads, a load from shared or local memory the
name of the values stored to its words; moves pass the name on; floating-point instructions make results; all other
computations make others. A register whose name depends on the path has the name that is not `other`, or both names. A
register written under a guard has the name of the written value, because its readers want that value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from isa.dataflow.forward import forward
from isa.instruction import Instruction
from isa.program import Program
from isa.row import Unit

RESULTS, OTHER = "results", "other"
JOINT = " or "
_PASSING = (Unit.MOVE, Unit.SHUFFLE)  # unit classes whose results are their sources, moved

State = Mapping[int, str]  # by register; a missing one is `other`


@dataclass(frozen=True)
class Origins:
    """The sources of loads, by pc: the names of the buffers that they read, or what brought their words."""

    buffers: Mapping[int, frozenset[str]]
    stores: Mapping[int, frozenset[int]]  # stores and copies
    copies: Mapping[int, frozenset[str]] = field(default_factory=dict)  # by pc of a copy to shared memory: its buffers


@dataclass(frozen=True)
class RegisterUses:
    """By pc: the uses of the registers before it (None if unreachable), and of the values that it writes or stores."""

    before: tuple[State | None, ...]
    written: tuple[str, ...]  # to registers
    stored: Mapping[int, str]  # to memory


def register_uses(program: Program, origins: Origins) -> RegisterUses:
    """Return the uses of the values that each instruction reads and writes."""
    stored: dict[int, str] = {}
    while True:
        before, written = _flow(program, origins, stored)
        found = {pc: _stored(i, before[pc] or {}) for pc, i in enumerate(program.instructions) if i.row.is_store}
        if found == stored:
            return RegisterUses(tuple(before), tuple(written), stored)
        stored = found


def joined(names: Iterable[str]) -> str:
    """Return one name for several: the one that is not `other`, or all of those in order."""
    parts = {part for name in names for part in name.split(JOINT)} - {OTHER}
    return JOINT.join(sorted(parts)) or OTHER


def _flow(program: Program, origins: Origins, stored: Mapping[int, str]) -> tuple[list[State | None], list[str]]:
    """Return the states before each instruction and the names that it writes, given the names of stored values."""

    def result(pc: int, state: State) -> str:
        return _result(pc, program.instructions[pc], state, origins, stored)

    def behind(pc: int, state: State) -> State:
        return {**state, **dict.fromkeys(program.instructions[pc].writes(), result(pc, state))}

    nothing: State = {}
    states = forward(program, nothing, behind, _merged)
    return states, [OTHER if state is None else result(pc, state) for pc, state in enumerate(states)]


def _merged(known: State | None, arriving: State) -> State | None:
    """Return the state that holds on both paths; None if nothing new has arrived."""
    if known is None:
        return arriving
    changed = {r: joined((name, known.get(r, OTHER))) for r, name in arriving.items() if name != known.get(r)}
    changed = {r: name for r, name in changed.items() if name != known.get(r, OTHER)}
    return {**known, **changed} if changed else None


def _result(pc: int, instruction: Instruction, state: State, origins: Origins, stored: Mapping[int, str]) -> str:
    row = instruction.row
    if row.is_load:
        handed = (stored.get(s, joined(origins.copies.get(s, ()))) for s in origins.stores.get(pc, ()))
        return joined((*origins.buffers.get(pc, ()), *handed))
    if row.unit in _PASSING:
        return joined(state.get(r, OTHER) for r in instruction.reads())
    return RESULTS if row.flops else OTHER


def _stored(instruction: Instruction, state: State) -> str:
    address = instruction.address()
    base = () if address is None else address.registers
    return joined(state.get(r, OTHER) for r in instruction.reads() if r not in base)
