"""The address slice: the part of a program that determines its branches and the addresses that it accesses.

A backward closure over the data flow, by reaching definitions: from every address, guard and texture index to the
instructions whose result may reach it, and on to the sources of those. Values that only become results (the
multiply-adds of a matrix product) stay outside, even if an epilogue reuses their registers for addresses.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from isa.dataflow.flow import predecessors, reads, writes
from isa.dataflow.memory.local_slots import local_slots
from isa.instruction import Instruction
from isa.operands.operand import PT, PT_INDEX, Predicate
from isa.program import Program
from isa.row import Row, Unit
from isa.support.once import once


@dataclass(frozen=True, slots=True)
class _Flow:
    program: Program
    before: list[list[int]]
    first: list[int]  # by pc, that of the straight code in which it is
    written: list[set[str]]
    writers: Mapping[str, list[int]]  # by name, in ascending order
    slots: Mapping[int, Sequence[str]]  # of spilled registers


_Walked = dict[tuple[str, Predicate], set[int]]  # by name, and the guard under which it is read: the pcs passed


@once
def address_slice(program: Program) -> NDArray[np.bool_]:
    """Return bool[pc]: the result of the instruction may influence an address, a guard or a branch.

    If barriers in shared memory decide who goes on, all is needed: their bits, and what copies bring, are memory too.
    Stores are in the slice if a load of their memory is; those of spilled registers if they reach it. If blocks pass
    addresses to each other through global memory, the slice of one block alone is not enough.
    """
    return _closure(program, [(pc, name) for pc, i in enumerate(program.instructions) for name in steering(i)])


@once
def path_slice(program: Program) -> NDArray[np.bool_]:
    """Return bool[pc] of the address slice without the guards of arithmetic.

    Whether lanes compute does not change where warps go and what they access, unless a result does, which is in it.
    """
    code = program.instructions
    return _closure(program, [(pc, name) for pc, i in enumerate(code) for name in steering(i) if _goes_or_accesses(i)])


@once
def control_slice(program: Program) -> NDArray[np.bool_]:
    """Return bool[pc] of the address slice that decides where warps go, whatever they access on their way."""
    code = program.instructions
    return _closure(program, [(pc, name) for pc, i in enumerate(code) for name in steering(i) if _goes(i)])


def _goes(instruction: Instruction) -> bool:
    """Tell whether a warp may go on elsewhere, or with other lanes, or exit."""
    row = instruction.row
    return bool(row.is_branch or row.is_exit or row.steers or row.unit is Unit.CONTROL)


def _goes_or_accesses(instruction: Instruction) -> bool:
    """Tell whether an instruction does more than to compute: it branches, waits, exits or accesses memory."""
    row = instruction.row
    goes = row.is_branch or row.steers or row.unit in (Unit.BARRIER, Unit.TEXTURE) or not writes(instruction)
    return bool(goes or instruction.address() is not None or instruction.destination_in_shared() is not None)


def _closure(program: Program, todo: list[tuple[int, str]]) -> NDArray[np.bool_]:
    """Return bool[pc]: the result may reach one of the names where it is read."""
    everything = any(i.row.signal or i.row.bulk for i in program.instructions)
    needed, flow = np.full(len(program), everything), _flow(program)
    seen, loaded = _Walked(), set[frozenset[Unit]]()
    while todo:
        pc, name = todo.pop()
        for definition in _reaching(flow, seen, pc, name):
            todo += _include(flow, loaded, needed, definition)
    needed.flags.writeable = False  # all who ask get this one
    return needed


@once
def _flow(program: Program) -> _Flow:
    slots, code, before = local_slots(program), program.instructions, predecessors(program)
    written = [writes(i) | set(slots.get(pc, ()) if i.row.is_store else ()) for pc, i in enumerate(code)]
    first, writers = list[int](), defaultdict[str, list[int]](list)
    for pc, names in enumerate(written):
        first.append(first[-1] if pc and before[pc] == [pc - 1] else pc)
        for name in names:
            writers[name].append(pc)
    return _Flow(program, before, first, written, dict(writers), slots)


def steering(instruction: Instruction) -> set[str]:
    """Return the names that determine an instruction's address, whether it executes, and where its lanes go on."""
    if instruction.row.is_branch or instruction.row.steers or instruction.row.unit is Unit.BARRIER:
        return _read_by_control(instruction)
    names = set() if instruction.guard.index == PT_INDEX else {f"P{instruction.guard.index}"}
    address = instruction.address()
    if address is not None:
        names |= {f"R{r}" for r in address.registers}
    if instruction.row.unit is Unit.TEXTURE or instruction.row.by_values:
        names |= {f"R{r}" for r in instruction.reads()}
    place = instruction.destination_in_shared()
    if place is not None:  # by which banks conflict; a predicate says which lanes read
        names |= {f"R{r}" for r in place.registers} | {f"P{p}" for p in instruction.predicates_read()}
    return names


