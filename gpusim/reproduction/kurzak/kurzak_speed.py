"""The claims of Kurzak's slides on speed: ZGEMM before and after tuning, all precisions, and what a sweep meets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from itertools import pairwise
from statistics import median

import numpy as np

from gpusim.analysis.search.tuning import Candidate, trial
from gpusim.machine import machine as model
from gpusim.reproduction.bench import Bench, Job, Pairs, Run
from gpusim.reproduction.claims import published
from gpusim.reproduction.finding import Finder, Finding, in_sight, not_reproducible, predicted, registrar
from gpusim.reproduction.gf100 import WITHOUT_TAGS
from gpusim.reproduction.pages import plot as plots
from gpusim.reproduction.pages.plot import Curve, Plot, Plotter
from gpusim.sm.unit.sm import Limits
from workloads.catalog import make
from workloads.papers.kurzak.stencil import PRECISIONS
from workloads.papers.kurzak.stencil_space import WORDS, stencil_space
from workloads.papers.kurzak.stencil_tuning import Tuning
from workloads.space import Column, arguments_at, as_points, prune

CLAIMS: dict[str, Finder] = {}
PLOTS: dict[str, Plotter] = {}
claim, plot = registrar(CLAIMS), plots.registrar(PLOTS)

STENCIL, BOARD = "gemm-stencil", "c2050"
SIDE = {"s": 1344, "d": 896, "c": 896, "z": 672}  # whole tiles, as many on each of 14 SMs
DEPTH = 672
GUESSES = {  # for the kernel before tuning, which the slides do not name
    "32x32x16 of 16x16 threads, the other precisions' shape": Tuning(32, 32, 16, 16, 16, 16, 16, 16, 16),
    "16x16x8 of 8x8": Tuning(16, 16, 8, 8, 8, 8, 8, 8, 8),
}
SIZES = tuple(range(192, 961, 192))  # multiples of every published tile
WAVES = 16  # blocks of a sample, in whole waves
DIP, LEVEL = 0.05, 0.05  # shares of a rate that do not count as falling, and as rising
SAMPLE, SEED, LENGTH = 60, 2011, 480  # points of a sweep that are simulated, their choice, and m, n and k
PIECES = 4  # jobs of a sweep
Point = tuple[int, ...]


@claim("KZ07")
def tuned(bench: Bench) -> Finding:
    """ZGEMM with MAGMA's tile, which this tuning led to, by 1D textures as there."""
    found, plain = bench.runs(_run("z"), _run("z", read="plain"))
    note = f"MAGMA's tile, read through 1D textures as there; with plain loads {plain.gflops:.0f}; {WITHOUT_TAGS}"
    choices = "reading through textures, not by plain loads, when 370 GFLOP/s with textures were known"
    return in_sight(choices, found.gflops, note=note)


@claim("KZ20")
def untuned(bench: Bench) -> Finding:
    """ZGEMM before tuning."""
    found = bench.runs(*(_run("z", **asdict(tuning)) for tuning in GUESSES.values()))
    rates = ", ".join(f"{name} {run.gflops:.0f}" for name, run in zip(GUESSES, found, strict=True))
    return not_reproducible("the slides do not say which kernel it is", note=f"guesses: {rates} GFLOP/s")


@claim("KZ19")
def all_precisions(bench: Bench) -> Finding:
    """The four precisions with published tiles: a size with as many tiles on each SM, and the shape over sizes."""
    runs = [_run(p) for p in PRECISIONS], [_square(p, size) for p in PRECISIONS for size in SIZES]
    rates = [run.gflops for run in bench.runs(*runs[0], *runs[1])]
    best, rest = rates[: len(PRECISIONS)], rates[len(PRECISIONS) :]
    curves = [rest[first : first + len(SIZES)] for first in range(0, len(rest), len(SIZES))]
    shapes = ", ".join(f"{p} {shape(curve)}" for p, curve in zip(PRECISIONS, curves, strict=True))
    ours = ", ".join(f"{p}gemm {rate:.0f} at {SIDE[p]}" for p, rate in zip(PRECISIONS, best, strict=True))
    note = (
        f"GFLOP/s on the C2050 where each SM has as many tiles as any other: {ours} rows and columns, {DEPTH} deep. "
        f"The shapes are those of the plot kurzak-precisions, of sizes {SIZES[0]} to {SIZES[-1]}, where SMs are uneven"
    )
    return not_reproducible("of these slides only the titles are left", shapes, note)


@claim("KZ25")
def sweeps(bench: Bench) -> Finding:
    """Rates of points that only the hard constraints leave beside those that all constraints leave."""
    (without, refused), (kept, _) = _sweeps(bench)
    slower = min(without) < min(kept) and median(without) < median(kept)
    words = [f"{min(rates):.0f} / {median(rates):.0f} / {max(rates):.0f}" for rates in (without, kept)]
    note = (
        f"lowest / median / highest GFLOP/s: {words[0]} of {len(without)} points without the soft constraints, drawn "
        f"with seed {SEED} from those that need no more registers than a thread has ({refused} more can't run), "
        f"{words[1]} of the {len(kept)} that all constraints leave; "
        f"{LENGTH} by {LENGTH} by {LENGTH}"
    )
    return predicted("slow kernels tested" if slower else "no slower kernels", note=note)


