"""Loops of a program."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from isa.dataflow.flow import in_function, is_call, reversed_ways, targets, walked
from isa.program import Program


def loops(program: Program) -> list[frozenset[int]]:
    """Return the pcs of each loop: those that reach a back edge without passing its target, the loop's head.

    Back edges to the same head belong to one loop. A call stays in its loop, and a function's loops are its own: one
    that calls itself is no loop.
    """
    after = in_function(program)
    before = reversed_ways(after)
    entries = sorted({0}.union(*(targets(program, pc) for pc, i in enumerate(program.instructions) if is_call(i))))
    ends = defaultdict[int, list[int]](list)
    for pc, head in _back(after, entries):
        ends[head].append(pc)
    return [frozenset(walked(before, last, head.__eq__, {head})) for head, last in sorted(ends.items())]


def _back(after: Sequence[Sequence[int]], entries: Sequence[int]) -> list[tuple[int, int]]:
    """Return the edges that lead back to a pc on the current path of depth-first walks from the entries."""
    found, seen = list[tuple[int, int]](), set[int]()
    for entry in entries:
        if entry < len(after) and entry not in seen:
            found += _back_from(after, entry, seen)
    return found


def _back_from(after: Sequence[Sequence[int]], entry: int, seen: set[int]) -> list[tuple[int, int]]:
    found, under_way, above = list[tuple[int, int]](), [(entry, list(after[entry]))], {entry}
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
