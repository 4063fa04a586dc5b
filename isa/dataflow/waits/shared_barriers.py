"""Find instructions that wait too long because their dependency barrier also holds another signal in flight."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from isa.dataflow.flow import reads, successors, writes
from isa.dataflow.forward import pending_before
from isa.instruction import Instruction
from isa.nvidia.control import BARRIERS
from isa.program import Program

RESULT, SOURCES = "result", "sources"
CODE = re.compile(r"^\[B.*?\] ")  # before an instruction's text


@dataclass(frozen=True, slots=True)
class SharedBarrier:
    """Something that may be in flight on a barrier for which an instruction waits, but that it does not need.

    `what`: the `result` of the instruction at `pc`, or its `sources`, which may not have been read; `needed`: the
    instructions on that barrier that the waiting one does need, by pc.
    """

    barrier: int
    pc: int
    what: str
    needed: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Giver:
    """An instruction that takes a barrier for its result or its sources, and the names of these."""

    pc: int
    what: str
    barrier: int
    names: frozenset[str]


def shared_barriers(program: Program) -> dict[int, tuple[SharedBarrier, ...]]:
    """Return by pc what the instruction may wait for, on some path, besides what it needs of the same barrier.

    Empty for a program without control codes.
    """
    givers = givers_of(program)
    held = under_way(program, givers)
    found = {pc: _found(givers, held[pc], instruction) for pc, instruction in enumerate(program.instructions)}
    return {pc: those for pc, those in found.items() if those}


def givers_of(program: Program) -> list[Giver]:
    """Return what takes barriers, in program order."""
    return [giver for pc, instruction in enumerate(program.instructions) for giver in _givers(pc, instruction)]


def words(one: SharedBarrier, text: Callable[[int], str], place: Callable[[int], str]) -> str:
    """Return the barrier on which an instruction waits, and its holder.

    `text` has the instructions by pc, `place` their names, as `pc 3`.
    """
    who, needed, more = (*(CODE.sub("", text(pc)) for pc in (one.pc, one.needed[-1])), len(one.needed) - 1)
    holds = (
        f"`{who}` at {place(one.pc)} holds" if one.what == RESULT else f"the sources of `{who}` at {place(one.pc)} hold"
    )
    others = f" (and {more} more)" if more else ""
    return f"barrier {one.barrier}, which {holds} with `{needed}` at {place(one.needed[-1])}{others}"


def _givers(pc: int, instruction: Instruction) -> list[Giver]:
    control, found = instruction.control, list[Giver]()
    if control and control.read_barrier is not None:
        sources = frozenset(f"R{register}" for register in instruction.reads())
        found.append(Giver(pc, SOURCES, control.read_barrier, sources))
    if control and control.write_barrier is not None:
        found.append(Giver(pc, RESULT, control.write_barrier, frozenset(writes(instruction))))
    return found


def under_way(program: Program, givers: Sequence[Giver]) -> list[int]:
    """Return by pc the mask of givers, by their place, for whose barrier nothing may have waited since."""
    sharing, given = [0] * BARRIERS, [0] * len(program)
    for place, giver in enumerate(givers):
        sharing[giver.barrier] |= 1 << place
        given[giver.pc] |= 1 << place
    return pending_before(successors(program), given, [sum(sharing[b] for b in waits(i)) for i in program.instructions])


def waits(instruction: Instruction) -> list[int]:
    """Return the barriers for which an instruction waits."""
    mask = instruction.control.waits if instruction.control else 0
    return [barrier for barrier in range(BARRIERS) if mask >> barrier & 1]


def _found(givers: Sequence[Giver], held: int, waiting: Instruction) -> tuple[SharedBarrier, ...]:
    """Return the unneeded holders of one instruction's barriers, together with the needed ones."""
    found = list[SharedBarrier]()
    for barrier in waits(waiting):
        on = [giver for place, giver in enumerate(givers) if held >> place & 1 and giver.barrier == barrier]
        needed = tuple(dict.fromkeys(giver.pc for giver in on if _needs(waiting, giver)))
        if needed:
            others = [giver for giver in on if not _needs(waiting, giver)]
            found += (SharedBarrier(barrier, giver.pc, giver.what, needed) for giver in others)
    return tuple(found)


def _needs(waiting: Instruction, giver: Giver) -> bool:
    touched = writes(waiting) if giver.what == SOURCES else reads(waiting) | writes(waiting)
    return not giver.names.isdisjoint(touched)
