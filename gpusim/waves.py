"""Cycles of all blocks of an SM from those of a few whole waves of resident blocks.

cycles(b) is simulated for the first wave and for several whole waves. The waves after them grow linearly: if all blocks
are alike with their number, else with their work, the warp instructions that they execute. Blocks of the first waves
begin together, and wait together; so from four waves on the rate is that of the later half. The blocks after the last
whole wave take the time that they take after the first one; where blocks differ, after the wave before them:

    cycles = c(several) + (work(all waves) - work(several)) rate + tail
    rate = (c(several) - c(early)) / (work(several) - work(early))
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from gpusim.engines.sm_run import SmRun
from gpusim.launch.feed import TRACE_DRIVEN

Runner = Callable[..., SmRun]
FOR_HALVES = 4  # waves of a sample, of which the first half is simulated by itself too


@dataclass(frozen=True)
class Share:
    """The SM's blocks, how many are resident at a time, and the work of each; None if they are alike."""

    blocks: int
    resident: int
    work: NDArray[np.int64] | None = None

    def done(self, blocks: int) -> int:
        """Return the work of the first so many blocks, in warp instructions; if all are alike, in whole waves."""
        return blocks // self.resident if self.work is None else int(self.work[:blocks].sum())

    def growth(self, run: SmRun) -> Fraction | None:
        """Return the work of all blocks over that of a run's; None if they are alike."""
        return None if self.work is None else Fraction(self.done(self.blocks), self.done(run.blocks))


@dataclass(frozen=True)
class Estimate:
    """The cycles of all blocks; and how far the sample is off what half its waves predict, empty below four."""

    cycles: int
    checked: str


def estimate(runner: Runner, share: Share, first: SmRun, run: SmRun) -> Estimate:
    """Return the cycles of all blocks, from those of the first wave and of several waves."""
    waves, rest = divmod(share.blocks, share.resident)
    several = run.blocks // share.resident
    tail = _tail(runner, share, first, rest) if rest else 0
    if several < FOR_HALVES:
        return Estimate(extrapolated(share, waves, first, run) + tail, "")
    early = runner(feed=TRACE_DRIVEN, blocks=several // 2 * share.resident)
    error = 100 * (extrapolated(share, several, first, early) / run.cycles - 1)
    text = f"{several // 2} of the {several} waves simulated predict these within {abs(error):.2g} %"
    return Estimate(extrapolated(share, waves, early, run) + tail, text)


def extrapolated(share: Share, waves: int, early: SmRun, run: SmRun) -> int:
    """Return the cycles of so many whole waves, if each unit of work takes as long as in a run after an early part."""
    more = share.done(waves * share.resident) - share.done(run.blocks)
    between = share.done(run.blocks) - share.done(early.blocks)
    return round(run.cycles + more * (run.cycles - early.cycles) / between)


def _tail(runner: Runner, share: Share, first: SmRun, rest: int) -> int:
    """Return the cycles by which the blocks after the last whole wave prolong the run."""
    if share.work is None:
        return runner(feed=TRACE_DRIVEN, blocks=share.resident + rest).cycles - first.cycles
    skip = share.blocks - share.resident - rest
    both, wave = (runner(feed=TRACE_DRIVEN, blocks=n, skip=skip) for n in (share.resident + rest, share.resident))
    return both.cycles - wave.cycles
