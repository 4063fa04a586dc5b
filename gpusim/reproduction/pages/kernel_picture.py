"""The picture of whole kernels: simulated over measured cycles, and stall reasons here beside the chip's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gpusim.analysis.validate.kernels import CONFIGURATIONS, Compared
from gpusim.analysis.validate.profiler import SELECTED, ncu_name
from gpusim.reproduction.pages.drawing import COLOURS, EXTRA, MARKERS, STYLE, SUFFIX
from gpusim.sm.unit.stall import Stall
from gpusim.support import whole_file
from gpusim.views.palette import COLOURS as PALETTE
from isa.errors import UserError
from isa.reading import extra

WIDTH, ROW_HEIGHT = 7.4, 0.27  # inches
MORE_ROWS = 5  # for title, label and legend
COLUMNS = 4  # of a legend
OTHERS, GROUND = "others", "#C8C8C8"  # reasons that never have FEW, and their colour
FEW = 0.05  # share from which on a reason has a colour of its own
HALF = 0.2  # distance of a bar from the middle of its kernel's row


def check(path: Path) -> None:
    """Raise UserError where a picture can't be written to a file, or matplotlib is missing."""
    if path.suffix != SUFFIX:
        raise UserError(f"--plot {path}: a picture is an SVG file; end its name in {SUFFIX}")
    extra.module("matplotlib", EXTRA)
    whole_file.check(path)


def write(path: Path, found: Sequence[Compared]) -> None:
    """Draw the launches into a file; raises as `whole_file.write` does."""
    style, figures = (extra.module(f"matplotlib.{name}", EXTRA) for name in ("style", "figure"))
    with style.context(STYLE, after_reset=True), whole_file.unfinished(path) as part:
        draw(figures.Figure(layout="constrained"), found).savefig(
            part, format="svg", metadata={"Date": None, "Creator": None}
        )


def draw(figure: Any, found: Sequence[Compared]) -> Any:
    """Draw the launches on an empty figure, and return it: a point each, then bars of those profiled.

    If whole grids are among these, the bars are theirs alone.
    """
    profiled = [one for one in found if one.profile]
    bars = [one for one in profiled if one.timed.configuration == CONFIGURATIONS[-1]] or profiled
    kernels = list(dict.fromkeys(one.timed.kernel for one in found))
    heights = [ROW_HEIGHT * (MORE_ROWS + rows) for rows in (len(kernels), len(bars)) if rows]
    figure.set_size_inches(WIDTH, sum(heights))
    first, *more = figure.subfigures(len(heights), 1, height_ratios=heights, squeeze=False)[:, 0]
    _draw_points(first.subplots(), found, kernels)
    for part in more:
        _draw_bars(part.subplots(), bars)
    for part in (first, *more):
        part.legend(loc="outside lower center", ncols=COLUMNS)
    return figure


def _draw_points(axes: Any, found: Sequence[Compared], kernels: Sequence[str]) -> None:
    """Draw simulated over measured cycles, a mark for each launch."""
    for place, configuration in enumerate(CONFIGURATIONS):
        of = [one for one in found if one.timed.configuration == configuration]
        x, y = [1 + one.error for one in of], [kernels.index(one.timed.kernel) for one in of]
        if of:
            axes.plot(x, y, MARKERS[place], color=COLOURS[place], ms=5, mfc="none", mew=1.5, label=configuration)
    axes.axvline(1, color="black", lw=1)
    _name_rows(axes, kernels)
    axes.set(title="Cycles", xlabel="simulated / measured")


def _name_rows(axes: Any, names: Sequence[str]) -> None:
    """Let the rows have these names, the first one on top."""
    axes.set_yticks(range(len(names)), names, fontsize="small")
    axes.set_ylim(len(names) - 0.5, -0.5)


def _draw_bars(axes: Any, bars: Sequence[Compared]) -> None:
    """Draw the shares of reasons of each launch: above the chip's, below those here."""
    sides = [(one.profile.stalls if one.profile else {}, one.simulated.stalls) for one in bars]
    names = _named([shares for side in sides for shares in side])
    for which in range(2):
        left = [0.0] * len(bars)
        places = [row + (2 * which - 1) * HALF for row in range(len(bars))]
        for name in names:
            widths = [_share(side[which], name, names) for side in sides]
            label = name.replace("_", " ") if which == 0 else None
            axes.barh(places, widths, 2 * HALF - 0.04, left, color=_colour(name), label=label)
            left = [begin + width for begin, width in zip(left, widths, strict=True)]
    _name_rows(axes, [one.timed.kernel for one in bars])
    axes.set(
        title="Stall reasons: the chip's above, the simulation's below", xlabel="share of warp-cycles", xlim=(0, 1)
    )
    axes.grid(axis="y", visible=False)


def _named(every: Sequence[Mapping[str, float]]) -> list[str]:
    """Return the reasons that have a colour, in the order of stall reasons, and the rest together."""
    known = dict.fromkeys(name for reason in Stall if (name := ncu_name(reason)) not in (None, SELECTED))
    only_there = dict.fromkeys(name for shares in every for name in shares if name != SELECTED)
    names = [*known, *(name for name in only_there if name not in known), SELECTED]
    return [*(name for name in names if max(shares.get(name, 0.0) for shares in every) >= FEW), OTHERS]


def _share(shares: Mapping[str, float], name: str, names: Sequence[str]) -> float:
    return shares.get(name, 0.0) if name != OTHERS else sum(shares[each] for each in shares if each not in names)


def _colour(name: str) -> str:
    """Return a reason's colour in timelines; ncu's own reasons have free ones."""
    if name in PALETTE:
        return PALETTE[name].light
    return GROUND if name == OTHERS else COLOURS[0]