@plot("kurzak-precisions")
def plot_of_precisions(bench: Bench) -> Plot:
    """All precisions over the size of square matrices."""
    rates = [run.gflops for run in bench.runs(*(_square(p, size) for p in PRECISIONS for size in SIZES))]
    curves = tuple(
        Curve(f"{p}gemm", SIZES, tuple(rates[i * len(SIZES) : (i + 1) * len(SIZES)])) for i, p in enumerate(PRECISIONS)
    )
    note = "The slides' own curves are lost. Ours: MAGMA's tiles on the C2050, 8 operations for a complex FMA."
    return Plot("GEMMs in all precisions", "rows and columns of the matrices", "GFLOP/s", curves, note)


@plot("kurzak-sweep-unpruned")
def plot_of_unpruned(bench: Bench) -> Plot:
    """A sample of the points that the hard constraints leave."""
    (rates, refused), _ = _sweeps(bench)
    note = (
        f"{len(rates)} points that meet the hard constraints, of {SAMPLE} drawn at random; the machine refuses the "
        f"other {refused}."
    )
    return _distribution("ZGEMM sweep without pruning", rates, note)


@plot("kurzak-sweep-pruned")
def plot_of_pruned(bench: Bench) -> Plot:
    """The points that all constraints leave."""
    _, (rates, _) = _sweeps(bench)
    note = f"All points that our reading of the constraints leaves: {len(rates)}, where the slides have 211."
    return _distribution("ZGEMM sweep after pruning", rates, note)


def shape(rates: Sequence[float]) -> str:
    """Return in words how rates go on from size to size."""
    falls = any(after < (1 - DIP) * before for before, after in pairwise(rates))
    level = max(rates[-2:]) < (1 + LEVEL) * min(rates[-2:])
    return f"{'rises with dips' if falls else 'rises'}{' to a level' if level else ''}"


def drawn(limits: Limits, pruned: bool) -> tuple[Point, ...]:
    """Return the points of ZGEMM's space that all constraints leave, or a sample of those that can run.

    These meet the hard constraints, and a thread's values fit its registers: the stencil keeps none in local memory.
    """
    points = prune(stencil_space("z"), limits, None if pruned else "shared memory").points
    if not pruned:
        points = points[_words(points) <= limits.registers_per_thread]
        chosen = np.random.default_rng(SEED).choice(len(points), SAMPLE, replace=False)
        points = points[np.sort(chosen)]
    return tuple(tuple(row) for row in points.tolist())


def _words(points: Column) -> Column:
    """Return the registers that the stencil needs for a thread's values: sums, elements in transfer, and two lines.

    Of the longer line it needs one element.
    """
    m, n, k, x, y, *_ = points.T
    rows, wide = m // x, n // y
    words: Column = WORDS["z"] * (rows * wide + np.minimum(rows, wide) + 1 + (m + n) * k // (x * y))
    return words


def rates_of(points: tuple[Point, ...], pairs: Pairs) -> tuple[float, ...]:
    """Return the GFLOP/s of each point on the board; 0 where kernel or machine refuses it."""
    space, board, size = stencil_space("z"), model.load(BOARD, dict(pairs)), (LENGTH, LENGTH, LENGTH)
    named = as_points(space, np.array(points))
    each = (Candidate(dict(p), STENCIL, dict(arguments_at(space, p, size, {}))) for p in named)
    return tuple(trial(candidate, make, board).gflops for candidate in each)


def _sweeps(bench: Bench) -> list[tuple[list[float], int]]:
    """Return the rates of the points without and with the soft constraints, and how many points can't run."""
    limits, pairs = bench.machine(BOARD).limits, bench.pairs(BOARD)
    chosen = bench.results(*(Job(drawn, (limits, pruned)) for pruned in (False, True)))
    jobs = [[Job(rates_of, (points[i::PIECES], pairs)) for i in range(PIECES)] for points in chosen]
    found = bench.results(*(job for some in jobs for job in some))
    every = [[rate for piece in found[i * PIECES : (i + 1) * PIECES] for rate in piece] for i in range(len(jobs))]
    return [([rate for rate in rates if rate], rates.count(0.0)) for rates in every]


def _distribution(title: str, rates: Sequence[float], note: str) -> Plot:
    ranks = tuple(float(rank) for rank in range(1, len(rates) + 1))
    ends = ranks[0], ranks[-1]
    levels = [
        (words, published(name)[0].value or 0.0) for name, words in (("KZ20", "before tuning"), ("KZ07", "tuned"))
    ]
    lines = (Curve(label, ends, (level, level), published=True) for label, level in levels)
    curves = (Curve("the points of the sweep", ranks, tuple(sorted(rates)), line=False), *lines)
    return Plot(title, "kernels, from the slowest on", "GFLOP/s", curves, note)


def _run(precision: str, **parameters: object) -> Run:
    side = SIDE[precision]
    sizes = {"precision": precision, "m": side, "n": side, "k": DEPTH}
    return Run(STENCIL, BOARD, sizes | parameters, values=False)


def _square(precision: str, size: int) -> Run:
    sizes = {"precision": precision, "m": size, "n": size, "k": size}
    return Run(STENCIL, BOARD, sizes, values=False, sample=WAVES)
