"""The results of a run that was estimated in part, made to add up: counts exact, stalls in proportion."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusim.engines.sm_run import SmRun

Counts = NDArray[np.int64]


def adding_up(run: SmRun, issued: Counts) -> SmRun:
    """Return the run with these warp instructions by pc, which are known without time, and all else in proportion.

    Warp-cycles add up to those of all warp slots again. What the counts were wrong by adds to the doubt of the cycles.
    """
    issued = np.pad(issued, (0, len(run.issued) - len(issued)))  # the run has a row behind the program's end
    grown = np.divide(issued, run.issued, out=np.ones(len(issued)), where=run.issued > 0)
    whole = int(issued.sum()) / max(1, run.warp_instructions)
    return replace(
        run,
        doubt=run.doubt + round(abs(whole - 1) * run.cycles),
        issued=issued,
        active=_whole(run.active * grown),
        load_store_cycles=_whole(run.load_store_cycles * grown),
        pipe_cycles={name: round(cycles * whole) for name, cycles in run.pipe_cycles.items()},
        stalls=_shared_out(run.stalls, run.cycles * run.warp_slots - run.empty),
    )


def _whole(numbers: NDArray[Any]) -> Counts:
    return np.rint(numbers).astype(np.int64)


def _shared_out(parts: Counts, total: int) -> Any:
    """Return whole parts in the same proportions with this sum; what rounding leaves goes to the largest."""
    shared = np.floor(parts * (total / max(1, int(parts.sum())))).astype(np.int64)
    shared.flat[int(parts.argmax())] += total - int(shared.sum())
    return shared
