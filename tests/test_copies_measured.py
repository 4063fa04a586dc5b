"""Copies, barriers in shared memory, clusters, and products beside loads: as an H200 timed them, and simulated.

Numbers of machine `h200` were fitted to some of the rows (docs/calibration.md).
"""

import re

import numpy as np
import pytest
from measured_limits import documented, some, stated

from benchmarks.tensor import copies
from gpusim.machine.machine import load

# Percent: the median error, the 95th percentile, as reached in November 2026, rounded up.
LIMITS = {
    "loads": (1.4, 4),
    "stores": (0.3, 8.5),
    "signals": (4.8, 20),
    "accesses": (3.8, 8.2),
    "products": (0.2, 0.2),
    "together": (5.2, 27),
}
ROWS = {
    "loads": r"^(tensor|bulk) load.*(blocks=1( L2)?|stages=1)$",
    "stores": r"^(tensor|bulk) (store|add).*blocks=1$",
    "signals": r"^mbarrier .*(arrive|test_wait|complete)",
    "accesses": r"^cluster .*(ld|st|atom) ",
    "products": r"^wgmma .*lds warps=0$",
    "together": r"^(wgmma|lds) .*lds warps=[1-9]",
}


def of(experiment):
    """Return the rows of an experiment."""
    return [row for row in copies.rows() if re.search(ROWS[experiment], str(row))]


@pytest.mark.jit
@pytest.mark.long
@pytest.mark.every
@pytest.mark.parametrize("experiment", LIMITS)
def test_they_take_what_they_take_on_the_chip(experiment):
    """Rows at even distances in each experiment run, and are met as nearly as they were, or nearer."""
    machine = load("h200", copies.WARM)
    found = [100 * abs(copies.simulated(row, machine) / row.measured - 1) for row in some(of(experiment), 4)]
    half, most = LIMITS[experiment]
    assert np.median(found) <= (half if len(found) == len(of(experiment)) else most)
    assert np.percentile(found, 95) <= 1.3 * most


def test_the_document_has_these_limits():
    """The table in docs/hopper.md says the rows, the median and the 95th percentile of each experiment."""
    assert documented("Copies, barriers and clusters") == stated(LIMITS, of)
