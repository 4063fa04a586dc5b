import pytest
from draws import few

from gpusim.machine.occupancy import occupancy
from gpusim.reproduction.bench import Bench, Done, Measurement, Missing
from gpusim.reproduction.claims import read, select
from gpusim.reproduction.finding import judge
from gpusim.reproduction.lai.lai_figures import PLOTS, RATIOS
from gpusim.reproduction.lai.lai_sgemm import SWEEP, _of_variants, order_of_layouts, sizes
from gpusim.reproduction.lai.lai_table import rate_between
from gpusim.reproduction.ledger import FINDERS, rows, without_runs
from gpusim.simulation.simulation import simulate
from workloads.catalog import make

pytestmark = pytest.mark.long  # a document's claims, each simulated; make check has them

NUMBERS = 9, 11, 24, 31, *range(36, 40), 41, 43, *range(47, 53), *range(54, 58), *range(60, 64), 65, 66, *range(70, 75)
SIMULATED = {f"LS{number:02}" for number in NUMBERS}


def test_claims_counted_analytic_or_input_are_exact():
    """All claims but the 31 simulated ones need no run, and all of them pass."""
    found = without_runs(select(["lai"]), {})
    assert {row.id for row in found} == {claim.id for claim in select(["lai"])} - SIMULATED
    assert {row.kind for row in found} == {"counted", "analytic", "arithmetic", "input"}
    assert [row.id for row in found if not row.passed] == []


