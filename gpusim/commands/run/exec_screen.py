"""The output of `gpusim exec`: what the card did for a program, kernel by kernel or launch by launch."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from math import prod
from typing import Annotated

from rich.console import RenderableType
from rich.table import Column, Table

from gpusim.analysis.account.figures import Figures
from gpusim.analysis.account.findings.finding import Finding
from gpusim.commands.frame.document import new_table
from gpusim.programs.clock import KERNELS, Clock, Span
from gpusim.programs.launches import Row
from gpusim.programs.program import Executed
from gpusim.support.document import Document, Extent, MachineKey, Settings, doc
from gpusim.support.plural import plural

NO_TIME, MILLI = "", 1e3
COLUMNS = (
    "number",
    "kernel",
    "grid",
    "block",
    "dynamic_shared",
    "stream",
    "microseconds",
    "percent",
    "limiter",
    "same_as",
)


class LaunchOf(Document, frozen=True):
    """One launch of a program."""

    number: Annotated[int, doc("From 1 on, in the order of the program.")]
    kernel: Annotated[str, doc("The kernel's plain name.")]
    grid: Extent
    block: Extent
    dynamic_shared: Annotated[int, doc("Bytes of shared memory that the launch asks for.")]
    stream: Annotated[int, doc("0: the default stream.")]
    milliseconds: Annotated[float | None, doc("Simulated time; null without.")]
    percent: Annotated[float | None, doc("Of the time of all kernels.")]
    why: Annotated[str, doc("Why there is no time; empty if there is.")]
    same_as: Annotated[int | None, doc("The launch whose time it has; null if it was simulated.")]
    figures: Figures | None
    findings: Sequence[Finding]


class ExecDocument(Document, frozen=True, kw_only=True):
    """A program that ran on a card that is not there."""

    program: str
    arguments: Sequence[str]
    machine: MachineKey
    settings: Settings
    exit_code: Annotated[int, doc("The program's; 128 and more: a signal ended it.")]
    kernel_milliseconds: Annotated[float, doc("Sum of the times of all launches.")]
    card_milliseconds: Annotated[
        float, doc("From the program's begin to its end, without the time that the host needs.")
    ]
    copied_bytes: int
    launches: Sequence[LaunchOf]
    timeline: Annotated[Sequence[Span], doc("What each part of the card did, in microseconds.")]


@dataclass(frozen=True)
class Form:
    """Launches of one kernel with one grid and block."""

    rows: Sequence[Row]

    @property
    def milliseconds(self) -> float:
        """Their time."""
        return sum(one.milliseconds or 0.0 for one in self.rows)


def document(ran: Executed, program: str, arguments: Sequence[str], machine: str, settings: Settings) -> ExecDocument:
    """Return what the card did, for programs."""
    rows, clock = ran.session.runner.rows, ran.session.clock
    whole = sum(one.milliseconds or 0.0 for one in rows)
    return ExecDocument(
        program=program,
        arguments=arguments,
        machine=machine,
        settings=settings,
        exit_code=ran.code,
        kernel_milliseconds=whole,
        card_milliseconds=clock.host / MILLI,
        copied_bytes=ran.session.copied,
        launches=[_launch(one, whole) for one in rows],
        timeline=clock.spans,
    )


def _launch(row: Row, whole: float) -> LaunchOf:
    return LaunchOf(
        number=row.number,
        kernel=row.kernel,
        grid=row.shape.grid,
        block=row.shape.block,
        dynamic_shared=row.shape.dynamic,
        stream=row.shape.stream,
        milliseconds=row.milliseconds,
        percent=None if row.milliseconds is None else _percent(row.milliseconds, whole),
        why=row.why,
        same_as=row.same_as,
        figures=row.figures,
        findings=row.findings,
    )


def screen(ran: Executed, machine: str, *, each: bool) -> Iterator[RenderableType]:
    """Yield what people see: a table of kernels, or of `each` launch, then what took the card's time."""
    rows = ran.session.runner.rows
    if not rows:
        yield f"gpusim exec: no kernel was launched on {machine}"
        return
    whole = sum(one.milliseconds or 0.0 for one in rows)
    yield ""
    yield _launches(rows, whole) if each else _kernels(rows, whole)
    yield ""
    yield from _sums(ran, machine, whole)
    for why in dict.fromkeys(one.why for one in rows if one.why):
        yield f"no time: {why}"


