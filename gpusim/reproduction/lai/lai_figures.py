"""Figures 1, 2 and 3 of RR-7923 as plots, and the shape of figure 2's curves (LS66).

The figures survive only as captions: the published points are those that the report's text gives.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from gpusim.reproduction.bench import Bench, Run
from gpusim.reproduction.claims import published
from gpusim.reproduction.finding import Finder, Finding, fitted, registrar
from gpusim.reproduction.lai.lai_bound import BLOCKING, FIGURE_2, LARGEST, ffma_share
from gpusim.reproduction.lai.lai_sgemm import LAYOUTS, NAMES, SIZE, SWEEP, WIDTHS, layouts, over_sizes, published_rates
from gpusim.reproduction.lai.lai_table import GTX580
from gpusim.reproduction.pages import plot as plots
from gpusim.reproduction.pages.plot import Curve, Plot, Plotter

CLAIMS: dict[str, Finder] = {}
claim = registrar(CLAIMS)
PLOTS: dict[str, Plotter] = {}
plot = plots.registrar(PLOTS)
RATIOS = *range(17), 20, 24, 32
FEW = 3  # below this ratio the loop has more groups, so that its own instructions hardly count
SLOTS = 32  # thread instructions that an SM issues in a cycle
ALONE = {32: 16.0, 128: 2.0}  # thread instructions per cycle at ratio 0: table 1 and section 3.1
RATIO_OF = {32: 3, 64: 6, 128: 12}  # at a register blocking of 6
MIX_OF = {32: "LS36", 64: "LS37", 128: "LS38"}
CUBLAS, SWEPT = "CUBLAS 4.1", "nt"
LEAST = 800  # GFLOP/s from which the axis of figure 3 begins
IMPLIED = 128  # bits: its share is not printed (LS21)
SHARE_OF = {32: {1: "LS18", BLOCKING: "LS19"}, 64: {BLOCKING: "LS20"}, 128: {BLOCKING: "LS21"}}  # by blocking


def curves(bench: Bench) -> dict[int, list[float]]:
    """Return thread instructions per cycle and SM by width of the loads, one for each of RATIOS."""
    points = [(width, ratio) for width in WIDTHS for ratio in RATIOS]
    runs = [_mix(width, ratio) for width, ratio in points]
    rates = dict(zip(points, (run.rate for run in bench.runs(*runs)), strict=True))
    return {width: [rates[width, ratio] for ratio in RATIOS] for width in WIDTHS}


def _mix(width: int, ratio: int) -> Run:
    longer = {"groups": 512, "iterations": 8} if ratio < FEW else {}
    return Run("mix", GTX580, {"ratio": f"{ratio}:1", "lds": width, **longer}, values=False)


@claim("LS66")
def shape_of_figure_2(bench: Bench) -> Finding:
    """Each curve starts at its loads' rate, falls by 2 % at most from ratio to ratio, and ends at 95 % or more."""
    found = curves(bench)
    starts = all(abs(found[width][0] / rate - 1) < 0.02 for width, rate in ALONE.items())
    rises = all(after > 0.98 * before for rates in found.values() for before, after in pairwise(rates))
    ends = all(rates[-1] >= 0.95 * SLOTS for rates in found.values())
    shown = "; ".join(f"{NAMES[width]} {rates[0]:.1f} to {rates[-1]:.1f}" for width, rates in found.items())
    worst, width, ratio = _worst(found)
    note = (
        f"ratios 0 to {RATIOS[-1]}; the largest fall is {NAMES[width]}'s {worst:+.2f} % to a ratio of {ratio}, where "
        "warps in step fall into a pattern that wastes slots (docs/calibration.md). The report's curve is lost"
    )
    return fitted(bench.fitted(GTX580, FIGURE_2), shown, note=note, passed=starts and rises and ends)


def _worst(found: Mapping[int, Sequence[float]]) -> tuple[float, int, int]:
    """Return the largest fall from a ratio to the next in percent, the width of the loads, and the latter ratio."""
    return min(
        (100 * (after / before - 1), width, ratio)
        for width, rates in found.items()
        for ratio, (before, after) in zip(RATIOS[1:], pairwise(rates), strict=True)
    )


