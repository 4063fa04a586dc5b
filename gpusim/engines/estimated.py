"""Estimates of steady runs: what error may be asked for, and results that add up, with stalls in proportion."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusim.engines.sm_run import SmRun
from isa.errors import UserError

Counts = NDArray[np.int64]
MILLION = 1_000_000
LEAST_ERROR, MOST_ERROR = 0.01, 10.0  # percent of an estimate
EXCLUDED: dict[str, tuple[tuple[object, ...], str]] = {  # what an estimate needs of other options, and why
    "engine": (("compiled",), "the reference engine simulates every cycle"),
    "sample": ((None,), "--sample all computes every value"),
    "sms": ((1,), "of several SMs every block is simulated"),
    "trace": ((False,), "a trace needs every cycle"),
    "fast_forward": ((True,), "--no-fast-forward asks for every cycle"),
}


def tolerated(estimate: float | None, **others: object) -> int:
    """Return by how many parts in a million an estimate may be wrong; 0: exact. A `sample` is "all" or None.

    Raises UserError beside options of `simulate` that exclude it, and for a percentage that is none.
    """
    if estimate is None:
        return 0
    if not LEAST_ERROR <= estimate <= MOST_ERROR:
        raise UserError(f"--estimate {estimate:g}%: give {LEAST_ERROR:g}% to {MOST_ERROR:g}%, as in --estimate 0.5%")
    for name, (plain, why) in EXCLUDED.items():
        if others.get(name, plain[0]) not in plain:
            raise UserError(f"--estimate {estimate:g}%: {why}; leave one of the two out")
    return round(10_000 * estimate)


def adding_up(run: SmRun, issued: Counts) -> SmRun:
    """Return the run with these warp instructions by pc, which are known without time, and all else in proportion.

    Warp-cycles add up to those of all warp slots again. The error of the counts adds to the doubt of the cycles.
    """
    issued = np.pad(issued, (0, len(run.issued) - len(issued)))  # the run has a row behind the program's end
    grown = np.divide(issued, run.issued, out=np.ones(len(issued)), where=run.issued > 0)
    whole = int(issued.sum()) / max(1, run.warp_instructions)
    return replace(
        run,
        doubt=run.doubt + round(abs(whole - 1) * run.cycles),
        issued=issued,
        active=_whole(run.active * grown),
        account=_whole(run.account * _by_number(grown, run.accounted)[:, None, None]),
        load_store_cycles=_whole(run.load_store_cycles * grown),
        held=_whole(run.held * grown),
        pipe_cycles={name: round(cycles * whole) for name, cycles in run.pipe_cycles.items()},
        stalls=_shared_out(run.stalls, run.cycles * run.warp_slots - run.empty),
    )


def summing_up(run: SmRun) -> SmRun:
    """Return the run with warp-cycles that add up to those of all warp slots, in the same proportions."""
    return replace(run, stalls=_shared_out(run.stalls, run.cycles * run.warp_slots - run.empty))


def _by_number(grown: NDArray[np.float64], accounted: Counts) -> NDArray[np.float64]:
    """Return by number of an instruction in the account what is given by pc."""
    found = np.ones(int(accounted.max(initial=0)) + 1)
    found[accounted] = grown
    return found


def _whole(numbers: NDArray[Any]) -> Counts:
    whole: Counts = np.rint(numbers).astype(np.int64)
    return whole


def _shared_out(parts: Counts, total: int) -> Counts:
    """Return whole parts in the same proportions with this sum; what rounding leaves goes to the largest."""
    shared: Counts = np.floor(parts * (total / max(1, int(parts.sum())))).astype(np.int64)
    shared.flat[int(parts.argmax())] += total - int(shared.sum())
    return shared
