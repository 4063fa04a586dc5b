"""How the cycles of the SM's share of the grid follow from those that were simulated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from gpusim.engines.sm_run import SmRun
from gpusim.support.document import doc


@dataclass(frozen=True)
class Estimated:
    """An estimate that was asked for: of how many cycles, and by how many percent all cycles may be wrong.

    `spread_percent` is what the spread of the simulated cycles tells, with a confidence of 99 %, and at most the error
    that was asked for. Both are 0 where nothing was estimated.
    """

    cycles: int
    error_percent: float
    spread_percent: float


@dataclass(frozen=True)
class Scaling:
    """How the cycles of the SM's share of the grid, or of several SMs, were found.

    `method` is complete, waves, or work: whole waves of blocks that differ, scaled by what blocks execute; or steady:
    loops and waves at their mean cost; or waves+steady, work+steady: both.
    `blocks_of_sm` counts the blocks of the simulated SM, or of all.
    """

    simulated_blocks: int
    blocks_of_sm: int
    method: str
    error_checked: Annotated[
        str,
        doc("Deviation of the sample from what half its waves predict; empty below four waves and for complete runs."),
    ]
    estimate: Annotated[Estimated | None, doc("Present if an estimate was asked for.")] = None


def scaling_of(run: SmRun, blocks: int, method: str, checked: str, tolerance: int) -> Scaling:
    """Return how the cycles of so many blocks follow from the run of a sample, which may have taken loops at once."""
    if run.estimated:
        method = "steady" if method == "complete" else f"{method}+steady"
    asked = tolerance / 10_000 if run.estimated else 0.0
    error = Estimated(run.estimated, asked, 100 * run.doubt / run.cycles) if tolerance else None
    return Scaling(run.blocks, blocks, method, checked, error)
