from functools import partial
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpusim.analysis.search.tuning import WAVES, Candidate, Trial, ranking, trial
from gpusim.machine.machine import load
from gpusim.simulation.simulation import simulate
from gpusim.support.parallel.processes import as_done
from workloads.catalog import make

ONE_SM = load("gtx580", {"chip.sms": 1})
TRIALS = st.lists(
    st.builds(
        Trial,
        point=st.fixed_dictionaries({"a": st.integers(0, 9), "b": st.integers(0, 9)}),
        gflops=st.sampled_from((1.0, 2.5, 40.0)),
        reason=st.sampled_from(("", "too large")),
    )
)


def job(blocking=1, **parameters):
    """Return a small launch of sgemm-lai."""
    texts = {"m": "32", "n": "32", "k": "16", "blocking": str(blocking), "lds": "32"} | parameters
    return Candidate({"blocking": blocking}, "sgemm-lai", texts)


@pytest.mark.jit
def test_the_rate_of_an_even_grid_is_that_of_the_launch():
    """If a trial simulates all waves of the grid, its cycles and rate are those of the launch."""
    resident = trial(job(), make, ONE_SM).resident
    shape = {"m": "32", "n": str(16 * resident)}
    found, result = trial(job(**shape), make, ONE_SM), simulate(make("sgemm-lai", job(**shape).parameters), ONE_SM)
    assert found.cycles == result.cycles
    assert found.gflops == pytest.approx(result.gflops)
    assert found.milliseconds * found.gflops == pytest.approx(result.kernel.flops / 1e6)
    assert (found.blocks, found.registers) == (2 * resident, result.kernel.program.registers)


@pytest.mark.jit
def test_no_more_waves_are_simulated_than_asked_for():
    """A long launch runs the requested number of whole waves; one of less than a wave runs all of its blocks."""
    long, short = job(m="256", n="256"), job()
    resident = trial(long, make, ONE_SM).resident
    assert [trial(long, make, ONE_SM, waves).blocks for waves in (1, 2, WAVES)] == [
        resident,
        2 * resident,
        3 * resident,
    ]
    assert trial(short, make, ONE_SM).blocks == 4 < resident


@pytest.mark.jit
def test_the_chip_is_as_many_sms():
    """Four SMs with four times the blocks and the bandwidth are four times as fast as one."""
    grids = {1: {"m": "128", "n": "128"}, 4: {"m": "256", "n": "256"}}
    machines = {sms: load("gtx580", {"chip.sms": sms, "chip.dram_mbs": 12025 * sms}) for sms in grids}
    one, four = (trial(job(**grids[sms]), make, machines[sms]) for sms in grids)
    assert one.cycles == four.cycles
    assert four.gflops == pytest.approx(4 * one.gflops)


def test_a_trial_that_cannot_run_has_its_reason():
    """A kernel that is refused and one that does not fit the machine become trials with the reason, not errors."""
    refused = trial(job(m="33"), make, ONE_SM)
    assert refused.reason.startswith("sgemm-lai: m=33 is not a positive multiple of 16")
    large = trial(job(7, m="112", n="112"), make, ONE_SM)
    assert large.reason.startswith("sgemm-lai: needs 78 registers per thread; gtx580 has 63")
    assert ranking([refused, large]) == []


@pytest.mark.long
@pytest.mark.jit
def test_processes_make_no_difference():
    """Two processes give the trials that one gives."""
    jobs = [job(blocking, m="96", n="96") for blocking in (1, 2, 3, 7)]
    alone, together = (list(as_done(partial(trial, make=make, machine=ONE_SM), jobs, n)) for n in (1, 2))
    assert sorted(alone, key=str) == sorted(together, key=str)


@given(TRIALS)
def test_ranking_is_by_rate_then_by_point(found):
    """All that were simulated are ranked by how many are faster; equals share a rank, in the order of their points."""
    order = ranking(found)
    assert len(order) == sum(not each.reason for each in found)
    for rank, each in order:
        assert rank == 1 + sum(other.gflops > each.gflops for _, other in order)
    for (rank, one), (following, other) in pairwise(order):
        assert rank < following or (rank == following and list(one.point.values()) <= list(other.point.values()))
