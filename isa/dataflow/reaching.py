"""Which definitions reach an operand, and the control flow with the program's end in it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from isa.dataflow.address_slice import address_slice
from isa.dataflow.flow import leaves, overwrites, successors, writes
from isa.once import once
from isa.program import Program

if TYPE_CHECKING:
    import networkx as nx


@once
def definitions(program: Program) -> Mapping[tuple[int, str], set[int]]:
    """Return by pc and name the instructions of the address slice whose write of that name may come there."""
    after, found = onward(program), defaultdict[tuple[int, str], set[int]](set)
    for pc in address_slice(program).nonzero()[0].tolist():
        for name in writes(program.instructions[pc]):
            for user in reached(program, after, after[pc], name):
                found[user, name].add(pc)
    return dict(found)


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
    seen, todo = set[int](), list(first)
    while todo:
        pc = todo.pop()
        if pc == len(program) or pc in seen:
            continue
        seen.add(pc)
        instruction = program.instructions[pc]
        if not (overwrites(instruction) and name in writes(instruction)):
            todo += after[pc]
    return seen


def control_flow(program: Program) -> nx.DiGraph:
    """Return the control flow between pcs as a graph; the program's length is the end."""
    import networkx as nx  # noqa: PLC0415  (start-up time)

    return nx.DiGraph([(pc, target) for pc, after in enumerate(onward(program)) for target in after])
