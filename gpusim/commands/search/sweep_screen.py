"""The output of `gpusim sweep`: the fastest points, the Pareto front, and the points without figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

from rich.console import RenderableType
from rich.table import Column, Table

from gpusim.analysis.account.figures import Figures, estimates
from gpusim.analysis.search.sweep import Axis, SweepRow
from gpusim.analysis.search.sweep_table import Cell, Cells, cells, column_of, front, with_nulls
from gpusim.commands.frame.document import new_table, right
from gpusim.support.document import KernelKey, MachineKey, OfSettings, doc
from gpusim.support.plural import plural
from isa.errors import UserError


@dataclass(frozen=True)
class Swept:
    """A kernel and a machine by name, the axes, the rows in the order of the points, and how many were on file.

    `compared` are the columns of the Pareto front, none if it is not asked for.
    """

    kernel: str
    machine: str
    axes: Sequence[Axis]
    rows: Sequence[SweepRow]
    known: int
    compared: Sequence[str] = ()

    @cached_property
    def table(self) -> list[Cells]:
        """The rows by column."""
        return [cells(each) for each in self.rows]

    @cached_property
    def front(self) -> list[Cells]:
        """The rows of the Pareto front, in the order of the first column."""
        return front(self.table, self.compared) if self.compared else []

    @property
    def simulated(self) -> list[tuple[Figures, SweepRow]]:
        """The rows with figures, fastest first: by rate, or by time where the kernel counts no operations."""
        rows = [(each.figures, each) for each in self.rows if each.figures]
        return sorted(rows, key=lambda each: (-(each[0].gflops or 0.0), each[0].milliseconds))

    @property
    def rated(self) -> bool:
        """Whether the kernel counts operations in any row."""
        return any(each.figures and each.figures.gflops for each in self.rows)

    @property
    def reasons(self) -> Counter[str]:
        """The reasons why rows have no figures, and how many rows have each."""
        return Counter(each.reason for each in self.rows if each.reason)


@dataclass(frozen=True)
class Pareto:
    """The points that no other beats in every one of these columns, by column."""

    columns: Sequence[str]
    rows: list[Cells]


class SweepDocument(OfSettings, frozen=True, tag=2):
    """A kernel at every point of a product of parameters and numbers of a machine."""

    kernel: KernelKey
    machine: MachineKey
    axes: Annotated[Sequence[Axis], doc("The parameters and settings that vary.")]
    points: Annotated[int, doc("Number of points.")]
    known: Annotated[int, doc("Those of them that were on file.")]
    simulated: Annotated[int, doc("Those of them that could be simulated.")]
    rows: Annotated[
        list[Mapping[str, Cell | None]],
        doc(
            "Each point by column: set.PATH and p.NAME, then the fields of the figures, by stall reason or limit as "
            "lost.REASON, stalls.REASON and limits.NAME; or the `reason` why there are none."
        ),
    ]
    pareto: Annotated[Pareto | None, doc("Null if it was not asked for.")]


def screen(swept: Swept, top: int) -> Iterator[RenderableType]:
    """Yield the parts of a screen, with so many of the fastest points."""
    simulated = swept.simulated
    on_file = f", {swept.known:,} of them on file" if swept.known else ""
    yield f"{swept.kernel} on {swept.machine}: {plural(len(swept.rows), 'point')}{on_file}"
    for axis in swept.axes:
        yield f"  {axis.name}: {' '.join(axis.values)}"
    if simulated:
        yield ""
        yield _fastest(swept, top)
    if swept.front:
        yield f"\nPareto front of {' and '.join(swept.compared)}: {plural(len(swept.front), 'point')}"
        yield _front(swept)
    elif swept.compared and simulated:
        absent = " and ".join(name for name in swept.compared if not any(name in row for row in swept.table))
        yield f"\nPareto front of {' and '.join(swept.compared)}: no point has {absent}"
    yield f"\nsimulated: {len(simulated):,} of {plural(len(swept.rows), 'point')}"
    yield from estimates([found for found, _ in simulated], "point")
    for reason, count in swept.reasons.most_common():
        yield f"not simulated: {plural(count, 'point')}: {reason}"


def document(swept: Swept) -> SweepDocument:
    """Return all rows, by column, and the Pareto front as a document."""
    return SweepDocument(
        kernel=swept.kernel,
        machine=swept.machine,
        axes=swept.axes,
        points=len(swept.rows),
        known=swept.known,
        simulated=len(swept.simulated),
        rows=[with_nulls(each) for each in swept.rows],
        pareto=Pareto(swept.compared, swept.front) if swept.compared else None,
    )


def plotted(swept: Swept) -> tuple[str, list[Cells], str, str, list[Cells]]:
    """Return the content of a picture: title, rows, the columns of x and y, and the Pareto front, which may be empty.

    Without a front it shows the speed over the first axis that varies.
    """
    title = f"{swept.kernel} on {swept.machine}"
    if swept.compared:
        return title, swept.table, swept.compared[0], swept.compared[1], swept.front
    speed = "gflops" if swept.rated else "milliseconds"
    return title, swept.table, column_of(first_varied(swept.axes)), speed, []


def first_varied(axes: Sequence[Axis]) -> Axis:
    """Return the first axis of several values, which a picture is drawn over; raises UserError where there is none."""
    for axis in axes:
        if len(axis.values) > 1:
            return axis
    raise UserError("--plot: there is one point only; give an axis of several values")


def _fastest(swept: Swept, top: int) -> Table:
    rates, (columns, names) = _rates(swept), _varied(swept)
    rows = []
    for found, each in swept.simulated[:top]:
        speed = [_rate(getattr(found, field), style) for field, style in rates.values()]
        time = f"{found.cycles:,}", f"{found.cycles / found.bound_cycles:.2f}" if found.bound_cycles else ""
        point = cells(each)
        rows.append((*speed, *time, found.warps, next(iter(found.lost), "-"), *(point[name] for name in names)))
    heads = right(*rates, "cycles", "of bound", "warps/SM")
    return new_table(*heads, "most slots lost to", *columns, rows=rows, tight=True)


def _rates(swept: Swept) -> dict[str, tuple[str, str]]:
    """Return the columns of speed: the field and its style by head; of bytes where nothing counts operations."""
    if swept.rated:
        return {"GFLOP/s": ("gflops", "{:.1f}"), "of peak": ("percent_of_peak", "{:.1f} %")}
    found = {"ms": ("milliseconds", "{:.4g}")}
    known = [level for level in ("dram", "l2") if any(getattr(one, f"{level}_gbs") for one, _ in swept.simulated)]
    for level in known[:1]:
        found[f"{level.upper()} GB/s"] = f"{level}_gbs", "{:.4g}"
        found["of peak"] = f"percent_of_{level}", "{:.1f} %"
    return found


def _rate(value: float | None, style: str) -> str:
    return "-" if value is None else style.format(value)


def _front(swept: Swept) -> Table:
    columns, names = _varied(swept)
    rows = [(*(_shown(row[x]) for x in swept.compared), *(row[name] for name in names)) for row in swept.front]
    return new_table(*right(*swept.compared), *columns, rows=rows, tight=True)


def _shown(cell: Cell) -> str:
    if not isinstance(cell, float):
        return str(cell)
    return f"{cell:,.1f}" if abs(cell) >= 1000 else f"{cell:.4g}"


def _varied(swept: Swept) -> tuple[list[Column], list[str]]:
    """Return a column for each axis that varies, headed by the end of its name, and their names in rows."""
    varied = [axis for axis in swept.axes if len(axis.values) > 1]
    ends = Counter(axis.name.rpartition(".")[2] for axis in varied)
    heads = [end if ends[end := axis.name.rpartition(".")[2]] == 1 else axis.name for axis in varied]
    return [Column(head, justify="right", overflow="fold") for head in heads], [column_of(axis) for axis in varied]
