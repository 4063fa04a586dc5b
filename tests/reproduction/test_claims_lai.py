import pytest
from draws import few

from gpusim.machine.occupancy import occupancy
from gpusim.reproduction.bench import Bench, Done, Missing
from gpusim.reproduction.claims import read, select
from gpusim.reproduction.finding import judge
from gpusim.reproduction.lai_sgemm import SWEEP, _of_variants, order_of_layouts, sizes
from gpusim.reproduction.lai_table import rate_between
from gpusim.reproduction.ledger import rows, without_runs
from gpusim.simulation import simulate
from workloads.catalog import make

NUMBERS = 9, 11, 24, 31, *range(36, 40), 41, 43, *range(47, 53), *range(54, 58), 60, 61, 62
SIMULATED = {f"LS{number:02}" for number in NUMBERS}


def test_claims_counted_analytic_or_input_are_exact():
    """All claims but the 23 simulated ones need no run, and all of them pass."""
    found = without_runs(select(["lai"]), {})
    assert {row.id for row in found} == {claim.id for claim in select(["lai"])} - SIMULATED
    assert {row.kind for row in found} == {"counted", "analytic", "input"}
    assert [row.id for row in found if not row.passed] == []


@pytest.mark.parametrize(
    ("machine", "settings", "rows"),
    [
        ("gt200", {"limits.registers_per_thread": "124"}, {"LS17"}),
        ("gtx580", {"chip.dram_mbs": "190000"}, {"LS02", "LS32"}),
        ("gtx580", {"chip.sms": "8"}, {"LS14", "LS15", "LS33"}),
        ("gtx580", {"limits.registers_per_thread": "80"}, {"LS17", "LS26", "LS29"}),
        ("gtx580", {"limits.registers": "16384"}, {"LS13", "LS25", "LS35"}),
        ("gtx580-1566", {"chip.shader_mhz": "1600"}, {"LS16"}),
        ("gtx680-speculated", {"limits.registers": "32768"}, {"LS13", "LS58"}),
        ("gtx680-speculated", {"chip.dram_mbs": "100000"}, {"LS03", "LS32", "LS59"}),
        ("gtx680-speculated", {"schedulers.count": "2"}, {"LS05", "LS06", "LS07", "LS08", "LS12", "LS14"}),
    ],
)
def test_a_number_of_a_machine_moves_the_rows_that_depend_on_it(machine, settings, rows):
    """With one number of one machine replaced, exactly the claims that follow from it change."""
    before, after = (without_runs(select(["lai"]), each) for each in ({}, {machine: settings}))
    assert {row.id for row, other in zip(before, after, strict=True) if row.ours != other.ours} == rows


def answered(bench, finder, figure):
    """Return what a function finds if `figure` gives the result of each of its runs."""
    try:
        return finder(bench)
    except Missing as missing:
        for job in missing.jobs:
            bench.done[job] = Done(figure(job), None, 0.0)
        return finder(bench)


class Rate:
    """The part of a run's results that an order of rates needs."""

    def __init__(self, gflops):
        self.gflops = gflops


@pytest.mark.parametrize(
    ("rates", "passed"),
    [
        ({"nt": 1173, "nn": 1165, "tt": 1163, "tn": 1157}, True),
        ({"nt": 1173, "nn": 1163, "tt": 1165, "tn": 1157}, False),
        ({"nt": 1273, "nn": 1165, "tt": 1163, "tn": 1157}, False),
        ({"nt": 1160, "nn": 1159, "tt": 1158, "tn": 1157}, False),
    ],
)
def test_the_order_of_the_layouts_needs_all_four_and_the_spread(rates, passed):
    """NT > NN > TT > TN and a spread from 0.5 to 3 % pass; two layouts swapped, or another spread, do not."""
    finding = answered(Bench(), order_of_layouts, lambda job: Rate(rates[dict(job.arguments[1])["layout"]]))
    claim = next(claim for claim in read() if claim.id == "LS51")
    assert judge(claim, finding).passed is passed


def test_each_variant_of_the_order_changes_one_thing():
    """Of 16 runs, in four layouts, 4 are unchanged, 4 have the base order, and 8 one number of the machine replaced."""
    with pytest.raises(Missing) as missing:
        _of_variants(Bench())
    changed = [(dict(job.arguments[1])["order"], len(job.arguments[3])) for job in missing.value.jobs]
    assert sorted(changed) == sorted([("interleaved", 0), ("base", 0), ("interleaved", 1), ("interleaved", 1)] * 4)


@pytest.mark.parametrize(
    ("last", "passed"), [((1200, 1204, 1205), True), ((1200, 1170, 1205), False), ((1100, 1150, 1205), False)]
)
def test_the_sweep_must_rise_and_level_off(last, passed):
    """A size much slower than the one before fails, and so do last sizes that still rise."""
    rates = dict(zip(SWEEP, (800, 900, 1000, 1050, 1080, 1090, 1095, *last), strict=True))
    finding = answered(Bench(), sizes, lambda job: Rate(rates[int(dict(job.arguments[1])["m"])]))
    assert finding.passed is passed


def test_a_rate_is_that_of_the_difference():
    """Common work cancels: 64 more warp instructions in 32 more cycles are 64 thread instructions per cycle."""

    class Counted:
        def __init__(self, issued, cycles):
            self.issued, self.cycles = {"FFMA": issued}, cycles

    assert rate_between("FFMA", Counted(10, 500), Counted(74, 532)) == 64


@pytest.mark.parametrize(("machine", "blocks"), [("gt200", 1), ("gtx580", 2), ("gtx680", 4)])
def test_registers_limit_the_sgemm_of_all_three_generations(machine, blocks):
    """63 registers of 256 threads leave room for one block on GT200, two on Fermi and four on Kepler."""
    held = occupancy(make("sgemm-lai"), Bench().machine(machine))
    assert (held.blocks, held.limiter) == (blocks, "registers")


@pytest.mark.jit
@pytest.mark.parametrize("machine", few(["gt200", "gtx680", "gtx680-speculated"], 2))
def test_the_sgemm_is_right_on_gt200_and_kepler(machine):
    """Values are right on machines for which the kernel was not written, and no faster than the bound."""
    found = simulate(make("sgemm-lai", {"m": "192", "n": "192", "k": "64", "layout": "tn"}), machine, sample="all")
    assert found.verification.verified
    assert found.cycles >= found.bound.cycles


@pytest.mark.jit
def test_simulated_rows_of_the_sgemm_move_with_the_machine():
    """With shared memory at half speed the mix on Kepler as speculated is below 0.8 of its rate."""
    slow = {"gtx680-speculated": {"shared_memory.pass_cycles": "2"}}
    (before,), (after,) = (list(rows(select(["LS60"]), each, 1)) for each in ({}, slow))
    assert before.passed
    assert float(after.ours) < 0.8 * float(before.ours)
