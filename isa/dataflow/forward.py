"""A forward data flow: what holds before each instruction, on every path that leads to it.

The first place whose state has changed is followed next, so that what comes before a meeting of paths is mostly known
there (Kam and Ullman, JACM 23(1), 1976, with the order of the code for the reverse postorder).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import chain
from typing import Generic, TypeVar

from isa.dataflow.flow import successors
from isa.program import Program

State = TypeVar("State")


def forward(
    program: Program,
    first: State,
    behind: Callable[[int, State], State],
    merged: Callable[[State | None, State], State | None],
) -> list[State | None]:
    """Return the state before each instruction; None if it is unreachable.

    `behind` follows the instruction at a pc. `merged` is what holds on two paths, None if the second adds nothing to
    the first; it may not depend on their order.
    """
    onward, length = _ways(program)
    todo, comes_from = _Todo[State](merged, [None] * len(onward)), Counter(chain([0], *onward))
    todo.add([0] if length else [], first)
    while todo.places:
        pc, state = todo.next()
        after = behind(pc, state) if pc < length else state
        while len(onward[pc]) == 1 and comes_from[onward[pc][0]] == 1:
            (pc,) = onward[pc]
            todo.before[pc] = after
            after = behind(pc, after) if pc < length else after
        todo.add(onward[pc], after)
    return todo.before[:length]


def pending_before(after: Sequence[Iterable[int]], given: Sequence[int], over: Sequence[int]) -> list[int]:
    """Return by pc the mask of what may be pending before it on some path; by pc what is `over` there, then `given`."""
    before = [0] * len(after)
    todo = list(range(len(after)))[::-1]
    while todo:
        pc = todo.pop()
        behind = before[pc] & ~over[pc] | given[pc]
        for target in after[pc]:
            if behind & ~before[target]:
                before[target] |= behind
                todo.append(target)
    return before


def _ways(program: Program) -> tuple[list[tuple[int, ...]], int]:
    """Return the places that follow each, and how many are instructions; behind them, where those with many ways meet.

    What has the same three or more ways, such as all returns, goes on to one place, and from there on these ways.
    """
    onward = successors(program)
    many = {ways: len(onward) + n for n, ways in enumerate(dict.fromkeys(w for w in onward if len(w) > 2))}
    return [(many[ways],) if ways in many else ways for ways in onward] + list(many), len(onward)


@dataclass(frozen=True)
class _Todo(Generic[State]):
    """The places whose state has changed, the first one first, and the state before each place."""

    merged: Callable[[State | None, State], State | None]
    before: list[State | None]
    places: list[int] = field(default_factory=list)

    def next(self) -> tuple[int, State]:
        """Take away the first place, and return it with its state."""
        pc = heappop(self.places)
        state = self.before[pc]
        assert state is not None
        return pc, state

    def add(self, places: Iterable[int], arriving: State) -> None:
        """Let a state arrive at places; those that it changes are to do."""
        for pc in places:
            merged = self.merged(self.before[pc], arriving)
            if merged is not None:
                self.before[pc] = merged
                if pc not in self.places:
                    heappush(self.places, pc)
