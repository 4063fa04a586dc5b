from __future__ import annotations

import pytest

from gpusim.engines.simulate import run_sm
from gpusim.machine.machine import load
from isa.errors import UserError
from workloads.microbench.divergence import divergence


@pytest.mark.parametrize("ways", [1, 2, 4, 32])
def test_every_lane_takes_its_own_branch(check, ways):
    """Each thread's total is that of the additions of its own branch, and of no other."""
    check(divergence(ways, length=5, warps=2))


@pytest.mark.jit
def test_a_warp_goes_every_way():
    """Four ways issue four times the additions of one, with a quarter of the lanes, and take about as much longer."""
    runs = [run_sm(divergence(ways, length=200), load("c2050")) for ways in (1, 4)]
    additions = [(run.issued[run.issued > 0].sum(), run.active.sum()) for run in runs]
    assert additions[1][0] == pytest.approx(4 * additions[0][0], rel=0.1)
    assert additions[1][1] == pytest.approx(additions[0][1], rel=0.1)
    assert runs[1].cycles == pytest.approx(4 * runs[0].cycles, rel=0.2)


@pytest.mark.parametrize("bad", [{"ways": 3}, {"ways": 64}, {"length": 0}, {"ways": 32, "length": 1100}])
def test_bad_parameters_are_refused(bad):
    """Ways that are no power of two up to 32, no additions, and programs that are too long raise UserError."""
    with pytest.raises(UserError, match=r"^divergence: "):
        divergence(**bad)
