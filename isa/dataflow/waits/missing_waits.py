"""Waits that machine code lacks: a register that is used although nobody waits for the barrier of its result.

A result that takes a time of its own, such as a load's, has a write barrier in its control code. Whoever reads or
overwrites its registers on some path must come behind a wait for that barrier. No latency is asked: what codes rely on
by counting cycles is not looked at, nor are predicates, which atomics tell with their read barrier, registers that a
warp shares, and fetches of textures, whose returns DEPBAR counts. nvcc's code lacks no wait.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from isa.dataflow.flow import reads, writes
from isa.dataflow.waits.shared_barriers import RESULT, Giver, givers_of, under_way, waits
from isa.operands.operand import RZ_INDEX
from isa.program import Program
from isa.row import Unit


@dataclass(frozen=True, slots=True)
class MissingWait:
    """An instruction, by pc, that reads or `overwrites` a register without a wait for the barrier of its `writer`."""

    pc: int
    register: str
    overwrites: bool
    writer: int
    barrier: int


def missing_waits(program: Program) -> tuple[MissingWait, ...]:
    """Return a use without a wait for each writer that has one: the first read behind it, else the first overwriting.

    They are in the order of the writers.
    """
    givers = [one for one in givers_of(program) if one.what == RESULT and _is_followed(program, one)]
    held = under_way(program, givers)
    by_barrier, by_name = defaultdict[int, int](int), defaultdict[str, int](int)
    for place, giver in enumerate(givers):
        by_barrier[giver.barrier] |= 1 << place
        for name in giver.names:
            by_name[name] |= 1 << place
    found = defaultdict[int, list[MissingWait]](list)
    for pc, instruction in enumerate(program.instructions):
        left = held[pc] & ~sum(by_barrier[barrier] for barrier in waits(instruction))
        for one in _unwaited(program, givers, pc, left, by_name) if left else ():
            found[one.writer].append(one)
    return tuple(min(found[pc], key=lambda one: _rank(one, len(program))) for pc in sorted(found))


def _rank(one: MissingWait, length: int) -> tuple[bool, int]:
    """Return a number that is the smaller, the sooner the use comes behind its writer; reads come first."""
    return one.overwrites, (one.pc - one.writer - 1) % length


def _is_followed(program: Program, giver: Giver) -> bool:
    return program.instructions[giver.pc].row.unit is not Unit.TEXTURE


def _unwaited(
    program: Program, givers: list[Giver], pc: int, left: int, by_name: Mapping[str, int]
) -> Iterator[MissingWait]:
    """Yield what the instruction lacks; `left` has the givers that may be under way when it issues."""
    for overwrites, names in ((False, reads), (True, writes)):
        for name in sorted(_registers(names(program.instructions[pc]))):
            for place in _places(left & by_name.get(name, 0)):
                yield MissingWait(pc, name, overwrites, givers[place].pc, givers[place].barrier)


def _registers(names: set[str]) -> set[str]:
    """Return the registers of a thread among the names."""
    return {name for name in names if name[0] == "R" and int(name[1:]) < RZ_INDEX}


def _places(mask: int) -> Iterator[int]:
    while mask:
        yield (mask & -mask).bit_length() - 1
        mask &= mask - 1
