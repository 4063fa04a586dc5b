"""The bound of launches with clusters, whose blocks are profiled together."""

import cluster_kernels
import pytest

from gpusim.bounds.bounds import bound
from gpusim.machine.machine import load
from gpusim.simulation.simulation import simulate

H200 = load("h200")
KERNELS = {
    "histogram": cluster_kernels.histogram(4, 2, 8, 16),
    "widths": cluster_kernels.widths(),
    "leaves": cluster_kernels.leaves(),
    "round robin": cluster_kernels.round_robin(2, 2),
}


@pytest.mark.jit
@pytest.mark.parametrize("name", KERNELS)
def test_no_run_beats_the_bound_of_its_clusters(name):
    """A run has a bound, which is not more than its cycles."""
    kernel, _ = KERNELS[name]
    result = simulate(kernel, H200, values=False)
    assert result.bound is not None
    assert 0 < result.bound.cycles <= result.cycles


@pytest.mark.jit
def test_the_issue_slots_of_a_block_are_those_of_its_cluster_shared_out():
    """Blocks of a pair issue equally often: an SM's slots are half of what the pair issues, over four schedulers."""
    kernel, _ = KERNELS["widths"]
    run = simulate(kernel, H200, values=False).run
    issued = run.warp_instructions / run.sms
    assert bound(kernel, H200).limits["issue slots"] == -(-issued // H200.schedulers.count)
