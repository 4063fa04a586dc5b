"""Liveness: where a register or predicate is still needed."""

from __future__ import annotations

from isa.dataflow.flow import overwrites, predecessors, reads, writes
from isa.program import Program


def live(program: Program) -> list[frozenset[str]]:
    """Return by pc the names (R4, P0) whose value some later instruction may still read.

    A write under a guard ends no life, because some lanes may keep their old value.
    """
    code, before = program.instructions, predecessors(program)
    needed = [frozenset(reads(i)) for i in code]
    ended = [frozenset(writes(i)) if overwrites(i) else frozenset() for i in code]
    behind = [frozenset[str]()] * len(code)
    todo = list(range(len(code)))
    while todo:
        pc = todo.pop()
        for previous in before[pc]:
            names = behind[previous] | needed[pc] | (behind[pc] - ended[pc])
            if names != behind[previous]:
                behind[previous] = names
                todo.append(previous)
    return behind
