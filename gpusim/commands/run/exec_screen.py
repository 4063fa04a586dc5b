"""The output of `gpusim exec`: what the card did for a program, kernel by kernel or launch by launch."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import Annotated

from rich.console import RenderableType
from rich.table import Column, Table

from gpusim.analysis.account.figures import Figures
from gpusim.analysis.account.findings.finding import Finding
from gpusim.commands.frame.document import new_table, right
from gpusim.programs.card.clock import KERNELS, Clock, Span
from gpusim.programs.card.launches import Row
from gpusim.programs.program import Executed
from gpusim.support.document import Document, Extent, MachineKey, Setting, Settings, doc
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
    figures: Annotated[Figures | None, doc("Of the first of alike launches; null for others.")]
    findings: Sequence[Finding]


@dataclass(frozen=True)
class OnMachine:
    """What one machine did for the program."""

    machine: MachineKey
    exit_code: Annotated[int, doc("The program's; 128 and more: a signal ended it.")]
    kernel_milliseconds: Annotated[float, doc("Sum of the times of all launches.")]
    card_milliseconds: Annotated[float, doc("From the program's begin to its end, without what the host computes.")]
    copied_bytes: Annotated[int, doc("Of all copies.")]
    launches: Sequence[LaunchOf]
    timeline: Annotated[Sequence[Span], doc("What each part of the card did, in microseconds.")]


class ExecDocument(Document, frozen=True, kw_only=True):
    """A program that ran on simulated cards."""

    program: Annotated[str, doc("The file that was run.")]
    arguments: Annotated[Sequence[str], doc("The program's own.")]
    settings: Settings
    machines: Annotated[Sequence[OnMachine], doc("In the order in which they were asked for.")]


@dataclass(frozen=True)
class Form:
    """Launches of one kernel with one grid and block."""

    rows: Sequence[Row]

    @property
    def milliseconds(self) -> float:
        """Their time."""
        return sum(one.milliseconds or 0.0 for one in self.rows)


def document(
    every: Sequence[Executed], program: str, arguments: Sequence[str], settings: Mapping[str, Setting]
) -> ExecDocument:
    """Return what each machine did, for programs."""
    return ExecDocument(
        program=program, arguments=arguments, settings=settings, machines=[_on_machine(one) for one in every]
    )


def _on_machine(ran: Executed) -> OnMachine:
    rows, clock = ran.session.runner.rows, ran.session.clock
    whole = _whole(rows)
    return OnMachine(
        machine=ran.session.machine.key,
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


def screen(every: Sequence[Executed], *, each: bool) -> Iterator[RenderableType]:
    """Yield what people see: a table of kernels, or of `each` launch, what took the card's time, other machines."""
    ran = every[0]
    rows, machine = ran.session.runner.rows, ran.session.machine.key
    if not rows:
        yield f"gpusim exec: no kernel was launched on {machine}"
        return
    yield ""
    yield _launches(rows, _whole(rows)) if each else _kernels(rows, _whole(rows))
    yield ""
    yield from sums(ran, machine)
    for why in dict.fromkeys(one.why for one in rows if one.why):
        yield f"no time: {why}"
    if len(every) > 1:
        yield ""
        yield _machines(every)


def _machines(every: Sequence[Executed]) -> Table:
    """Return the microseconds of each kernel on each machine."""
    found = [{_form(form): MILLI * form.milliseconds for form in forms(one.session.runner.rows)} for one in every]
    keys = [one.session.machine.key for one in every]
    table = new_table(Column("µs", overflow="fold"), *right(*keys))
    for (kernel, grid, block), took in found[0].items():
        others = [f"{one[kernel, grid, block]:,.2f}" if (kernel, grid, block) in one else NO_TIME for one in found[1:]]
        table.add_row(f"{kernel} {_size(grid)} x {_size(block)}", f"{took:,.2f}", *others)
    table.add_row("all", *(f"{MILLI * _whole(one.session.runner.rows):,.2f}" for one in every))
    return table


def _form(form: Form) -> tuple[str, Extent, Extent]:
    first = form.rows[0]
    return first.kernel, first.shape.grid, first.shape.block


def _whole(rows: Sequence[Row]) -> float:
    """Return the time of all launches in milliseconds."""
    return sum(one.milliseconds or 0.0 for one in rows)


def _kernels(rows: Sequence[Row], whole: float) -> Table:
    table = _table("kernel", "launches", "grid", "block", "µs each", "µs", "%", "limiter")
    for form in forms(rows):
        table.add_row(*kernel_cells(form, whole))
    return table


def forms(rows: Sequence[Row]) -> list[Form]:
    """Return the launches by kernel, grid and block, those that take most time first."""
    found = dict[tuple[object, ...], list[Row]]()
    for one in rows:
        found.setdefault((one.kernel, one.shape.grid, one.shape.block), []).append(one)
    return sorted(map(Form, found.values()), key=lambda form: -form.milliseconds)


def kernel_cells(form: Form, whole: float) -> list[str]:
    """Return the cells of a row: kernel, launches, grid, block, microseconds of one and of all, percent, limiter."""
    first, times = form.rows[0], [one.milliseconds for one in form.rows if one.milliseconds is not None]
    head = [first.kernel, f"{len(form.rows):,}", _size(first.shape.grid), _size(first.shape.block)]
    if not times:
        return [*head, NO_TIME, NO_TIME, NO_TIME, limit(first)]
    each, total = MILLI * form.milliseconds / len(times), MILLI * form.milliseconds
    return [*head, f"{each:,.2f}", f"{total:,.2f}", f"{_percent(form.milliseconds, whole):.1f}", limit(first)]


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


def sums(ran: Executed, machine: str) -> Iterator[str]:
    """Yield the time of kernels, of the whole program on the card, and of copies, a line each."""
    session = ran.session
    rows, clock = session.runner.rows, session.clock
    whole = _whole(rows)
    simulated = sum(one.same_as is None and one.milliseconds is not None for one in rows)
    told = f"{plural(len(rows), 'launch', 'es')} on {machine}"
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
    whole = _whole(rows)
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
