"""A timeline by instruction and by line of source: what each issued, and what warps waited for before it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import TypeVar

from gpusim.views.timeline.document import Line, Timeline
from isa.reading.origin import NOWHERE, PlaceInSource

T = TypeVar("T", bound=Hashable)


@dataclass(slots=True)
class Sum:
    """Warp instructions that issued in the cycles of a document, and warp-cycles waited there by reason."""

    issues: int = 0
    waits: Counter[str] = field(default_factory=Counter)

    @property
    def waited(self) -> int:
        """Warp-cycles waited for any reason."""
        return self.waits.total()


def sums(timeline: Timeline, key: Callable[[Line], T]) -> dict[T, Sum]:
    """Return the sums over the instructions that have the same key; waits count within the document's cycles."""
    keys = [key(line) for line in timeline.program]
    found: dict[T, Sum] = defaultdict(Sum)
    for one in timeline.instructions:
        own = found[keys[one.pc]]
        own.issues += timeline.start <= one.issue < timeline.end
        for wait in one.waits:
            own.waits[wait.reason] += max(0, min(wait.end, timeline.end) - max(wait.start, timeline.start))
    return dict(found)


def place(line: Line) -> PlaceInSource:
    """Return file and line of the source of an instruction."""
    return (line.file, line.line) if line.line else NOWHERE