@pytest.mark.parametrize(
    ("machine", "settings", "rows"),
    [
        ("gt200", {"limits.registers_per_thread": "124"}, {"LS17"}),
        ("gt200", {"pipe.mul.lanes": "4"}, {"LS14"}),
        ("gtx580", {"chip.dram_mbs": "190000"}, {"LS02", "LS32"}),
        ("gtx580", {"chip.sms": "8"}, {"LS14", "LS15", "LS33"}),
        ("gtx580", {"limits.registers_per_thread": "80"}, {"LS17", "LS26", "LS29"}),
        ("gtx580", {"limits.registers": "16384"}, {"LS13", "LS25", "LS35", "LS67"}),
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
    while True:
        try:
            return finder(bench)
        except Missing as missing:
            for job in missing.jobs:
                bench.done[job] = Done(figure(job), None, 0.0)


def verdict(name, bench, figure):
    """Return whether the claim passes if `figure` gives the result of each of its runs."""
    claim = next(claim for claim in read() if claim.id == name)
    return judge(claim, answered(bench, FINDERS[name], figure)).passed


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


def test_no_knee_fails_the_claim():
    """LS24 passes with knees at 18 and 24 warps, and fails, computed, where no number of warps has the best rate."""

    def run(job, best):
        warps, latency = int(dict(job.arguments[1])["warps"]), int(dict(job.arguments[3])["unit.fp32.latency"])
        return measured(rate=32 if warps >= best[latency] else 30)

    assert verdict("LS24", Bench(), lambda job: run(job, {18: 18, 24: 24})) is True
    assert verdict("LS24", Bench(), lambda job: run(job, {18: 18, 24: 99})) is False
    finding = answered(Bench(), FINDERS["LS24"], lambda job: run(job, {18: 18, 24: 99}))
    assert "from 18 and more than 28 warps on" in finding.note


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


def measured(**figures):
    """Return a measurement of nothing but these figures."""
    blank = {"cycles": 1, "gflops": 0, "percent_of_peak": 0, "rate": 0, "checked": True, "issued": {}, "lost": {}}
    return Measurement(**{**blank, "limits": {}, "blocks": 1, "warps": 1, **figures})


@pytest.mark.parametrize(("percent", "passed"), [(25, True), (33.3, True), (34, False)])
def test_a_product_without_reuse_must_stay_below_a_third(percent, passed):
    """A third of the peak is the limit."""
    run = measured(percent_of_peak=percent)
    loops = {"16": measured(issued={"FFMA": 0}, cycles=0), "64": measured(issued={"FFMA": 100}, cycles=400)}
    assert verdict("LS63", Bench(), lambda job: loops.get(dict(job.arguments[1]).get("iterations"), run)) is passed


@pytest.mark.parametrize(("ffmas", "fmuls", "passed"), [(8, 8, True), (8, 4, False), (7.7, 8, False)])
def test_gt200_reaches_its_peak_only_with_both_pipes_full(ffmas, fmuls, passed):
    """Eight FFMAs and eight FMULs in a cycle are 933 GFLOP/s; with half of the FMULs, or 4 % of the FFMAs less, not."""

    def run(job):
        count = 100 * (dict(job.arguments[1])["iterations"] == "64")
        return measured(issued={"FFMA": ffmas * count, "FMUL": fmuls * count}, cycles=32 * count)

    assert verdict("LS65", Bench(), run) is passed


@pytest.mark.parametrize(
    ("change", "passed"), [({}, True), ({(32, 0): 20}, False), ({(64, 5): 20}, False), ({(128, 32): 29}, False)]
)
def test_the_curves_of_figure_2_start_rise_and_end_as_they_should(change, passed):
    """Another start, a fall in between, or an end below 95 % of the slots fails."""

    def run(job):
        parameters = dict(job.arguments[1])
        width, ratio = int(parameters["lds"]), int(parameters["ratio"].split(":")[0])
        rise = min(32, (1 + ratio) * {32: 16, 64: 8, 128: 2}[width])
        return measured(rate=change.get((width, ratio), rise))

    assert verdict("LS66", Bench(), run) is passed


@pytest.mark.parametrize(
    ("name", "limits", "passed"),
    [
        ("LS70", {"issue slots": 9, "load/store unit": 8}, True),
        ("LS70", {"issue slots": 8, "load/store unit": 9}, False),
        ("LS71", {"issue slots": 8, "load/store unit": 9}, True),
        ("LS71", {"issue slots": 9, "load/store unit": 8}, False),
    ],
)
def test_the_resource_with_the_most_cycles_is_the_limit(name, limits, passed):
    """Fermi's product must need its issue slots longest, the speculated Kepler's its load/store unit."""
    assert verdict(name, Bench(), lambda _: measured(limits=limits)) is passed


@pytest.mark.parametrize(("tagged", "passed"), [(1005, True), (1020, False), (980, False)])
def test_caches_that_change_the_rate_by_over_1_percent_fail(tagged, passed):
    """Neither a gain nor a loss of 2 % by tags passes."""
    runs = {True: measured(gflops=tagged), False: measured(gflops=1000)}
    assert verdict("LS72", Bench(), lambda job: runs["cache.hits" in dict(job.arguments[3])]) is passed


@pytest.mark.parametrize(("share", "passed"), [(0.1, True), (0.3, False)])
def test_more_than_a_quarter_from_the_l2_is_not_little(share, passed):
    """A run that the starved DRAM has held up for all but 10 % of the bytes passes, one for all but 30 % fails."""
    machine = Bench().machine("gtx580-1566")
    loaded = 4 * (4800 * 480 * 2 + 192 * 480 * 50)
    cycles = (1 - share) * loaded * machine.chip.shader_mhz / (machine.chip.dram_mbs // 16)
    assert verdict("LS73", Bench(), lambda _: measured(cycles=cycles)) is passed


@pytest.mark.parametrize(("local", "far", "passed"), [(60, 340, True), (400, 400, False), (60, 60, False)])
def test_local_stores_stay_and_global_ones_do_not(local, far, passed):
    """A local word that comes from the L2, or a global one that comes from the L1, fails."""
    cycles = {"local": local, "global": far}
    assert verdict("LS74", Bench(), lambda job: cycles[job.arguments[0]]) is passed


def test_figures_2_and_3_have_published_points_and_ours():
    """Each plot has curves of ours, and of the report only the points that its text gives."""
    two = answered(Bench(), PLOTS["lai-figure-2"], lambda _: measured(rate=16))
    assert {curve.label: curve.y for curve in two.curves if curve.published} == {
        "LDS": (16.0, 31.3),
        "LDS.64": (30.4,),
        "LDS.128": (2.0, 24.5),
    }
    assert [len(curve.x) for curve in two.curves if not curve.published] == [len(RATIOS)] * 3
    three = answered(Bench(), PLOTS["lai-figure-3"], lambda _: measured(gflops=1100))
    published = {curve.label: curve.y for curve in three.curves if curve.published}
    assert published == {"NT": (1173,), "CUBLAS 4.1": (1138.8,)}
    assert [len(curve.x) for curve in three.curves if not curve.published] == [len(SWEEP)]
    four = answered(Bench(), PLOTS["lai-figure-3-layouts"], lambda _: measured(gflops=1100))
    assert four.x_names == ("NN", "TN", "NT", "TT")
    assert {(curve.label, curve.published): curve.y for curve in four.curves} == {
        ("SGEMM", True): (1165, 1157, 1173, 1163),
        ("SGEMM", False): (1100,) * 4,
        ("CUBLAS 4.1", True): (1049.5, 1107.2, 1138.8, 1067.0),
    }
    assert all(len(curve.x) == len(curve.y) for plot in (two, three, four) for curve in plot.curves)


def test_points_that_the_report_does_not_print_are_implied():
    """CUBLAS's rates, from speed-ups, and the share of LDS.128, from a ratio, are called implied, and nothing else."""
    found = {}
    for number in ("1", "2", "3", "3-layouts"):
        plot = answered(Bench(), PLOTS[f"lai-figure-{number}"], lambda _: measured(rate=16, gflops=1100))
        found[number] = [curve.label for curve in plot.curves if curve.source == "implied"]
        assert ("implied" in plot.note) == bool(found[number])
    assert found == {"1": ["LDS.128"], "2": [], "3": ["CUBLAS 4.1"], "3-layouts": ["CUBLAS 4.1"]}


@pytest.mark.parametrize("name", ["LS47", "LS49", "LS52", "LS55", "LS56", "LS57", "LS62"])
def test_what_people_saw_while_choosing_is_no_prediction(name):
    """The kind of every rate of the SGEMM names the choices that were made with these rates in view."""
    run = measured(cycles=100, gflops=1100, percent_of_peak=70, limits={"memory bandwidth": 30})
    kind = answered(Bench(), FINDERS[name], lambda _: run).kind
    assert kind.startswith("in sight: launch.warp_skew; schedulers.policy and issue.rotate; instruction_replay")


@pytest.mark.jit
def test_gt200_issues_a_multiplication_between_two_mads():
    """MADs and MULs one to one take 97 % of the peak; if MULs may go to the SPs as well they keep MADs from them."""
    peak = {"gt200": {"unit.fmul.pipe": "sp mul"}}
    (separate,), (together,) = (list(rows(select(["LS65"]), each, 1)) for each in ({}, peak))
    assert float(separate.ours) == pytest.approx(0.97 * 933, rel=0.01)
    assert float(together.ours) < 0.7 * 933