def _kernels(rows: Sequence[Row], whole: float) -> Table:
    forms = dict[tuple[object, ...], list[Row]]()
    for one in rows:
        forms.setdefault((one.kernel, one.shape.grid, one.shape.block), []).append(one)
    ranked = sorted(map(Form, forms.values()), key=lambda form: -form.milliseconds)
    table = _table("kernel", "launches", "grid", "block", "µs each", "µs", "%", "limiter")
    for form in ranked:
        first, count = form.rows[0], len(form.rows)
        timed = [one.milliseconds for one in form.rows if one.milliseconds is not None]
        each = f"{MILLI * form.milliseconds / len(timed):,.2f}" if timed else NO_TIME
        total = f"{MILLI * form.milliseconds:,.2f}" if timed else NO_TIME
        share = f"{_percent(form.milliseconds, whole):.1f}" if timed else NO_TIME
        table.add_row(
            first.kernel,
            f"{count:,}",
            _size(first.shape.grid),
            _size(first.shape.block),
            each,
            total,
            share,
            limit(first),
        )
    return table


def _launches(rows: Sequence[Row], whole: float) -> Table:
    table = _table("launch", "kernel", "grid", "block", "µs", "%", "limiter")
    for one in rows:
        took = NO_TIME if one.milliseconds is None else f"{MILLI * one.milliseconds:,.2f}"
        share = NO_TIME if one.milliseconds is None else f"{_percent(one.milliseconds, whole):.1f}"
        table.add_row(
            f"{one.number}", one.kernel, _size(one.shape.grid), _size(one.shape.block), took, share, limit(one)
        )
    return table


def _table(*names: str) -> Table:
    text = {"kernel", "limiter"}
    return new_table(*(Column(name, justify="left" if name in text else "right", overflow="fold") for name in names))


def _sums(ran: Executed, machine: str, whole: float) -> Iterator[str]:
    session = ran.session
    rows, clock = session.runner.rows, session.clock
    simulated = sum(one.same_as is None and one.milliseconds is not None for one in rows)
    told = f"{plural(len(rows), 'launch', 'launches')} on {machine}"
    if not session.runner.how.timed:
        yield f"{told}: values only"
        return
    yield f"{told}: kernels {MILLI * whole:,.1f} µs ({simulated:,} simulated), card {clock.host:,.1f} µs"
    for part, took, nbytes in _copies(clock):
        yield f"{part}: {nbytes:,} bytes in {took:,.1f} µs"


def _copies(clock: Clock) -> Iterator[tuple[str, float, int]]:
    """Yield the time and bytes of each kind of copies."""
    for part in dict.fromkeys(one.part for one in clock.spans if one.part != KERNELS):
        own = [one for one in clock.spans if one.part == part]
        yield part, sum(one.took for one in own), sum(one.nbytes for one in own)


def limit(row: Row) -> str:
    """Return what limits a launch in a word or two."""
    return row.findings[0].limit if row.findings else row.figures.bound_limiter if row.figures else ""


def comma_separated(rows: Sequence[Row]) -> str:
    """Return a line for each launch, behind one with the names of columns."""
    whole = sum(one.milliseconds or 0.0 for one in rows)
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for one in rows:
        took, shape = one.milliseconds, one.shape
        times = ("", "") if took is None else (f"{MILLI * took:.3f}", f"{_percent(took, whole):.2f}")
        sizes = _size(shape.grid), _size(shape.block), shape.dynamic, shape.stream
        writer.writerow((one.number, one.kernel, *sizes, *times, limit(one), one.same_as or ""))
    return text.getvalue()


def _size(extent: Extent) -> str:
    x, y, z = extent
    return f"{x}x{y}x{z}" if z > 1 else f"{x}x{y}" if y > 1 else f"{x}"


def _percent(part: float, whole: float) -> float:
    return 100 * part / whole if whole else 0.0


def threads(row: Row) -> int:
    """Return the threads of a launch."""
    return prod(row.shape.grid) * prod(row.shape.block)