def _read_by_control(instruction: Instruction) -> set[str]:
    """Return what control flow reads; the predicate that BAR.RED counts only becomes a value."""
    counted = "Q" in instruction.row.form and instruction.row.unit is Unit.BARRIER
    read = {instruction.guard.index} - {PT_INDEX} if counted else set(instruction.predicates_read())
    registers = () if "d" in instruction.row.form else instruction.reads()
    return {f"P{p}" for p in read} | {f"R{r}" for r in registers}


def _reaching(flow: _Flow, seen: _Walked, pc: int, name: str) -> list[int]:
    """Return the pcs whose write of `name` may reach pc, except those found on earlier walks (`seen`).

    A lane that executes pc under a guard executed what has the same guard, as long as nobody writes this in between;
    unless it reads what other lanes have.
    """
    user = flow.program.instructions[pc]
    guard = PT if user.row.across or user.row.across_truth else user.guard
    found, todo = [], [(pc, guard, seen.setdefault((name, guard), set()))]
    while todo:
        at, guard, passed = todo.pop()
        for previous in _before(flow, at, name, guard):
            if previous in passed:
                continue
            passed.add(previous)
            writer, written, holds, onward = flow.program.instructions[previous], flow.written[previous], guard, passed
            if guard.index != PT_INDEX and f"P{guard.index}" in written:
                holds, onward = PT, seen.setdefault((name, PT), set())
            if name in written:
                found.append(previous)
            if not (name in written and writer.guard in (PT, holds)):
                todo.append((previous, holds, onward))
    return found


def _before(flow: _Flow, at: int, name: str, guard: Predicate) -> list[int]:
    """Return the pcs to look at before `at`: in straight code the last that writes the name or guard, or the first."""
    first = flow.first[at]
    if first == at:
        return flow.before[at]
    last = (
        _last(flow, name, at) if guard.index == PT_INDEX else max(_last(flow, n, at) for n in (name, f"P{guard.index}"))
    )
    return [max(first, last)]


def _last(flow: _Flow, name: str, at: int) -> int:
    """Return the last pc before `at` that writes a name, -1 if none does."""
    writers = flow.writers.get(name, [])
    place = bisect_left(writers, at)
    return writers[place - 1] if place else -1


def _include(flow: _Flow, loaded: set[frozenset[Unit]], needed: NDArray[np.bool_], pc: int) -> list[tuple[int, str]]:
    """Mark pc, and the stores that a load may read from; return the (pc, name) whose definitions are needed next.

    `loaded` has the memories whose stores are in the slice already.
    """
    if needed[pc]:
        return []
    needed[pc] = True
    program, instruction = flow.program, flow.program.instructions[pc]
    uses = [(pc, name) for name in reads(instruction)]
    if pc in flow.slots:
        uses += [(pc, name) for name in flow.slots[pc] if instruction.row.is_load]
    elif instruction.reads_memory():
        uses += [
            use for store in _stores(flow, loaded, instruction.row) for use in _include(flow, loaded, needed, store)
        ]
    if instruction.row.reads_barrier:
        uses += [(at, f"P{p}") for at in _barriers(program) for p in program.instructions[at].predicates_read()]
    return uses


def _stores(flow: _Flow, loaded: set[frozenset[Unit]], loads: Row) -> list[int]:
    """Return the stores of the memories that a load may read; none if they were returned before."""
    program, read = flow.program, flow.program.read(loads)
    if read in loaded:
        return []
    loaded.add(read)
    stores = [pc for pc, i in enumerate(program.instructions) if i.row.is_store or i.row.copies]
    return [pc for pc in stores if program.written(program.instructions[pc].row) & read]


def _barriers(program: Program) -> list[int]:
    return [pc for pc, i in enumerate(program.instructions) if i.row.unit is Unit.BARRIER]
