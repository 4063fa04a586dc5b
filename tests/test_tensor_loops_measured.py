"""Loops of tensor cores, asynchronous copies and barriers in shared memory: as an H200 timed them, and simulated.

The rows are one in eight of those measured (tests/measured/tensor, benchmarks/tensor/loops.py); numbers of machine
`h200` may have been fitted to them.
"""

from pathlib import Path

import numpy as np
import pytest
from draws import QUICK
from measured_limits import documented, some, stated

from benchmarks.tensor import loops
from gpusim.machine.machine import load

FOLDER = Path(__file__).parent / "measured" / "tensor"
# Percent: the median error, the 95th percentile, as reached in November 2026, rounded up.
LIMITS = {
    "ldmatrix": (0.1, 2.9),
    "stmatrix": (0.1, 0.5),
    "ordinary": (0.1, 0.3),
    "copies": (1.4, 8.0),
}
ROWS = {
    "ldmatrix": r"^mem ldsm_",
    "stmatrix": r"^mem stsm_x",
    "ordinary": r"^patch3? (one:(?!LDSM)|war:)",
    "copies": r"^mem2 cpasync2:",
}


def of(experiment):
    """Return the rows of an experiment."""
    return loops.wanted(loops.rows(FOLDER), (), ROWS[experiment], 0)


@pytest.mark.jit
@pytest.mark.long
@pytest.mark.every
@pytest.mark.parametrize("experiment", LIMITS)
def test_loops_take_what_they_take_on_the_chip(experiment):
    """Rows at even distances in each experiment run, and are met as nearly as they were, or nearer."""
    machine = load("h200", loops.WARM)
    done = [loops.outcome(FOLDER, row, machine) for row in some(of(experiment), 5 if QUICK else 10)]
    assert not [one.refused for one in done if one.refused]
    errors = [abs(one.error) for one in done]
    half, most = LIMITS[experiment]
    assert np.median(errors) <= (half if len(done) == len(of(experiment)) else most)
    assert np.percentile(errors, 95) <= 1.2 * most


def test_the_document_has_these_limits():
    """The table in docs/hopper.md says the rows, the median and the 95th percentile of each experiment."""
    assert documented("Loops of tensor cores and copies") == stated(LIMITS, of)
