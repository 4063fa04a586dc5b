"""One finding of the diagnosis, and how it names places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Annotated, Literal

from gpusim.support.document import doc
from gpusim.support.plural import plural
from isa.program import Program

Sure = Literal["counted", "likely", "possible"]
PLACES = 4  # instructions, and lines of source, that a finding names


@dataclass(frozen=True)
class Finding:
    """What limits the launch, where, what lifting that saves at most, and what to do."""

    limit: Annotated[str, doc("The limit, in a word or two.")]
    share: Annotated[float, doc("Of the time of the launch, what lifting it saves at most, from 0 to 1.")]
    sure: Annotated[Sure, doc("counted in the launch; likely, or possible, by the reasons of lost issue slots.")]
    what: Annotated[str, doc("What was found, in words and numbers.")]
    remedy: Annotated[str, doc("What to do.")]
    pcs: Annotated[tuple[int, ...], doc("Instructions that it concerns, the costliest first.")] = ()


@dataclass(frozen=True)
class Cause:
    """What a finding says, and by resource the part of the time for which it keeps that busy, `waits` if others wait.

    `waits` is the part of the time, or of the issue slots, that is lost to it.
    """

    limit: str
    what: str
    remedy: str
    pcs: tuple[int, ...] = ()
    freed: Mapping[str, float] = field(default_factory=dict)
    waits: float = 0.0

    def finding(self, share: float) -> Finding:
        """Return the finding, with what removing the cause saves at most."""
        return Finding(self.limit, share, "counted", self.what, self.remedy, self.pcs)


def places(program: Program, pcs: tuple[int, ...]) -> str:
    """Return some instructions in words, with their lines of source where these are known."""
    return f"{named(program, pcs)}{lines(program, pcs)}"


def named(program: Program, pcs: tuple[int, ...]) -> str:
    """Return some instructions in words, as a range where they follow each other."""
    shown = sorted(pcs[:PLACES]) if len(pcs) <= PLACES else sorted(pcs)
    if len(shown) > 1 and shown == list(range(shown[0], shown[-1] + 1)):
        return f"{program.numbering} {program.number(shown[0])} to {program.number(shown[-1])}"
    more = f" and {len(pcs) - PLACES} more" if len(pcs) > PLACES else ""
    return f"{program.numbering} {', '.join(map(program.number, pcs[:PLACES]))}{more}"


def lines(program: Program, pcs: Sequence[int]) -> str:
    """Return the lines of source of some instructions in words, or nothing where none is known."""
    found = dict.fromkeys(place for place in map(program.source, pcs) if place[1])
    files = dict.fromkeys(file for file, _ in found)
    if not found or not all(files):
        return ""
    parts = [f"{PurePath(file).name}:{', '.join(_numbers(found, file))}" for file in files]
    return f" ({'; '.join(parts)})"


def _numbers(found: dict[tuple[str, int], None], file: str) -> list[str]:
    """Return the first line numbers of a file, and how many more there are."""
    own = sorted(line for at, line in found if at == file)
    more = [f"and {plural(len(own) - PLACES, 'more line')}"] if len(own) > PLACES else []
    return [*map(str, own[:PLACES]), *more]
