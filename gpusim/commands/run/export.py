"""`gpusim export`: a timeline in the format of other tools."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, NamedTuple

import msgspec
from typer import Option

from gpusim.commands.frame.command import Answer
from gpusim.commands.frame.options import LaunchOrTimeline, MaxCycles, Part, SourceOptions, out
from gpusim.commands.frame.progress import shown
from gpusim.commands.run.timelines import check_name, timeline_of, with_summary
from gpusim.support import whole_file
from gpusim.support.document import KernelKey, MachineKey, OfSettings, doc
from gpusim.support.plural import plural
from gpusim.views.kanata import kanata
from gpusim.views.perfetto import perfetto
from gpusim.views.svg import svg
from gpusim.views.table import csv, parquet
from gpusim.views.timeline.document import Timeline
from isa.errors import UserError
from isa.reading import extra


class Format(StrEnum):
    """The formats."""

    KANATA = "kanata"
    PERFETTO = "perfetto"
    CSV = "csv"
    PARQUET = "parquet"
    SVG = "svg"
    JSON = "json"


FORMAT_HELP = "Format of the file; see docs/views.md."


def _format(text: str) -> Format:
    """Return the format of that name; raises UserError, which points to `gpusim view` for HTML."""
    if text in tuple(Format):
        return Format(text)
    advice = f"choose one of {', '.join(Format)}"
    raise UserError(f"--format {text}: {'gpusim view writes HTML' if text == 'html' else 'no such format'}; {advice}")


class Table(StrEnum):
    """The tables that CSV and Parquet can hold."""

    INSTRUCTIONS = "instructions"
    WAITS = "waits"
    LOST = "lost"
    COPIES = "copies"
    PHASES = "phases"
    MEMORY = "memory"


class ExportDocument(OfSettings, frozen=True):
    """A file that was written, and the part of a run that it holds."""

    file: Annotated[str, doc("Path of the file.")]
    format: Annotated[Format, doc("Its format.")]
    bytes: Annotated[int, doc("Size of the file.")]
    kernel: KernelKey
    machine: MachineKey
    instructions: Annotated[int, doc("Warp instructions.")]
    warps: Annotated[tuple[int, ...], doc("Warp slots of the SM.")]
    cycles: Annotated[tuple[int, int], doc("The first shader cycle since the launch, and the one after the last.")]


def export(
    launch: LaunchOrTimeline,
    code: SourceOptions,
    part: Part,
    form: Annotated[Format, Option("--format", parser=_format, metavar=f"<{'|'.join(Format)}>", help=FORMAT_HELP)],
    out: Annotated[Path, out("The file; compressed if its name ends in .gz.")],
    table: Annotated[Table | None, Option("--table", help="For csv and parquet. [default: instructions]")] = None,
    max_cycles: MaxCycles = None,
) -> Answer:
    """Write the timeline of one SM for another tool: Konata, Perfetto, tables, a picture, or JSON.

    The file appears whole or not at all. Parquet needs the extra gpusim[parquet], Perfetto gpusim[perfetto].

    Example: gpusim export examples/saxpy.asm --machine c2050 --format kanata --out saxpy.kanata.gz
    """
    _check(form, out, table)
    found = timeline_of(launch, code, part, max_cycles)
    if table is Table.MEMORY:
        found = with_summary(found, launch, code)
    with shown(f"writing {out.name}"):
        size = whole_file.write_pieces(out, FORMATS[form].pieces(found, table or Table.INSTRUCTIONS))
    document = ExportDocument(
        file=str(out),
        format=form,
        bytes=size,
        kernel=found.kernel,
        machine=found.machine,
        instructions=len(found.instructions),
        warps=found.shown,
        cycles=(found.start, found.end),
    )
    counts = f"{plural(document.instructions, 'instruction')} of {plural(len(found.shown), 'warp')}"
    lines = (
        f"{out}: {plural(size, 'byte')}; {FORMATS[form].reader}",
        f"{counts}, cycles {found.start:,} to {found.end:,}",
    )
    return Answer(document, lines, found.ineffective or ())


class _Writer(NamedTuple):
    """The function that yields a file in pieces, the extra package that it needs, and the programs that read it."""

    pieces: Callable[[Timeline, Table], Iterable[bytes]]
    package: str
    reader: str


FORMATS = {
    Format.KANATA: _Writer(lambda timeline, _: kanata(timeline), "", "Konata opens it"),
    Format.PERFETTO: _Writer(lambda timeline, _: perfetto(timeline), "perfetto", "ui.perfetto.dev opens it"),
    Format.CSV: _Writer(csv, "", "spreadsheets and data frames read it"),
    Format.PARQUET: _Writer(parquet, "pyarrow", "data frames read it"),
    Format.SVG: _Writer(lambda timeline, _: svg(timeline), "", "browsers and drawing programs open it"),
    Format.JSON: _Writer(
        lambda timeline, _: [msgspec.json.encode(timeline)], "", "gpusim reads it in place of a kernel"
    ),
}
TABULAR = Format.CSV, Format.PARQUET


def _check(form: Format, out: Path, table: Table | None) -> None:
    """Raise UserError where no file can be written, before anything is simulated."""
    (check_name if form is Format.JSON else whole_file.check)(out)
    if table and form not in TABULAR:
        raise UserError(f"--table {table}: only csv and parquet hold tables; leave it out")
    if form is Format.PARQUET and out.suffix == ".gz":
        raise UserError(f"{out}: Parquet is already compressed; leave out .gz")
    if FORMATS[form].package:
        extra.module(FORMATS[form].package, form)
