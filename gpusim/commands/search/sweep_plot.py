"""A sweep as a picture: one column over another, a line for each choice of the other axes, and the Pareto front.

Lines that coincide are one, and the picture says where an axis begins, as pages do (gpusim/views/charts/curves.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gpusim.analysis.search.sweep_table import PREFIX, Cell, Cells
from gpusim.support import whole_file
from gpusim.views.charts.axis import short, with_room
from gpusim.views.charts.curves import Curve, Frame, plot
from isa.errors import UserError
from isa.reading import extra

WIDTH = 600  # pixels of the plot, for marks that stand clear of each other
LINES = 10  # lines that a picture can show; more choices of the other axes are drawn as points
FORMATS = ("png", "svg", "pdf")


def check(path: Path) -> None:
    """Raise UserError where no picture of this name can be written, or matplotlib is missing."""
    if path.suffix[1:].lower() not in FORMATS:
        raise UserError(f"{path}: is no picture; let it end in {', '.join(f'.{name}' for name in FORMATS)}")
    whole_file.check(path)
    extra.module("matplotlib", "plot")


def write(path: Path, title: str, table: Sequence[Cells], x: str, y: str, front: Sequence[Cells]) -> None:
    """Write a picture of column y over column x, with the Pareto front as a line if there is one; raises as `check`."""
    check(path)
    extra.module("matplotlib", "plot").use("Agg")
    pyplot = extra.module("matplotlib.pyplot", "plot")
    figure, axes = pyplot.subplots(figsize=(8, 5), layout="constrained")
    shown = [row for row in table if x in row and y in row]
    notes = _draw(axes, shown, x, y, lines=not front)
    if front:
        axes.step([row[x] for row in front], [row[y] for row in front], "k-", where="post", label="Pareto front")
    if axes.get_legend_handles_labels()[1]:
        figure.legend(loc="outside lower center", fontsize="small")
    axes.set(title=title, xlabel="\n".join([label_of(x), *notes]), ylabel=label_of(y))
    axes.grid(alpha=0.3)
    with whole_file.unfinished(path) as part:
        pyplot.savefig(part, format=path.suffix[1:].lower(), dpi=120)
    pyplot.close(figure)


def _draw(axes: Any, shown: Sequence[Cells], x: str, y: str, lines: bool) -> Sequence[str]:
    """Draw points, or a line for each choice of the other axes, and return what there is to say of them."""
    groups = by_others(shown, x)
    if not shown or not lines or len(groups) > LINES:
        axes.plot([row[x] for row in shown], [row[y] for row in shown], "o")
        return []
    found = plot([curve(name, rows, x, y) for name, rows in groups.items()], label_of(x), label_of(y))
    for line in found.lines:
        axes.plot(*zip(*line.curves[0].points, strict=True), "o-", label="\n= ".join(one.name for one in line.curves))
    _scale(axes, found.frame)
    return found.of_axes


def _scale(axes: Any, frame: Frame) -> None:
    """Give the picture the axes of the page, and a mark at each choice that has room."""
    axes.set_ylim(frame.y.low, frame.y.high)
    if frame.words:
        return
    if frame.x.log:
        axes.set_xscale("log")
    kept = with_room([(frame.x.place(tick), short(tick)) for tick in frame.x.ticks], WIDTH)
    marks = [tick for tick in frame.x.ticks if (frame.x.place(tick), short(tick)) in kept]
    axes.set_xticks(marks, [short(tick) for tick in marks])
    axes.minorticks_off()


def curve(name: str, rows: Sequence[Cells], x: str, y: str) -> Curve:
    """Return column y over column x, in the order of x."""
    ordered = sorted(rows, key=lambda row: place(row[x]))
    return Curve(name, tuple((row[x], float(row[y])) for row in ordered))


def by_others(shown: Sequence[Cells], x: str) -> Mapping[str, list[Cells]]:
    """Return the rows by their values on the other axes that vary, without x."""
    names = [
        name for name in dict.fromkeys(name for row in shown for name in row) if name.startswith(tuple(PREFIX.values()))
    ]
    varied = [name for name in names if name != x and len({row[name] for row in shown}) > 1]
    groups: dict[str, list[Cells]] = {}
    for row in shown:
        groups.setdefault(" ".join(f"{name.partition('.')[2]}={row[name]}" for name in varied), []).append(row)
    return groups


def label_of(column: str) -> str:
    """Return the label of a column in pictures."""
    for prefix in PREFIX.values():
        column = column.removeprefix(prefix)
    return "GFLOP/s" if column == "gflops" else column


def place(cell: Cell) -> tuple[float, str]:
    """Return what sorts the values of an axis: numbers by size, words as they are spelled."""
    return (0.0, cell) if isinstance(cell, str) else (float(cell), "")
