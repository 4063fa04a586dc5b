"""What instructions wait for: results that they need on some path, in words too, and reads of what they overwrite."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from isa.dataflow.flow import overwrites, predecessors, reads, walked, writes
from isa.dataflow.waits.shared_barriers import CODE, RESULT, SOURCES, givers_of, under_way, waits
from isa.instruction import Instruction
from isa.program import Program
from isa.row import MEMORY_UNITS, Unit


class Awaited(NamedTuple):
    """A result in words: one, and several."""

    one: str
    many: str


SHARED = Awaited("a load from shared memory", "loads from shared memory")
PHASES = Awaited("a phase of a barrier in shared memory", "phases of barriers in shared memory")
ATOMIC = re.compile(r"ATOM|RED")
_BY_UNIT: Mapping[str, Awaited] = {
    Unit.SHARED: SHARED,
    Unit.GLOBAL: Awaited("a load from global memory", "loads from global memory"),
    Unit.LOCAL: Awaited("a load from local memory", "loads from local memory"),
    Unit.TEXTURE: Awaited("a texture fetch", "texture fetches"),
    Unit.CONSTANT: Awaited("a load of a constant", "loads of constants"),
    Unit.SMEM: Awaited("a scalar load", "scalar loads"),
    Unit.SYNC: PHASES,
    Unit.WARPGROUP: Awaited("a product of the warpgroup", "products of the warpgroup"),
    Unit.SPECIAL: Awaited("a read of a special register", "reads of special registers"),
}
_ATOMIC_BY_UNIT: Mapping[str, Awaited] = {
    unit: Awaited(f"an atomic in {unit} memory", f"atomics in {unit} memory") for unit in (Unit.SHARED, Unit.GLOBAL)
}
_GUARD = re.compile(r"^@\S+ ")


def result_of(unit: str, text: str) -> Awaited:
    """Return in words what the result of an instruction is, by its unit class and its text."""
    mnemonic = _GUARD.sub("", CODE.sub("", text)).partition(" ")[0]
    if ATOMIC.match(mnemonic) and unit in _ATOMIC_BY_UNIT:
        return _ATOMIC_BY_UNIT[unit]
    base = mnemonic.partition(".")[0]
    own = Awaited(f"a result of {base}", f"results of {base}")
    return own if base in ("B2R", "BMOV") else _BY_UNIT.get(unit, own)


def awaited(program: Program, pcs: Iterable[int]) -> dict[int, tuple[int, ...]]:
    """Return by pc the instructions whose results that one may wait for.

    With control codes they are those on whose barriers it waits, else those that have written what it reads or writes.
    """
    if any(one.control for one in program.instructions):
        return _by_codes(program, pcs, RESULT)
    before = predecessors(program)
    return {pc: _writers(program, before, pc) for pc in pcs}


def overwritten(program: Program, pcs: Iterable[int]) -> dict[int, tuple[int, ...]]:
    """Return by pc the memory accesses that may not have read yet what one overwrites, as `awaited` does results."""
    if any(one.control for one in program.instructions):
        return _by_codes(program, pcs, SOURCES)
    before = predecessors(program)
    return {pc: _readers(program, before, pc) for pc in pcs}


def _by_codes(program: Program, pcs: Iterable[int], what: str) -> dict[int, tuple[int, ...]]:
    givers = givers_of(program)
    held = under_way(program, givers)
    found = dict[int, tuple[int, ...]]()
    for pc in pcs:
        barriers = waits(program.instructions[pc])
        on = (giver for place, giver in enumerate(givers) if held[pc] >> place & 1 and giver.barrier in barriers)
        found[pc] = tuple(giver.pc for giver in on if giver.what == what)
    return found


def _writers(program: Program, before: list[list[int]], pc: int) -> tuple[int, ...]:
    """Return the instructions that may have written last what the one at pc reads or writes."""
    code, found = program.instructions, set[int]()
    for name in reads(code[pc]) | writes(code[pc]):
        passed = walked(before, before[pc], partial(_is_lost, code, name))
        found |= {at for at in passed if name in writes(code[at])}
    return tuple(sorted(found))


def _readers(program: Program, before: list[list[int]], pc: int) -> tuple[int, ...]:
    """Return the memory accesses that read what the one at pc writes, with no other writer of it between."""
    code, found = program.instructions, set[int]()
    for name in writes(code[pc]):
        passed = walked(before, before[pc], partial(_is_written, code, name))
        found |= {at for at in passed if code[at].row.unit in MEMORY_UNITS and name in reads(code[at])}
    return tuple(sorted(found))


def _is_written(code: Sequence[Instruction], name: str, pc: int) -> bool:
    return name in writes(code[pc])


def _is_lost(code: Sequence[Instruction], name: str, pc: int) -> bool:
    return name in writes(code[pc]) and overwrites(code[pc])
