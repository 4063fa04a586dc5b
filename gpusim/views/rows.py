"""The letter of an instruction of a timeline in each cycle."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from gpusim.views.timeline.document import NONE, Issued, Timeline


class Span(NamedTuple):
    """Cycles from `start` up to `end` in which an instruction shows the state or stall reason of this name."""

    start: int
    end: int
    name: str


def spans(one: Issued) -> Iterator[Span]:
    """Yield the states of an instruction in order of time: its waits, its issue, and the states after it."""
    for wait in one.waits:
        yield Span(wait.start, wait.end, wait.reason)
    yield Span(one.issue, one.issue + 1, "selected")
    reached = one.issue + 1
    for until, name in ((one.begin, "queued"), (_occupied(one), "occupies"), (one.done, "under_way")):
        if until > reached:
            yield Span(reached, until, name)
            reached = until
    if one.done != NONE:
        yield Span(reached, reached + 1, "done")
        if one.end > reached + 1:
            yield Span(reached + 1, one.end, "occupies")


def _occupied(one: Issued) -> int:
    """When the pipe is done with it, or its result is there if that is sooner."""
    return one.end if one.done == NONE else min(one.end, one.done)


def letter_of(document: Timeline) -> Callable[[str], str]:
    """Return the function from the name of a state or stall reason to its letter; ? for unknown names."""
    letters = {letter.name: letter.letter for letter in document.letters}
    return lambda name: letters.get(name, "?")
