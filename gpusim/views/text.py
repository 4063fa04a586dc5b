"""A timeline as text: a row for each warp instruction, a letter for each cycle."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from textwrap import wrap
from typing import NamedTuple, TypeVar

from gpusim.support.document import spelled
from gpusim.support.plural import plural
from gpusim.views.rows import Span, letter_of, spans
from gpusim.views.timeline.document import NONE, Issued, Timeline
from gpusim.views.timeline.units import Rows, Stretch, unit_rows

TICK = 10  # cycles between two numbers above the rows
LEAST = 20  # least columns for cycles
UNCHANGED = 16  # cycles without change from which on the middle is left out
KEPT = 4  # cycles that stay on either side of it
GAP = "~"
Piece = TypeVar("Piece", Span, Stretch)
OFFSET = 6  # characters of an offset in machine code


class Column(NamedTuple):
    """A cycle, or some left out, whose number takes `width` columns."""

    cycle: int
    left_out: int = 0

    @property
    def label(self) -> str:
        """The text above it."""
        return f"{GAP}{self.left_out}{GAP}" if self.left_out else ""

    @property
    def width(self) -> int:
        """Characters that it takes."""
        return len(self.label) or 1


def text(document: Timeline, width: int = 80) -> str:
    """Return the timeline as lines of at most so many characters: head, rows, legend.

    Cycles that do not fit side by side follow below. The middle of a long stretch without change is left out.
    """
    rows = [(one, list(spans(one))) for one in document.instructions if one.warp in document.shown]
    units = unit_rows(document)
    every = [span for _, some in rows for span in some]
    columns = _columns(document, [*every, *(work for works in units.values() for work in works)])
    left = _left(document, width)
    panels = [
        line
        for panel in _panels(columns, width - left)
        for line in ("", *_panel(document, rows, panel, left), *_units(document, units, panel, left))
    ]
    legend = _legend(document, rows, units, any(column.left_out for column in columns), width)
    return "".join(f"{line.rstrip()}\n" for line in (*_head(document, width), *panels, "", *legend))


def _head(document: Timeline, width: int) -> Iterator[str]:
    changed = "a changed " if document.settings else ""
    yield from wrap(
        f"{document.kernel} on {changed}{document.machine} ({document.machine_name}), {document.policy}", width
    )
    for name, values in (("settings", document.settings), ("parameters", document.parameters)):
        if values:
            pairs = " ".join(f"{key}={spelled(value)}" for key, value in values.items())
            yield from wrap(f"{name} {pairs}", width, subsequent_indent=" " * (len(name) + 1))
    total = f" of {document.cycles:,}" if document.cycles != NONE else ", of a run that does not end"
    warps = f"warps {_ranges(document.shown)} of {document.warp_slots}"
    slots = f"{plural(document.schedulers, 'scheduler')}, each with a slot every {plural(document.interval, 'cycle')}"
    yield from wrap(f"cycles {document.start:,} to {document.end:,}{total}; {warps}; {slots}", width)


def _ranges(numbers: Sequence[int]) -> str:
    """Numbers in order, neighbours as first-last."""
    firsts = [n for n in numbers if n - 1 not in numbers]
    lasts = [n for n in numbers if n + 1 not in numbers]
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in zip(firsts, lasts, strict=True))


def _columns(document: Timeline, every: Sequence[Span | Stretch]) -> list[Column]:
    """The cycles of the document, but for the middle of those in which no row changes."""
    inside = {cycle for span in every for cycle in (span.start, span.end) if document.start < cycle < document.end}
    edges = [document.start, *sorted(inside), document.end]
    return [column for start, end in itertools.pairwise(edges) for column in _stretch(start, end)]


def _stretch(start: int, end: int) -> Iterator[Column]:
    """Cycles in which nothing changes."""
    if end - start <= UNCHANGED:
        yield from map(Column, range(start, end))
    else:
        yield from map(Column, range(start, start + KEPT))
        yield Column(start + KEPT, end - start - 2 * KEPT)
        yield from map(Column, range(end - KEPT, end))


def _panels(columns: Sequence[Column], room: int) -> Iterator[list[Column]]:
    """Columns that fit beside each other."""
    panel: list[Column] = []
    for column in columns:
        if panel and sum(one.width for one in panel) + column.width > room:
            yield panel
            panel = []
        panel.append(column)
    yield panel


def _left(document: Timeline, width: int) -> int:
    """Characters that warp, pc and instruction take in front of the cycles."""
    longest = max((len(line.text) for line in document.program), default=0)
    head = len(_names(document, "warp", document.numbering, ""))
    return min(head + longest + 2, max(width - LEAST, head + 8))


def _names(document: Timeline, warp: object, number: str, instruction: str) -> str:
    digits = 4 if document.numbering == "pc" else OFFSET
    return f"{warp:>4} {number:>{digits}}  {instruction}"


def _panel(
    document: Timeline, rows: Sequence[tuple[Issued, list[Span]]], panel: Sequence[Column], left: int
) -> Iterator[str]:
    """The numbers of the cycles, and the rows of the instructions that do something in them."""
    start, end = panel[0].cycle, panel[-1].cycle + max(1, panel[-1].left_out)
    letter = letter_of(document)
    yield f"{_names(document, 'warp', document.numbering, 'instruction'):{left}.{left}}{_ruler(panel)}"
    for one, some in rows:
        if some[0].start < end and some[-1].end > start:
            line = document.program[one.pc]
            name = _names(document, one.warp, line.number, line.text)
            yield f"{name[: left - 1]:{left}}{_cells(panel, some, lambda span: letter(span.name))}"


def _units(document: Timeline, units: Rows, panel: Sequence[Column], left: int) -> Iterator[str]:
    """The rows of units that work by themselves."""
    letter = letter_of(document)
    for name, works in units.items():
        head = _names(document, "", "", name)
        yield f"{head[: left - 1]:{left}}{_cells(panel, works, lambda work: work.letter or letter(work.state))}"


def _ruler(panel: Sequence[Column]) -> str:
    """The number of each tenth cycle above its start, that of the first cycle, and the counts of cycles left out."""
    ruler, free, width = "", True, sum(one.width for one in panel)
    for column in panel:
        wanted = column.label or (str(column.cycle) if free or column.cycle % TICK == 0 else "")
        place = sum(one.width for one in panel[: panel.index(column)])
        if wanted and len(ruler) + (not free) <= place and place + len(wanted) <= width:
            ruler = f"{ruler:{place}}{wanted}"
        free = bool(column.label)
    return ruler


def _cells(panel: Sequence[Column], some: Sequence[Piece], letter: Callable[[Piece], str]) -> str:
    shown = dict.fromkeys((column.cycle for column in panel), " ")
    for span in some:
        for cycle in range(max(span.start, panel[0].cycle), min(span.end, panel[-1].cycle + 1)):
            if cycle in shown:
                shown[cycle] = letter(span)
    return "".join(_cell(column, shown[column.cycle]) for column in panel)


def _cell(column: Column, letter: str) -> str:
    filler = GAP if letter != " " else " "
    return filler * column.width if column.left_out else letter


def _legend(
    document: Timeline, rows: Sequence[tuple[Issued, list[Span]]], units: Rows, gaps: bool, width: int
) -> Iterator[str]:
    """The meaning of each letter that occurs, and of the sign for left-out cycles."""
    works = [work for each in units.values() for work in each]
    seen = {span.name for _, some in rows for span in some if span.start < document.end and span.end > document.start}
    seen |= {work.state for work in works if not work.letter}
    names = [letter for letter in document.letters if letter.name in seen]
    longest = max((len(letter.name) for letter in names), default=0)
    for letter in names:
        start = f"{letter.letter}  {letter.name:{longest}}  "
        yield from wrap(f"{start}{letter.meaning}", width, subsequent_indent=" " * len(start), drop_whitespace=False)
    if any(work.letter for work in works):
        yield from wrap("0-9  phase of a barrier in shared memory (mbar and its address): its last digit", width)
    if gaps:
        yield from wrap(f"{GAP}  nothing changes: as many cycles are left out as the numbers above say", width)
