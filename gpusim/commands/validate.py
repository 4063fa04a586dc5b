"""`gpusim validate`: published or measured figures beside simulated ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from gpusim.analysis.validate import measured as rows
from gpusim.analysis.validate.errors import Errors
from gpusim.analysis.validate.validation import Kind, Outcome, Quantity, outcomes, published_points, summary
from gpusim.commands.arguments import Json, Overrides, changes, machine_of, machines_from
from gpusim.commands.document import new_table, right, show, write_json
from gpusim.commands.progress import begin_compiling, shown
from gpusim.commands.validate_kernels import Wanted, validate_kernels
from gpusim.machine.machine import Machine
from gpusim.support.document import Document, MachineKey, Settings, doc
from gpusim.support.plural import plural
from gpusim.support.processes import cores
from isa.errors import UserError
from workloads.catalog import make
from workloads.measured.probes import EXPERIMENTS, Probe, probe

LEGEND = (
    "input: itself a number of the machine file; fitted: a number of the file was fitted to it; predicted: neither.",
    "conf.: H primary source, M secondary, L single weak one, R recalled, D derived, G guess.",
)
MEASURED_LEGEND = "fitted: rows that parameters may have been fitted to; predicted: rows held out by their hash."
UNITS = {"cycles per instruction": "cycles", "thread instructions per cycle": "per cycle", "bytes per cycle": "bytes"}


@dataclass(frozen=True)
class Figure:
    """A published figure beside the simulated one, both in the unit of `quantity`; `error`: simulated/published - 1."""

    id: str
    what: str
    quantity: Quantity
    published: float
    simulated: float
    error: float
    kind: Kind
    confidence: str
    source: str
    note: str


class ValidateDocument(Document, frozen=True, tag=2):
    """Published figures of a machine beside simulated ones."""

    machine: MachineKey
    set: Settings
    points: Annotated[list[Figure], doc("The figures.")]
    summary: Annotated[dict[str, Errors], doc("Errors by kind: input, fitted or predicted.")]


@dataclass(frozen=True)
class Place:
    """A row of a measured file: its line, and the stream that it measures."""

    line: int
    experiment: str
    op: str
    param: str
    warps: int
    ilp: int


@dataclass(frozen=True)
class MeasuredFigure(Place):
    """A row of a measured file beside its simulated stream, in shader cycles; `error`: simulated/measured - 1."""

    measured: float
    simulated: float
    error: float
    kind: str


@dataclass(frozen=True)
class Without(Place):
    """A row of a measured file that is not compared, and why."""

    reason: str


class ValidateMeasuredDocument(Document, frozen=True, tag=2):
    """Rows of a measured file beside their simulated streams."""

    machine: MachineKey
    set: Settings
    measured: Annotated[str, doc("Path of the file.")]
    points: Annotated[list[MeasuredFigure], doc("The rows that are compared, in the order of the file.")]
    summary: Annotated[Mapping[str, Errors], doc("Errors by experiment, without rows that are input.")]
    kinds: Annotated[Mapping[str, Errors], doc("Errors by kind: input, fitted or predicted.")]
    unmodelled: Annotated[int, doc("Rows that are not compared.")]
    without: Annotated[list[Without], doc("These rows.")]


def validate(
    machine: Annotated[str, typer.Argument(help="A machine's name.", autocompletion=machines_from)],
    *,
    measured: Annotated[
        Path | None, typer.Option("--measured", metavar="FILE.csv", help="Compare the rows of a measured file instead.")
    ] = None,
    kernels: Annotated[
        bool, typer.Option("--kernels", help="Compare whole kernels that were timed and profiled instead.")
    ] = False,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="NAME", help="A kernel, sgemm* for several, or a configuration; repeatable."),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE.svg", help="Also draw the kernels' cycles and stall reasons.")
    ] = None,
    page: Annotated[
        Path | None, typer.Option("--markdown", metavar="FILE", help="Also write the kernels' tables as a page.")
    ] = None,
    setting: Overrides = None,
    json: Json = False,
) -> None:
    """Run the microbenchmarks of a machine's published figures, and show published, simulated, error and kind.

    With --measured, show each row of a measured file beside its simulated stream, and errors by experiment. With
    --kernels, simulate 21 compiled kernels in the configurations solo, persm, resident and full (some two minutes), and
    show cycles, stall reasons and counts beside those of the chip; --only saxpy --only solo takes a part.

    Example: gpusim validate gtx580
    """
    if kernels:
        if measured:
            raise UserError(f"--measured {measured}: leave out --kernels, or compare the rows alone")
        validate_kernels(machine, setting or (), Wanted(only or (), plot, page), json=json)
        return
    for option, value in (("--only", only), ("--plot", plot), ("--markdown", page)):
        if value:
            raise UserError(f"{option}: belongs to --kernels; give both")
    where = machine_of(machine, setting or (), None)
    if measured:
        _measured(where, measured, setting or (), json=json)
        return
    points = published_points(where)
    begin_compiling("compiled")
    found: list[Outcome] = []
    with shown(f"validate {where.key}") as tell:
        for outcome in outcomes(points, where, make):
            found.append(outcome)
            tell(len(found), len(points))
    settings = changes(where, setting or ())
    if json:
        write_json(ValidateDocument(where.key, settings, [_figure(o) for o in found], summary(found)))
    else:
        show(f"{where.name}: published figures and simulated ones", _table(found), *_totals(found))


def _probe(row: rows.MeasuredRow) -> Probe | None:
    return probe(row.experiment, row.op, row.param, row.warps, row.ilp, row.counts)


def _measured(machine: Machine, path: Path, setting: Sequence[str], *, json: bool) -> None:
    """Simulate the rows of a measured file and print them in its order."""
    found = _simulated(machine, rows.read(path, EXPERIMENTS))
    if all(outcome.simulated is None for outcome in found):
        raise UserError(f"{path}: nothing to compare, as no row has a stream ({_without(found)[0]}); take other rows")
    scored = rows.summary([o for o in found if o.row.kind != "input"], lambda row: row.experiment)
    kinds = rows.summary(found, lambda row: row.kind)
    if json:
        without = [Without(*_place(o.row), str(o.reason)) for o in found if o.simulated is None]
        points = [_point(o, o.simulated) for o in found if o.simulated is not None]
        head = machine.key, changes(machine, setting), str(path)
        write_json(ValidateMeasuredDocument(*head, points, scored, kinds, len(without), without))
    else:
        tables = _measured_table(found), _summary_table(scored)
        show(f"{machine.name}: {path}", *tables, *_kinds(kinds), MEASURED_LEGEND, *_without(found))


def _simulated(machine: Machine, given: Sequence[rows.MeasuredRow]) -> list[rows.Outcome]:
    """Simulate the rows, over all cores, and return their outcomes in the order of the file."""
    begin_compiling("compiled")
    found: list[rows.Outcome] = []
    with shown(f"validate {machine.key}", "row") as tell:
        for outcome in rows.outcomes(given, machine, _probe, cores()):
            found.append(outcome)
            tell(len(found), len(given))
    return sorted(found, key=lambda outcome: outcome.row.line)


def _place(row: rows.MeasuredRow) -> tuple[int, str, str, str, int, int]:
    return row.line, row.experiment, row.op, row.param, row.warps, row.ilp


def _point(outcome: rows.Outcome, simulated: float) -> MeasuredFigure:
    row = outcome.row
    return MeasuredFigure(*_place(row), row.cycles, simulated, outcome.error, row.kind)


def _measured_table(found: Sequence[rows.Outcome]) -> Table:
    table = new_table("line", "experiment", "op", "param", *right("W", "ILP", "measured", "simulated", "error"), "kind")
    for outcome in found:
        row = outcome.row
        if outcome.simulated is not None:
            cells = str(row.line), row.experiment, row.op, row.param, str(row.warps), str(row.ilp)
            figures = f"{row.cycles:g}", f"{outcome.simulated:g}", f"{100 * outcome.error:+.1f} %"
            table.add_row(*cells, *figures, row.kind)
    return table


def _summary_table(lines: Mapping[str, Errors]) -> Table:
    table = new_table("experiment", *right("rows", "median error", "95th percentile"))
    for name, line in lines.items():
        table.add_row(
            name, f"{line['n']}", *(f"{100 * each:.2f} %" for each in (line["median_error"], line["p95_error"]))
        )
    return table


def _without(found: Sequence[rows.Outcome]) -> list[str]:
    missing = [outcome for outcome in found if outcome.simulated is None]
    by_reason: dict[str, list[rows.MeasuredRow]] = {}
    for outcome in missing:
        by_reason.setdefault(str(outcome.reason), []).append(outcome.row)
    lines = [f"{_which(without)}: {reason}" for reason, without in by_reason.items()]
    return [*lines, f"not compared: {plural(len(missing), 'row')} of {len(found)}"]


def _which(without: Sequence[rows.MeasuredRow]) -> str:
    """Name the first of some rows, and say how many more there are."""
    first, more = without[0], len(without) - 1
    name = f"line {first.line}: {first.experiment} {first.op} {first.param} W{first.warps}"
    return f"{name} and {plural(more, 'more row')}" if more else name


def _figure(outcome: Outcome) -> Figure:
    point = outcome.point
    return Figure(
        id=point.id,
        what=point.what,
        quantity=point.quantity,
        published=point.value,
        simulated=outcome.simulated,
        error=outcome.error,
        kind=point.kind,
        confidence=point.confidence,
        source=point.source,
        note=point.note,
    )


def _table(found: Sequence[Outcome]) -> Table:
    numbers = right("published", "simulated", "error")
    table = new_table("figure", *numbers, "unit", "kind", "conf.", "source; note", tight=True)
    for outcome in found:
        point = outcome.point
        figures = f"{point.value:g}", f"{outcome.simulated:.2f}", f"{100 * outcome.error:+.1f} %"
        source = "; ".join(part for part in (point.source, point.note) if part)
        table.add_row(point.what, *figures, UNITS[point.quantity], point.kind, point.confidence, source)
    return table


def _totals(found: Sequence[Outcome]) -> list[str]:
    return [*_kinds(summary(found)), *LEGEND]


def _kinds(lines: Mapping[str, Errors]) -> list[str]:
    return [
        f"{kind}: {line['n']}, median error {100 * line['median_error']:.1f} %, 95th percentile "
        f"{100 * line['p95_error']:.1f} %"
        for kind, line in lines.items()
    ]
