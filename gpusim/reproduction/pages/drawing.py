"""Pictures of the documents' plots: their points as hollow markers, what is computed here as lines.

The same plot gives the same file to the bit, as long as matplotlib is the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from gpusim.reproduction.bench import Bench, Done, Job, Missing, Settings
from gpusim.reproduction.finding import cause
from gpusim.reproduction.ledger import PLOTS, Progress, silent
from gpusim.reproduction.pages.plot import Curve, Plot, Plotter
from gpusim.reproduction.tasks import Task, completed
from gpusim.support import whole_file
from gpusim.support.parallel.processes import processes
from isa.errors import UserError
from isa.reading import extra

EXTRA = "plot"
SUFFIX = ".svg"
COLOURS = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999"  # Okabe and Ito's
MARKERS = "o", "s", "^", "D", "v", "P", "X", "*"
DASHES = "-", "--", ":", "-."  # of our lines, once the colours have been used
STYLE = {
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": "medium",
    "font.size": 10,
    "grid.color": "#E5E5E5",
    "legend.fontsize": "small",
    "legend.frameon": False,
    "svg.fonttype": "path",
    "svg.hashsalt": "gpusim",
}
SIZE = 7.4, 4.0  # inches
TICKS = 12  # values of a logarithmic axis that are all shown, and points that have room for large markers


@dataclass(frozen=True, slots=True)
class Picture:
    """A plot of a document, the name of its file without the suffix, and the document's key."""

    name: str
    seed: str
    plot: Plot


def check(folder: Path, seeds: Iterable[str]) -> None:
    """Raise UserError where the pictures of these documents can't be written to a folder, or matplotlib is missing."""
    extra.module("matplotlib", EXTRA)
    if folder.is_file():
        raise UserError(f"{folder}: is a file; name a directory")
    if not folder.exists():
        whole_file.check(folder)
        return
    for name in of_seeds(seeds):
        whole_file.check(folder / f"{name}{SUFFIX}")


def of_seeds(seeds: Iterable[str]) -> dict[str, Plotter]:
    """Return the plots of some documents by name; names begin with the document's key."""
    wanted = set(seeds)
    return {name: plotter for name, plotter in PLOTS.items() if name.partition("-")[0] in wanted}


def computed(
    plots: Mapping[str, Plotter],
    settings: Settings,
    workers: int,
    report: Progress = silent,
    done: dict[Job, Done] | None = None,
) -> Iterator[Picture]:
    """Give each plot as soon as it is known, with the runs that they need done by so many processes.

    `report(plots known, all)` is called before each. `done` has jobs that are done; others are added. Raises UserError
    when a process is killed, and for a plot that ends with an error.
    """
    bench = Bench(settings, {} if done is None else done)
    tasks = {Task(partial(_plotted, name, plotter), bench.separate()): name for name, plotter in plots.items()}
    with processes(workers) as pool:
        for count, (task, plot) in enumerate(completed(list(tasks), pool), 1):
            report(count, len(plots))
            name = tasks[task]
            yield Picture(name, name.partition("-")[0], plot)


def write(folder: Path, picture: Picture) -> Path:
    """Draw a plot into a folder, which is created, and return the file; raises as `whole_file.write` does."""
    style, figures = (extra.module(f"matplotlib.{name}", EXTRA) for name in ("style", "figure"))
    folder.mkdir(exist_ok=True)
    path = folder / f"{picture.name}{SUFFIX}"
    with style.context(STYLE, after_reset=True), whole_file.unfinished(path) as part:
        figure = figures.Figure(figsize=SIZE, layout="constrained")
        _draw(figure.subplots(), picture.plot)
        figure.savefig(part, format="svg", metadata={"Date": None, "Creator": None})
    return path


def _plotted(name: str, plotter: Plotter, bench: Bench) -> Plot:
    """Return a plot; raises Missing if runs are not done, and UserError for any error of its function."""
    try:
        return plotter(bench)
    except Missing:
        raise
    except Exception as error:
        raise UserError(f"plot {name}: {cause(error)}") from error


def _draw(axes: Any, plot: Plot) -> None:
    groups = list(dict.fromkeys(curve.group for curve in plot.curves))
    for curve in plot.curves:
        _draw_curve(axes, curve, groups.index(curve.group))
    if plot.x_scale == "log":
        _logarithmic(axes, sorted({x for curve in plot.curves for x in curve.x}))
    if plot.x_names:
        axes.set_xticks(range(len(plot.x_names)), [name.replace(" ", "\n") for name in plot.x_names])
    if all(y >= plot.y_from for curve in plot.curves for y in curve.y):
        axes.set_ylim(bottom=plot.y_from)
    axes.set(title=plot.title, xlabel=plot.x, ylabel=plot.y)
    axes.legend()


def _draw_curve(axes: Any, curve: Curve, place: int) -> None:
    """Draw a curve in the colour of its group, which theirs and ours may share."""
    colour, marker = COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)]
    size = 7 if len(curve.x) <= TICKS else 4
    if curve.published:
        form = {"ls": ":" if curve.line else "none", "lw": 1, "marker": marker, "ms": size, "mfc": "none", "mew": 1.5}
    elif curve.line:
        dashes = DASHES[place // len(COLOURS) % len(DASHES)]
        form = {"ls": dashes, "lw": 1.8, "marker": "." if len(curve.x) < TICKS else "", "ms": 5}
    else:
        form = {"ls": "none", "marker": marker, "ms": 4}
    label = f"{curve.label}, {curve.source}"
    axes.plot(curve.x, curve.y, color=colour, label=label, zorder=3 if curve.published else 2, **form)


def _logarithmic(axes: Any, values: list[float]) -> None:
    """Make the x axis logarithmic, with plain numbers at the values where these are few."""
    axes.set_xscale("log")
    if len(values) <= TICKS:
        axes.set_xticks(values, [f"{value:g}" for value in values])
        axes.set_xticks([], minor=True)
