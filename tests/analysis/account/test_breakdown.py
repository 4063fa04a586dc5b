from dataclasses import replace

import pytest

from gpusim.analysis.account.breakdown import breakdown
from gpusim.analysis.account.rates.memory_rates import memory_rates
from gpusim.analysis.account.stalls import lost_by_the_last, lost_slots
from gpusim.machine.machine import load
from gpusim.simulation.simulation import simulate
from isa.text.listing import read
from workloads.catalog import make

pytestmark = pytest.mark.jit
ONE_SM = {"chip.sms": 1}
CASES = [
    ("sgemm-lai", {"m": "192", "n": "192", "k": "32"}, {}),
    ("sgemm-lai", {"m": "192", "n": "192", "k": "32", "lds": "128"}, ONE_SM),
    ("mix", {"iterations": "2"}, {}),
    ("chain", {"op": "DFMA"}, {}),
    ("throughput", {"op": "LDS.64", "iterations": "1"}, {}),
    ("throughput", {"op": "DADD", "iterations": "1"}, {"double.exclusive": "flight"}),
    ("throughput", {"blocks": "31", "iterations": "1"}, ONE_SM),
    ("throughput", {}, {"schedulers.count": 4, "pipe.sp.lanes": 4}),
]


WHOLE = [
    ("sgemm-lai", {"m": "192", "n": "288", "k": "32"}, {"chip.sms": 4}),
    ("mix", {"iterations": "2"}, {}),
]


@pytest.fixture(scope="module", params=CASES + WHOLE, ids=lambda case: f"{case[0]}-{len(case[1])}-{len(case[2])}")
def result(request):
    """Give results of kernels with and without operations, one of them sampled, and some of all SMs."""
    name, parameters, settings = request.param
    how = {"sms": "all"} if request.param in WHOLE else {"sample": 6}
    return simulate(make(name, parameters), load("gtx580", settings), **how)


@pytest.mark.long
def test_steps_lead_from_the_peak_to_the_simulated_rate(result):
    """The first rate is the peak (or all issue slots used), the last the simulated one; losses fill the gap."""
    steps = breakdown(result).steps
    simulated = result.gflops if result.kernel.flops else result.thread_instructions_per_cycle
    if result.kernel.flops:
        assert steps[0].rate == pytest.approx(result.peak_gflops)
    assert steps[-1].rate == pytest.approx(simulated, rel=1e-9)
    assert steps[0].rate - sum(step.loss for step in steps) == pytest.approx(simulated, rel=1e-9)


def test_cycles_of_the_steps_add_up(result):
    """The cycles of all steps are the simulated cycles, and no step is negative."""
    steps = breakdown(result).steps
    assert sum(step.cycles for step in steps) == pytest.approx(result.cycles, rel=1e-9)
    assert all(step.cycles > 0 for step in steps)


def test_every_step_has_its_own_cause(result):
    """No two steps have the same cause."""
    causes = [step.cause for step in breakdown(result).steps]
    assert len(set(causes)) == len(causes)


def test_without_operations_bytes_have_a_peak():
    """A stream without operations begins at the DRAM's peak and ends at its rate; loads from shared memory at slots."""
    result = simulate(make("stream", {"blocks": "64"}), "h200")
    found, rates = breakdown(result), {rate.level: rate for rate in memory_rates(result)}
    assert found.unit == "GB/s"
    assert found.steps[0].cause == "peak, bytes of the DRAM"
    assert found.steps[0].rate == pytest.approx(rates["DRAM"].peak_gbs)
    assert found.steps[-1].rate == pytest.approx(rates["DRAM"].gbs)
    assert sum(step.cycles for step in found.steps) == pytest.approx(result.cycles, rel=1e-9)
    shared = breakdown(simulate(make("throughput", {"op": "LDS.64", "iterations": "1"}), "gtx580"))
    assert shared.unit == "thread instructions per cycle"


def test_lost_slots_are_the_exact_ones():
    """If issue slots set the bound, each reason costs the cycles lost to it on 2 schedulers, halved."""
    result = simulate(make("mix", {"iterations": "4"}), "gtx580")
    assert result.bound.limiter == "issue slots"
    by_cause = {step.cause: step.cycles for step in breakdown(result).steps}
    lost = lost_slots(result.run)
    assert len(lost) > 3
    for reason, cycles in lost.items():
        assert by_cause[f"lost slots: {reason}"] == pytest.approx(cycles / 2, rel=1e-6)


def test_uneven_sms_lower_the_rate():
    """With 17 blocks on 16 SMs one SM has two, and the first step of the breakdown falls to 17/32 of the peak."""
    result = simulate(make("throughput", {"blocks": "17", "iterations": "1"}), "gtx580")
    step = breakdown(result).steps[1]
    assert step.cause == "uneven SMs: 2 blocks, mean 1.06"
    assert step.rate == pytest.approx(result.peak_gflops * 17 / 32)


def test_a_kernel_that_claims_too_many_operations_has_a_breakdown():
    """A kernel that claims more operations than it executes still gets steps that end at the simulated rate."""
    result = simulate(replace(make("chain"), flops=10**9), "gtx580")
    assert breakdown(result).steps[-1].rate == pytest.approx(result.gflops)


def test_idle_sms_are_counted_once():
    """With one block on one of two SMs, the uneven step halves the rate; no slot of the idle SM is lost besides."""
    kernel, machine = make("throughput", {"blocks": "1", "iterations": "1"}), load("gtx580", {"chip.sms": 2})
    one, both = simulate(kernel, machine), simulate(kernel, machine, sms="all")
    steps = {step.cause: step for step in breakdown(both).steps}
    assert steps["uneven SMs, no_warp: 1 block, mean 0.5"].rate == pytest.approx(both.peak_gflops / 2)
    assert lost_by_the_last(both.run) == lost_slots(one.run)
    assert lost_slots(both.run)["no_warp"] > lost_by_the_last(both.run).get("no_warp", 0)
    assert breakdown(both).steps[-1].rate == pytest.approx(both.gflops)


def test_lost_slots_are_those_of_the_sm_that_is_done_last():
    """Of three blocks on two SMs, one alone on its SM loops longest: its waits for results are named, not idle SMs."""
    text = ".kernel k\n.grid 3\n.block 32\n.flops 96\n    S2R R0, CTAID.X\n    ISETP.EQ P0, R0, 1\n    MOV R1, 1\n"
    text += "    @P0 MOV R1, 400\nloop:\n    FADD R2, R2, 1.0\n    IADD R1, R1, -1\n    ISETP.GT P1, R1, 0\n"
    result = simulate(read(text + "    @P1 BRA loop\n    EXIT\n"), load("gtx580", {"chip.sms": 2}), sms="all")
    assert [sm.blocks for sm in result.run.each] == [2, 1]
    assert lost_by_the_last(result.run) == lost_slots(result.run.each[1])
    lost = {step.cause: step.cycles for step in breakdown(result).steps if step.cause.startswith("lost slots")}
    assert max(lost, key=lost.__getitem__) != "lost slots: no_warp"
