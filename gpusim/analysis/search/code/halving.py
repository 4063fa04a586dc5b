"""Successive halving: short trials of all points, longer ones of the best, full ones of the best of these.

A budget counts full trials. What a short trial costs is a fixed part of one, not a time, so that the same points are
chosen on every computer.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, erf, exp, inf, log, prod, sqrt
from statistics import median, stdev
from typing import TypeVar

from isa.errors import UserError

SHORT, LONG = 80_000, 320_000  # warp instructions of short trials: their ranks are 0.95 and 0.97 (docs/tuning.md)
COSTS = {SHORT: Fraction(1, 8), LONG: Fraction(1, 4)}  # of a full trial: CPU time of products (docs/performance.md)
AHEAD = 4  # points of the longer round for each full trial
PAIRS = 3  # points in both rounds from which an error is told
SURELY = 1e-3  # the least error of a logarithm: that of short trials which agree by chance

K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True)
class Plan:
    """Rounds of short trials, by their warp instructions and how many points they have, and how many full trials."""

    rounds: tuple[tuple[int, int], ...]
    full: int


@dataclass(frozen=True)
class Compared:
    """Short trials against the full trials of the same points: their number, one factor, and the error after it.

    `factor` is the median of full over predicted time; `error` the standard deviation of the logarithm of that.
    """

    pairs: int
    factor: float
    error: float

    @property
    def percent(self) -> float:
        """The error in percent."""
        return 100 * (exp(self.error) - 1)


def plan(points: int, budget: int) -> Plan:
    """Return the rounds that so many points have for the cost of so many full trials; raises UserError if it is less.

    The longer round has four points for each full trial; if these would be all, it is the only one.
    """
    if budget >= points:
        return Plan((), points)
    left = budget - points * COSTS[SHORT]
    full = int(left / (1 + AHEAD * COSTS[LONG]))
    if AHEAD * full >= points:
        return Plan(((LONG, points),), int(budget - points * COSTS[LONG]))
    if full < 1:
        least = ceil(points * COSTS[SHORT] + 1 + AHEAD * COSTS[LONG])
        raise UserError(f"--budget {budget}: short trials of {points} points take most of it; give {least} or more")
    return Plan(((SHORT, points), (LONG, AHEAD * full)), full)


def best(predicted: Mapping[K, float | None], many: int) -> list[K]:
    """Return so many keys, those with the least prediction first; equals keep their order, and None comes last."""
    return sorted(predicted, key=lambda key: inf if (time := predicted[key]) is None else time)[:many]


def compared(pairs: Iterable[tuple[float, float]]) -> Compared | None:
    """Return how far predicted times are off those of full trials, given both; None for fewer than three."""
    ratios = [log(full / predicted) for predicted, full in pairs]
    if len(ratios) < PAIRS:
        return None
    return Compared(len(ratios), exp(median(ratios)), max(SURELY, stdev(ratios)))


def missed(left_out: Sequence[tuple[float, Compared]], fastest: float) -> float:
    """Return the chance that a point that was left out is faster than the fastest, which took so long.

    Of each there is the prediction and what it was compared with. Errors are taken to be independent and normally
    distributed, and wider the fewer pairs there are.
    """
    margins = (log(predicted * by.factor / fastest) / (by.error * (1 + 1 / by.pairs)) for predicted, by in left_out)
    return 1 - prod((1 + erf(margin / sqrt(2))) / 2 for margin in margins)
