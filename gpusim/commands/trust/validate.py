"""`gpusim validate`: published or measured figures beside simulated ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from rich.table import Table
from typer import Option

from gpusim.analysis.validate import measured as rows
from gpusim.analysis.validate.errors import Errors
from gpusim.analysis.validate.validation import Kind, Outcome, Quantity, outcomes, published_points, summary
from gpusim.commands.frame.arguments import changes, machine_of, refuse
from gpusim.commands.frame.command import Answer
from gpusim.commands.frame.document import new_table, right
from gpusim.commands.frame.options import MachineArgument, Overrides, written
from gpusim.commands.frame.progress import begin_compiling, told
from gpusim.commands.trust.validate_kernels import Wanted, validate_kernels
from gpusim.machine.machine import Machine
from gpusim.support.document import Document, MachineKey, Settings, doc
from gpusim.support.parallel.processes import cores
from gpusim.support.plural import plural
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
    machine: MachineArgument,
    *,
    measured: Annotated[
        Path | None, written("--measured", "Compare the rows of a measured file instead.", "FILE.csv")
    ] = None,
    kernels: Annotated[
        bool, Option("--kernels", help="Compare whole kernels that were timed and profiled instead.")
    ] = False,
    wanted: Wanted,
    setting: Overrides = (),
) -> Answer:
    """Run the microbenchmarks of a machine's published figures, and show published, simulated, error and kind.

    With --measured, show each row of a measured file beside its simulated stream, and errors by experiment. With
    --kernels, simulate 21 compiled kernels in the configurations solo, persm, resident and full (some two minutes), and
    show cycles, stall reasons and counts beside those of the chip; --only saxpy --only solo takes a part.

    Example: gpusim validate gtx580
    """
    if kernels:
        refuse({"--measured": measured}, "leave out --kernels, or compare the rows alone")
        return validate_kernels(machine, setting, wanted)
    for option, value in (("--only", wanted.only), ("--plot", wanted.plot), ("--markdown", wanted.page)):
        if value:
            raise UserError(f"{option}: belongs to --kernels; give both")
    where = machine_of(machine, setting, None)
    if measured:
        return _measured(where, measured, setting)
    points = published_points(where)
    begin_compiling()
    found = told(f"validate {where.key}", outcomes(points, where, make), len(points))
    figures, errors = [_figure(one) for one in found], summary(found)
    screen = f"{where.name}: published figures and simulated ones", _table(found), *_kinds(errors), *LEGEND
    return Answer(ValidateDocument(where.key, changes(where, setting), figures, errors), screen)


def _probe(row: rows.MeasuredRow) -> Probe | None:
    return probe(row.experiment, row.op, row.param, row.warps, row.ilp, row.counts)


def _measured(machine: Machine, path: Path, setting: Sequence[str]) -> Answer:
    """Simulate the rows of a measured file, over all cores, and print them in its order."""
    given = rows.read(path, EXPERIMENTS)
    begin_compiling()
    simulated = rows.outcomes(given, machine, _probe, cores())
    found = sorted(told(f"validate {machine.key}", simulated, len(given), "row"), key=lambda outcome: outcome.row.line)
    if all(outcome.simulated is None for outcome in found):
        raise UserError(f"{path}: nothing to compare, as no row has a stream ({_without(found)[0]}); take other rows")
    scored = rows.summary([o for o in found if o.row.kind != "input"], lambda row: row.experiment)
    kinds = rows.summary(found, lambda row: row.kind)
    without = [Without(*_place(o.row), str(o.reason)) for o in found if o.simulated is None]
    points = [_point(o, o.simulated) for o in found if o.simulated is not None]
    head = machine.key, changes(machine, setting), str(path)
    document = ValidateMeasuredDocument(*head, points, scored, kinds, len(without), without)
    tables = _measured_table(points), _summary_table(scored)
    return Answer(document, [f"{machine.name}: {path}", *tables, *_kinds(kinds), MEASURED_LEGEND, *_without(found)])


def _place(row: rows.MeasuredRow) -> tuple[int, str, str, str, int, int]:
    return row.line, row.experiment, row.op, row.param, row.warps, row.ilp


def _point(outcome: rows.Outcome, simulated: float) -> MeasuredFigure:
    row = outcome.row
    return MeasuredFigure(*_place(row), row.cycles, simulated, outcome.error, row.kind)


def _measured_table(points: Sequence[MeasuredFigure]) -> Table:
    numbers = right("W", "ILP", "measured", "simulated", "error")
    cells = [
        (*(x.line, x.experiment, x.op, x.param, x.warps, x.ilp), *_figures(x.measured, f"{x.simulated:g}", x), x.kind)
        for x in points
    ]
    return new_table("line", "experiment", "op", "param", *numbers, "kind", rows=cells)


def _figures(truth: float, simulated: str, found: MeasuredFigure | Outcome) -> tuple[str, str, str]:
    return f"{truth:g}", simulated, f"{100 * found.error:+.1f} %"


def _summary_table(lines: Mapping[str, Errors]) -> Table:
    cells = [
        (x, one["n"], f"{100 * one['median_error']:.2f} %", f"{100 * one['p95_error']:.2f} %")
        for x, one in lines.items()
    ]
    return new_table("experiment", *right("rows", "median error", "95th percentile"), rows=cells)


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
    point, simulated, error = outcome.point, outcome.simulated, outcome.error
    of_point = {
        name: getattr(point, name) for name in ("id", "what", "quantity", "kind", "confidence", "source", "note")
    }
    return Figure(published=point.value, simulated=simulated, error=error, **of_point)


def _table(found: Sequence[Outcome]) -> Table:
    cells = [
        (
            one.point.what,
            *_figures(one.point.value, f"{one.simulated:.2f}", one),
            *(UNITS[one.point.quantity], one.point.kind, one.point.confidence),
            "; ".join(part for part in (one.point.source, one.point.note) if part),
        )
        for one in found
    ]
    numbers = right("published", "simulated", "error")
    return new_table("figure", *numbers, "unit", "kind", "conf.", "source; note", rows=cells, tight=True)


def _kinds(lines: Mapping[str, Errors]) -> list[str]:
    return [
        f"{kind}: {line['n']}, median error {100 * line['median_error']:.1f} %, 95th percentile "
        f"{100 * line['p95_error']:.1f} %"
        for kind, line in lines.items()
    ]
