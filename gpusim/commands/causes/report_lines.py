"""`gpusim report --by line`: what each line of source issued, waited for and accessed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import compress
from typing import Annotated

from rich.console import RenderableType
from rich.table import Column, Table

from gpusim.analysis.account import report as reports
from gpusim.analysis.account import run_document
from gpusim.analysis.account.source_lines import ByLine, Inlined, LineFigures
from gpusim.commands.frame.document import new_table, right, width
from gpusim.simulation.result import Result
from gpusim.support.document import LaunchDocument, Setting, doc
from isa.errors import UserError
from isa.kernel import Kernel
from isa.reading.origin import ending, spot

MOSTLY = "mostly"
REASONS = 2  # shown of a line
LEAST = 0.005  # share of a line's waits that a reason needs to be shown
ROOM = 20  # characters of a line's text for which columns are left out
LEAST_ROOM = 8
INLINED = 3  # places in headers shown of a line
FROM = "from "  # before such a place
NARROW = (
    "threads",
    "code",
    "bytes",
    "hits",
    "L2",
    "sectors",
    "wasted",
    "DRAM",
)  # left out in this order where there is no room
MEANINGS = {
    "code": "instructions of the line",
    "waits": "warp-cycles of waiting before the line's instructions, on the SM with most work, as issued and threads",
    "conflicts": "passes through shared memory beyond those that the accesses' widths need, on that SM",
    "sectors": "of 32 bytes that accesses ask the L1 for, or past it the L2, in the whole launch, as all that follow",
    "hits": "part of the sectors that the L1 holds",
    "bytes": "that threads access, those that several access once, and those of bulk copies",
    "wasted": "bytes of the sectors that no thread accesses",
    "L2": "sectors that go there, or come from there",
    "DRAM": "sectors that go there, or come from there",
}


Row = LineFigures | Inlined


class ReportLinesDocument(LaunchDocument, frozen=True, tag=3):
    """What each line of source issued and waited for, on the SM with most work, and accessed, in the whole launch."""

    cycles: Annotated[int, doc("Shader cycles until the SM with most work is done, and the L2 with its atomics.")]
    lines: Annotated[tuple[LineFigures, ...], doc("Lines with instructions, file by file.")]
    missing: Annotated[tuple[str, ...], doc("Source files that were not found.")]
    no_bound: Annotated[str, doc("Why there is no bound; empty if there is one.")]
    all_sms: Annotated[str, doc("Why all SMs were simulated where one was asked for; empty if none was.")]


def check(kernel: Kernel) -> None:
    """Raise UserError for a program without any line of source."""
    program = kernel.program
    if not any(program.source(pc)[1] for pc in range(len(program))):
        fix = "compile with -lineinfo" if program.origins else "leave out --by, as it is no listing"
        raise UserError(f"--by line: {kernel.name} has no lines of source; {fix}")


def document(found: ByLine, settings: Mapping[str, Setting]) -> ReportLinesDocument:
    """Return the figures by line as a document."""
    result = found.result
    head = run_document.identity(result.kernel, result.machine, settings)
    return ReportLinesDocument(
        **head,
        cycles=result.cycles,
        lines=found.lines,
        missing=found.sources.missing,
        no_bound=result.no_bound,
        all_sms=result.all_sms,
    )


def screen(found: ByLine, settings: Mapping[str, Setting]) -> Iterator[RenderableType]:
    """Yield the launch, the table of lines, and what its columns mean."""
    result = found.result
    yield reports.heading(result.kernel, result.machine, settings, [("cycles", _cycles(result))])
    yield ""
    rows = [row for one in found.lines for row in _rows(one)]
    columns = _columns(rows)
    room = _room(columns)
    for name in NARROW:
        if room < ROOM and name in columns:
            del columns[name]
            room = _room(columns)
    yield _table(rows, columns, max(LEAST_ROOM, room))
    yield from (f"{name}: {meaning}" for name, meaning in MEANINGS.items() if name in columns)
    if any(isinstance(one, Inlined) for one in rows):
        yield f"{FROM}header:line: code of a header that is inlined in the line above, a part of its figures"
    if found.sources.note:
        yield found.sources.note


def _cycles(result: Result) -> str:
    """Return the cycles, and why there is no bound where there is none."""
    return f"{result.cycles:,}" if result.bound else f"{result.cycles:,}; no bound: {result.no_bound}"


def _rows(line: LineFigures) -> Iterator[Row]:
    """Yield a line, then the places in headers shown below it: those before whose instructions warps waited most."""
    yield line
    yield from (one for one in line.inlined[:INLINED] if one.share >= LEAST)


def _columns(rows: Sequence[Row]) -> dict[str, list[str]]:
    """Return the cells of each column but the text, and last the sum of all lines; parts of a line have few."""
    counts = {
        "code": [len(one.pcs) for one in rows],
        "issued": [one.issued for one in rows],
        "threads": [one.threads for one in rows],
        "waits": [one.waits for one in rows],
    }
    lines = [one if isinstance(one, LineFigures) else None for one in rows]
    moved = {
        "conflicts": [one.shared_conflicts if one else 0.0 for one in lines],
        "sectors": [one.moved.sectors if one else 0.0 for one in lines],
        "bytes": [one.moved.needed if one else 0.0 for one in lines],
        "wasted": [one.moved.wasted if one else 0.0 for one in lines],
        "L2": [one.moved.l2_sectors if one else 0.0 for one in lines],
        "DRAM": [one.moved.dram_read + one.moved.dram_written if one else 0.0 for one in lines],
    }
    rates = {
        "hits": [*(_percent(one.moved.hit_rate if one else None) for one in lines), ""],
    }
    line = {"line": [*(str(one.line or "") if one else "" for one in lines), ""]}
    share = {"share": [*(f"{100 * one.share:.1f} %" if one.waits else "" for one in rows), ""]}
    mostly = {MOSTLY: [*(_reasons(one) if one else "" for one in lines), ""]}
    memory = {name: numbers for name, numbers in moved.items() if any(numbers)}
    own = [one is not None for one in lines]
    shown = _counted(memory, own) | {name: cells for name, cells in rates.items() if any(cells)}
    order = [name for name in ("conflicts", "sectors", "hits", "bytes", "wasted", "L2", "DRAM") if name in shown]
    return line | _counted(counts, own) | share | mostly | {name: shown[name] for name in order}


def _percent(rate: float | None) -> str:
    return "" if rate is None else f"{100 * rate:.0f} %"


def _counted(columns: Mapping[str, Sequence[float]], summand: Sequence[bool]) -> dict[str, list[str]]:
    """Return columns of numbers as text, with the sums of those that are summands; nothing for 0."""
    summed = {name: [*numbers, sum(compress(numbers, summand))] for name, numbers in columns.items()}
    return {name: [f"{number:,.0f}" if number else "" for number in numbers] for name, numbers in summed.items()}


def _reasons(one: LineFigures) -> str:
    """Return the main reasons of a line's waits, one below the other, with their shares if there are several."""
    shares = {reason: cycles / one.waits for reason, cycles in one.stalls.items()}
    several = [f"{reason} {100 * share:.0f} %" for reason, share in shares.items() if LEAST <= share < 1 - LEAST]
    return "\n".join(several[:REASONS]) or next(iter(shares), "")


