"""How well the simulation of whole kernels agrees with what a chip did: cycles, their order, stall reasons, counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from gpusim.analysis.validate.kernels import CONFIGURATIONS, Compared
from gpusim.analysis.validate.profiler import COUNTERS, SELECTED

RANKED = "sgemm"  # kernels of this beginning compute the same, and are put in order of their speed
FEWEST = 3  # kernels that are put in order
NEAR = 0.05  # by which the share of the first reason here may be less than that of ncu's first
SEEN = 0.01  # a reason counts in a mean if it has this share of the warp-cycles, here or on the chip


class Sizes(TypedDict):
    """How many errors there are, the mean of their absolute values, the one furthest from 0, and its kernel."""

    n: int
    mean_error: float
    worst_error: float
    worst: str


class StallSizes(TypedDict):
    """Launches, how many agree in the first reason, and in how many of these it is the same.

    `mean_difference`: of the shares of a reason, over all launches.
    """

    n: int
    agree: int
    same: int
    mean_difference: float


@dataclass(frozen=True)
class StallMatch:
    """The first stall reason of a launch on the chip and here, with shares of the warp-cycles by ncu's names.

    `chip_share_of_first` is the share on the chip of the first reason here. `mean_difference`: by how much
    the shares of a reason differ in the mean, over the reasons that have 1 % here or there.
    """

    chip_first: str
    chip_share: float
    first: str
    share: float
    chip_share_of_first: float
    mean_difference: float

    @property
    def agrees(self) -> bool:
        """Whether the first reason is the chip's first, or has there a share that is at most 5 points less."""
        return self.chip_share - self.chip_share_of_first <= NEAR


def stall_match(one: Compared) -> StallMatch | None:
    """Return how the stall reasons of a launch agree; None if it was not profiled."""
    if one.profile is None:
        return None
    chip, here = one.profile.stalls, one.simulated.stalls
    first, chip_first = _first(here), _first(chip)
    return StallMatch(chip_first, chip[chip_first], first, here[first], chip.get(first, 0.0), _difference(here, chip))


def cycle_sizes(found: Iterable[Compared]) -> dict[str, Sizes]:
    """Return the errors of cycles by configuration."""
    every = list(found)
    of = {each: [one for one in every if one.timed.configuration == each] for each in CONFIGURATIONS}
    return {each: _sizes([(one.timed.kernel, one.error) for one in ones]) for each, ones in of.items() if ones}


def order(found: Iterable[Compared]) -> dict[str, float]:
    """Return Spearman's rank correlation of the RANKED kernels by their operations per cycle, by configuration."""
    products = [one for one in found if one.timed.kernel.startswith(RANKED)]
    of = {each: [one for one in products if one.timed.configuration == each] for each in CONFIGURATIONS}
    return {each: _correlation(ones) for each, ones in of.items() if len(ones) >= FEWEST}


def stall_sizes(found: Iterable[Compared]) -> dict[str, StallSizes]:
    """Return how stall reasons agree, by configuration."""
    of: dict[str, list[StallMatch]] = {each: [] for each in CONFIGURATIONS}
    for one in found:
        if match := stall_match(one):
            of[one.timed.configuration].append(match)
    return {each: _stall_sizes(ones) for each, ones in of.items() if ones}


def counter_errors(one: Compared) -> dict[str, float]:
    """Return the relative errors of the counters that the chip's profiler and the simulation both have."""
    if one.profile is None:
        return {}
    here, chip = one.simulated.counters, one.profile.counters
    return {name: here[name] / chip[name] - 1 for name in COUNTERS if name in here and chip.get(name)}


def counter_sizes(found: Iterable[Compared]) -> dict[str, dict[str, Sizes]]:
    """Return the errors of counters by configuration and counter."""
    of: dict[str, dict[str, list[tuple[str, float]]]] = {}
    for one in found:
        for name, error in counter_errors(one).items():
            of.setdefault(one.timed.configuration, {}).setdefault(name, []).append((one.timed.kernel, error))
    return {each: {name: _sizes(of[each][name]) for name in of[each]} for each in CONFIGURATIONS if each in of}


def _sizes(errors: Sequence[tuple[str, float]]) -> Sizes:
    worst, error = max(errors, key=lambda one: abs(one[1]))
    mean = float(np.mean([abs(size) for _, size in errors]))
    return Sizes(n=len(errors), mean_error=mean, worst_error=error, worst=worst)


def _stall_sizes(matches: Sequence[StallMatch]) -> StallSizes:
    return StallSizes(
        n=len(matches),
        agree=sum(match.agrees for match in matches),
        same=sum(match.first == match.chip_first for match in matches),
        mean_difference=float(np.mean([match.mean_difference for match in matches])),
    )


def _first(shares: Mapping[str, float]) -> str:
    """Return the reason with the largest share; to issue is none."""
    return max((name for name in shares if name != SELECTED), key=shares.__getitem__)


def _difference(here: Mapping[str, float], chip: Mapping[str, float]) -> float:
    pairs = [(here.get(name, 0.0), chip.get(name, 0.0)) for name in {*here, *chip}]
    return float(np.mean([abs(one - other) for one, other in pairs if max(one, other) >= SEEN]))


def _correlation(products: Sequence[Compared]) -> float:
    chip = _ranks([one.simulated.flops / one.timed.cycles for one in products])
    here = _ranks([one.simulated.flops / one.simulated.cycles for one in products])
    return float(np.corrcoef(chip, here)[0, 1])


def _ranks(values: Sequence[float]) -> NDArray[np.float64]:
    """Return the ranks; equal values share the mean of theirs."""
    every = np.array(values)
    less, equal = (relation(every[None], every[:, None]).sum(axis=1) for relation in (np.less, np.equal))
    return np.asarray(less + (equal - 1) / 2, np.float64)
