"""Cycles of all blocks of an SM, estimated from one run of some of them.

The run has at least two whole waves of resident blocks, or one that is long, and then the grid's last, partly filled
wave, so that it ends as all blocks do. The blocks left out in between take the rate at which the run issued before a
slot was empty:

    cycles = c(run) + (work(all) - work(run)) (end(last) - end(early)) / (issued(last) - issued(early))

Work is warp instructions. Blocks of the first waves begin together, and wait together, so the rate is that of the last
half of the waves, or of the last one where there are two or three. It counts the instructions of all blocks, also of
resident ones, when a block leaves. An SM that brings its share of the buffers, and then no more, waits for the DRAM in
the first part of its run alone; there the rate of four waves or more is that from the start, as is that of one wave.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpusim.engines.sm_run import SmRun
from isa.support import frozen

FOR_HALVES = 4  # waves of a run from whose halves its error is told


@frozen.comparable
@dataclass(frozen=True)
class Share:
    """The SM's blocks: how many, how many are resident at a time, and the work of each; None where all are alike.

    `least`: waves that are simulated at least; `brings`: the SM brings its share of the buffers first.
    """

    blocks: int
    resident: int
    work: NDArray[np.int64] | None = None
    least: int = 2
    brings: bool = False

    @property
    def rest(self) -> int:
        """The blocks of the last, partly filled wave."""
        return self.blocks % self.resident

    def sampled(self, least: int) -> int:
        """Return how many blocks to simulate, at least so many: all if they are few, else whole waves and the last."""
        several = max(self.least, -(-least // self.resident))
        few = self.blocks // self.resident < max(self.least + 1, several)
        return self.blocks if few else several * self.resident + self.rest

    def simulated(self, blocks: int) -> list[int]:
        """Return the places of the blocks of a run of so many: the first ones, and those of the last wave."""
        return [*range(blocks - self.rest), *range(self.blocks - self.rest, self.blocks)]

    def growth(self, blocks: int) -> float:
        """Return the work of all blocks over that of a run of so many."""
        if self.work is None:
            return self.blocks / blocks
        return float(self.work.sum() / self.work[self.simulated(blocks)].sum())


@dataclass(frozen=True)
class Estimate:
    """The cycles of all blocks, and how far earlier waves are off the last half: empty below four waves."""

    cycles: int
    checked: str


def estimate(share: Share, run: SmRun) -> Estimate:
    """Return the cycles of all blocks, from those of a run of so many as `sampled` says."""
    full, waves = run.ends[: len(run.ends) - share.resident + 1], len(run.ends) // share.resident
    half = share.resident * max(1, waves // 2)
    more = run.warp_instructions * (share.growth(run.blocks) - 1)
    checked = ""
    if waves >= FOR_HALVES:
        before = full[: len(full) - half]
        predicted = before.cycle[-1] + (full.issued[-1] - before.issued[-1]) * rate(before, share.resident)
        error = abs(100 * float(predicted / full.cycle[-1] - 1))
        checked = f"the waves before predict the last {waves // 2} of {waves} simulated within {error:.2g} %"
    begun = waves < 2 or (share.brings and waves >= FOR_HALVES)
    found = float(full.cycle[-1] / full.issued[-1]) if begun else rate(full, half)
    return Estimate(round(run.cycles + more * found), checked)


def rate(ends: NDArray[np.void], blocks: int) -> float:
    """Return the cycles of a warp instruction over the last so many of these ends."""
    first, last = ends[-1 - blocks], ends[-1]
    return float((last["cycle"] - first["cycle"]) / (last["issued"] - first["issued"]))
