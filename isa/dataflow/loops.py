"""Loops of a program, and how deep in loops each instruction lies."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from isa.dataflow.flow import predecessors, successors
from isa.program import Program


def loops(program: Program) -> list[frozenset[int]]:
    """Return the pcs of each loop: those that reach a back edge without passing its target, the loop's head.

    Back edges to the same head belong to one loop.
    """
    before, after = predecessors(program), successors(program)
    ends = defaultdict[int, list[int]](list)
    for pc, head in _back(after):
        ends[head].append(pc)
    return [_body(before, head, last) for head, last in sorted(ends.items())]


def depths(program: Program) -> list[int]:
    """Return by pc the number of loops around it."""
    inside = [0] * len(program)
    for body in loops(program):
        for pc in body:
            inside[pc] += 1
    return inside


def _back(after: Sequence[Sequence[int]]) -> list[tuple[int, int]]:
    """Return the edges that lead back to a pc on the current path of a depth-first walk."""
    found, seen, under_way = list[tuple[int, int]](), set[int](), list[tuple[int, list[int]]]()
    above = set[int]()
    if after:
        under_way.append((0, list(after[0])))
        above.add(0)
    while under_way:
        pc, left = under_way[-1]
        seen.add(pc)
        if not left:
            under_way.pop()
            above.discard(pc)
            continue
        target = left.pop()
        if target in above:
            found.append((pc, target))
        elif target not in seen:
            under_way.append((target, list(after[target])))
            above.add(target)
    return found


def _body(before: Sequence[Sequence[int]], head: int, last: Sequence[int]) -> frozenset[int]:
    body, todo = {head}, list(last)
    while todo:
        pc = todo.pop()
        if pc not in body:
            body.add(pc)
            todo += before[pc]
    return frozenset(body)