def _room(columns: Mapping[str, Sequence[str]]) -> int:
    """Return the characters that columns, and a blank after each, leave for the text."""
    widest = (max(len(line) for cell in (name, *cells) for line in cell.split("\n")) for name, cells in columns.items())
    return width() - sum(widest) - len(columns)


def _table(rows: Sequence[Row], columns: Mapping[str, Sequence[str]], room: int) -> Table:
    """Return the table, with a row for each file before its lines where there are several."""
    text = Column("source", no_wrap=True, overflow="ellipsis", max_width=room)
    first, *others = columns
    table = new_table(*right(first), text, tight=True)
    for name in others:
        table.add_column(name, no_wrap=True, justify="left" if name == MOSTLY else "right")
    several, file = len({one.file for one in rows if isinstance(one, LineFigures) and one.line}) > 1, ""
    texts = [*(_text(one, room) for one in rows), "all"]
    for one, words, (head, *cells) in zip((*rows, None), texts, zip(*columns.values(), strict=True), strict=True):
        if several and isinstance(one, LineFigures) and one.line and one.file != file:
            file = one.file
            table.add_row("", ending(file, room))
        table.add_row(head, words, *cells)
    return table


def _text(one: Row, room: int) -> str:
    """Return what a row is of: a line's text, or the place in a header."""
    if isinstance(one, Inlined):
        return ending(f"{FROM}{spot((one.file, one.line))}", room)
    return one.text if one.line else "(no line)"