@plot("lai-figure-1")
def figure_1(bench: Bench) -> Plot:
    """Shares of FFMAs in programs of every blocking and width, and those that the report prints in its text."""
    blockings = range(1, LARGEST + 1)
    shares = {width: tuple(ffma_share(bench, blocking, width) for blocking in blockings) for width in WIDTHS}
    ours = [Curve(NAMES[width], tuple(map(float, blockings)), of) for width, of in shares.items()]
    theirs = [
        Curve(NAMES[width], *_shares_given(width), published=True, line=False, implied=width == IMPLIED)
        for width in WIDTHS
    ]
    return Plot(
        "RR-7923, figure 1: FFMAs in the main loop of SGEMM",
        "register blocking",
        "% of FFMAs and shared loads",
        (*ours, *theirs),
        note="The published points are those printed in the text; that of LDS.128 is implied by the ratio of 12 to 1 "
        "there, and takes one and a half loads for six words. A program has whole ones, so here a width that does not "
        "divide the blocking has a dent.",
    )


def _shares_given(width: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    names = SHARE_OF[width]
    return tuple(map(float, names)), tuple(published(name)[0].value or 0.0 for name in names.values())


@plot("lai-figure-2")
def figure_2(bench: Bench) -> Plot:
    """Thread instructions per cycle over the ratio of FFMAs to loads."""
    x = tuple(map(float, RATIOS))
    ours = [Curve(NAMES[width], x, tuple(rates)) for width, rates in curves(bench).items()]
    theirs = [Curve(NAMES[width], *_published(width), published=True, line=False) for width in WIDTHS]
    return Plot(
        "RR-7923 figure 2: FFMAs mixed with loads from shared memory",
        "FFMAs for each load",
        "thread instructions per cycle and SM",
        (*ours, *theirs),
        "The GTX 580 issues 32 thread instructions in a cycle; the report's text gives the points at a blocking of 6, "
        "and those of LDS and LDS.128 alone.",
    )


def _published(width: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    (mix,) = published(MIX_OF[width])
    points = {0: ALONE[width]} if width in ALONE else {}
    points[RATIO_OF[width]] = mix.value or 0.0
    return tuple(map(float, points)), tuple(points.values())


@plot("lai-figure-3")
def figure_3(bench: Bench) -> Plot:
    """GFLOP/s of NT over the size of square matrices."""
    which = LAYOUTS.index(SWEPT)
    at = (float(SIZE),)
    points = (
        Curve(SWEPT.upper(), at, (published_rates()[which],), published=True, line=False),
        Curve(CUBLAS, at, (_cublas()[which],), published=True, line=False, implied=True),
    )
    return Plot(
        "RR-7923 figure 3: SGEMM on a GTX 580 of 1566 MHz",
        "rows, columns and inner size",
        "GFLOP/s",
        (Curve(SWEPT.upper(), tuple(map(float, SWEEP)), tuple(over_sizes(bench))), *points),
        f"The report's text gives the rate at {SIZE}, and the speed-up over CUBLAS 4.1. The rate of CUBLAS is not "
        "printed: it is implied, as the one over the other (LS53). The axis does not begin at 0.",
        y_from=LEAST,
    )


@plot("lai-figure-3-layouts")
def figure_3_by_layout(bench: Bench) -> Plot:
    """GFLOP/s of the four layouts at the size of which the report's text has them."""
    places = tuple(float(place) for place in range(len(LAYOUTS)))
    of = (
        Curve("SGEMM", places, tuple(published_rates()), published=True, line=False),
        Curve("SGEMM", places, tuple(layouts(bench)), line=False),
        Curve(CUBLAS, places, tuple(_cublas()), published=True, line=False, implied=True),
    )
    return Plot(
        f"RR-7923 figure 3: the layouts at {SIZE}",
        "layout",
        "GFLOP/s",
        of,
        "The report's text gives the rates of SGEMM, and the speed-ups over CUBLAS 4.1. The rates of CUBLAS are not "
        "printed: they are implied, as the ones over the others (LS53). The axis does not begin at 0.",
        x_names=tuple(layout.upper() for layout in LAYOUTS),
        y_from=1000,
    )


def _cublas() -> list[float]:
    return [figure.value or 0.0 for figure in published("LS53")]
