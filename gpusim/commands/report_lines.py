"""`gpusim report --by line`: what each line of source issued, waited for and accessed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated

from rich.console import RenderableType
from rich.table import Column, Table

from gpusim.analysis.account import report as reports
from gpusim.analysis.account import run_document
from gpusim.analysis.account.source_lines import ByLine, LineFigures
from gpusim.commands.document import new_table, right, width
from gpusim.support.document import LaunchDocument, Setting, doc
from isa.errors import UserError
from isa.kernel import Kernel

MOSTLY = "mostly"
REASONS = 2  # shown of a line
LEAST = 0.005  # share of a line's waits that a reason needs to be shown
ROOM = 20  # characters of a line's text for which columns are left out
LEAST_ROOM = 8
NARROW = "bytes", "threads", "code", "sectors"  # columns left out in this order where there is no such room
MEANINGS = {
    "waits": "warp-cycles of waiting before the line's instructions, on the SM with the most blocks",
    "conflicts": "passes through shared memory beyond those that the accesses' widths need",
    "sectors": "of 32 bytes of global memory, for each warp instruction that touches one",
    "bytes": "that active threads load from global memory, or store there",
}


class ReportLinesDocument(LaunchDocument, frozen=True):
    """What each line of source issued, waited for and accessed, on the SM with the most blocks."""

    cycles: Annotated[int, doc("Shader cycles of the SM with the most blocks.")]
    lines: Annotated[tuple[LineFigures, ...], doc("Lines with instructions, file by file.")]
    missing: Annotated[tuple[str, ...], doc("Source files that were not found.")]


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
    return ReportLinesDocument(**head, cycles=result.cycles, lines=found.lines, missing=found.sources.missing)


def screen(found: ByLine, settings: Mapping[str, Setting]) -> Iterator[RenderableType]:
    """Yield the launch, the table of lines, and what its columns mean."""
    result = found.result
    yield reports.heading(result.kernel, result.machine, settings, [("cycles", f"{result.cycles:,}")])
    yield ""
    columns = _columns(found.lines)
    room = _room(columns)
    for name in NARROW:
        if room < ROOM and name in columns:
            del columns[name]
            room = _room(columns)
    yield _table(found.lines, columns, max(LEAST_ROOM, room))
    yield from (f"{name}: {meaning}" for name, meaning in MEANINGS.items() if name in columns)
    if found.sources.note:
        yield found.sources.note


def _columns(lines: Sequence[LineFigures]) -> dict[str, list[str]]:
    """Return the cells of each column but the text, and last the sum of all lines."""
    counts = {
        "code": [len(one.pcs) for one in lines],
        "issued": [one.issued for one in lines],
        "threads": [one.threads for one in lines],
        "waits": [one.waits for one in lines],
    }
    moved = {
        "conflicts": [one.shared_conflicts for one in lines],
        "sectors": [one.global_sectors for one in lines],
        "bytes": [one.global_bytes for one in lines],
    }
    line = {"line": [*(str(one.line or "") for one in lines), ""]}
    share = {"share": [*(f"{100 * one.share:.1f} %" if one.waits else "" for one in lines), ""]}
    mostly = {MOSTLY: [*map(_reasons, lines), ""]}
    memory = {name: numbers for name, numbers in moved.items() if any(numbers)}
    return line | _counted(counts) | share | mostly | _counted(memory)


def _counted(columns: Mapping[str, Sequence[float]]) -> dict[str, list[str]]:
    """Return columns of numbers as text, with their sums; nothing for 0."""
    summed = {name: [*numbers, sum(numbers)] for name, numbers in columns.items()}
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


def _table(lines: Sequence[LineFigures], columns: Mapping[str, Sequence[str]], room: int) -> Table:
    """Return the table, with a row for each file before its lines where there are several."""
    text = Column("source", no_wrap=True, overflow="ellipsis", max_width=room)
    first, *others = columns
    table = new_table(*right(first), text, tight=True)
    for name in others:
        table.add_column(name, no_wrap=True, justify="left" if name == MOSTLY else "right")
    several, file = len({one.file for one in lines if one.line}) > 1, ""
    texts = [*(one.text if one.line else "(no line)" for one in lines), "all"]
    for one, words, (head, *cells) in zip((*lines, None), texts, zip(*columns.values(), strict=True), strict=True):
        if several and one and one.line and one.file != file:
            table.add_row("", file := one.file)
        table.add_row(head, words, *cells)
    return table
