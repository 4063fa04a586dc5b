"""Which definitions reach an operand, and the control flow with the program's end in it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from isa.dataflow.flow import leaves, overwrites, reads, successors, walked, writes
from isa.dataflow.forward import forward
from isa.dataflow.memory.address_slice import address_slice
from isa.program import Program
from isa.support.once import once

if TYPE_CHECKING:
    import networkx as nx

_Places = dict[str, list[tuple[int, int]]]  # by name: each definition's bit, and its pc


@once
def definitions(program: Program) -> Mapping[tuple[int, str], frozenset[int]]:
    """Return by pc and name read the instructions of the address slice whose write of that name may come there.

    A state has one bit for each definition, so that a path is followed with all of them at once.
    """
    places = _definitions(program)
    of_name = {name: sum(1 << bit for bit, _ in each) for name, each in places.items()}
    given: defaultdict[int, int] = defaultdict(int)  # by pc, the bits of its own definitions
    for bit, pc in (one for each in places.values() for one in each):
        given[pc] |= 1 << bit
    ended = {pc: sum(of_name.get(name, 0) for name in names) for pc, names in enumerate(_ended(program)) if names}

    def behind(pc: int, state: int) -> int:
        return state & ~ended.get(pc, 0) | given.get(pc, 0)

    return dict(_read(program, forward(program, 0, behind, _merged), places))


def _definitions(program: Program) -> _Places:
    """Return the definitions of each name in the address slice."""
    code, places = program.instructions, _Places()
    every = ((pc, name) for pc in address_slice(program).nonzero()[0].tolist() for name in sorted(writes(code[pc])))
    for bit, (pc, name) in enumerate(every):
        places.setdefault(name, []).append((bit, pc))
    return places


def _merged(known: int | None, arriving: int) -> int | None:
    """Return the definitions of both paths; None if nothing new has arrived."""
    both = arriving if known is None else known | arriving
    return None if both == known else both


def _read(
    program: Program, before: list[int | None], places: _Places
) -> Iterator[tuple[tuple[int, str], frozenset[int]]]:
    """Yield the definitions that come to each name that an instruction reads, if any does."""
    for pc, state in enumerate(before):
        for name in reads(program.instructions[pc]) if state else ():
            found = frozenset(at for bit, at in places.get(name, ()) if state and state >> bit & 1)
            if found:
                yield (pc, name), found


@once
def _ended(program: Program) -> list[frozenset[str]]:
    """Return by pc the names whose old content is certainly lost there."""
    return [frozenset(writes(i)) if overwrites(i) else frozenset() for i in program.instructions]


@once
def onward(program: Program) -> list[tuple[int, ...]]:
    """Return for each pc those that a lane may execute next; the program's length is the end."""
    end, found = len(program), []
    for pc, after in enumerate(successors(program)):
        instruction = program.instructions[pc]
        ends = instruction.row.is_exit or not after or (pc + 1 == end and not leaves(instruction))
        found.append((*after, end) if ends else after)
    return found


def reached(program: Program, after: list[tuple[int, ...]], first: Iterable[int], name: str) -> set[int]:
    """Return the pcs that the value of a name comes to on paths from the first ones, where it may be read."""
    ended, end = _ended(program), len(program)
    return walked(after, first, lambda pc: name in ended[pc], {end}) - {end}


def control_flow(program: Program) -> nx.DiGraph:
    """Return the control flow between pcs as a graph; the program's length is the end."""
    import networkx as nx  # noqa: PLC0415  (start-up time)

    return nx.DiGraph([(pc, target) for pc, after in enumerate(onward(program)) for target in after])
