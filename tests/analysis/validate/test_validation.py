import pytest
from draws import few

from gpusim.analysis.validate import validation
from gpusim.analysis.validate.validation import Outcome, outcomes, published_points, summary
from gpusim.machine.machine import load
from isa.errors import UserError
from workloads.catalog import make

MACHINES = sorted(file.stem for file in validation.DIRECTORY.glob("*.toml"))


def simulated(machine, *ids):
    """Return the simulated figures of some points of a machine, by id."""
    points = [point for point in published_points(machine) if point.id in ids]
    assert len(points) == len(ids)
    return {outcome.point.id: outcome.simulated for outcome in outcomes(points, machine, make)}


@pytest.mark.parametrize("name", MACHINES)
def test_every_point_can_be_built_and_has_an_id_of_its_own(name):
    """Each point names a kernel of the catalog, parameters that it takes, and mnemonics that its program has."""
    points = published_points(load(name))
    assert len({point.id for point in points}) == len(points)
    for point in few(points, 5):
        assert len(point.between) <= 1
        for parameters in validation._parameters(point):
            mnemonics = {i.row.mnemonic for i in make(point.kernel, parameters).program.instructions}
            assert mnemonics >= set(point.per), point.id


@pytest.mark.long
@pytest.mark.jit
@pytest.mark.parametrize("name", MACHINES)
def test_inputs_are_met(name):
    """The microbenchmark of a figure in the machine file measures this figure within 1 %."""
    machine = load(name)
    points = [point for point in published_points(machine) if point.kind == "input"]
    found = list(outcomes(points, machine, make))
    assert {o.point.id: round(o.error, 4) for o in found if abs(o.error) > 0.01} == {}


@pytest.mark.long
@pytest.mark.jit
def test_keplers_pipes_and_pairing_give_its_measured_rates():
    """FFMAs that may not pair reach 127.5 within 1 %, those that may 186.35 of 192 within 4 % (Zhang PPoPP'17)."""
    found = simulated(load("k20m"), "rate-ffma-single", "rate-ffma")
    assert found["rate-ffma-single"] == pytest.approx(127.5, rel=0.01)
    assert found["rate-ffma"] == pytest.approx(186.35, rel=0.04)


@pytest.mark.long
@pytest.mark.jit
def test_one_rule_of_kepler_s_banks_gives_both_measurements_of_conflicts():
    """Conflicts in one bank give 1/2 and 1/3 of 128 (Lai and Seznec), those in any bank 119.2 and 94.5 (Zhang)."""
    one = simulated(load("gtx680"), "rate-ffma-2-way", "rate-ffma-3-way")
    assert list(one.values()) == pytest.approx([128 / 2, 128 / 3], rel=0.005)
    spread = simulated(load("k20m"), "rate-ffma-2-way", "rate-ffma-3-way")
    assert list(spread.values()) == pytest.approx([119.2, 94.5], rel=0.02)


@pytest.mark.jit
def test_a_point_that_names_no_instruction_counts_all():
    """FFMAs and loads of a mix count alike: the fitted rates of figure 2 of RR-7923 are met within 2 %."""
    found = simulated(load("gtx580"), "mix-3-1-32", "mix-6-1-64", "mix-12-1-128")
    assert list(found.values()) == pytest.approx([31.3, 30.4, 24.5], rel=0.02)


def test_a_latency_is_what_the_chain_takes_per_instruction():
    """By hand: dependent DFMAs of a single warp issue every 24 cycles, whatever surrounds them."""
    assert simulated(load("c2050"), "latency-dfma") == {"latency-dfma": 24}


@pytest.mark.jit
def test_a_figure_follows_the_number_of_its_machine():
    """A dp latency of 32 instead of 24 cycles changes the point of DFMA from 24 to 32, and that of IADD not at all."""
    before = simulated(load("gtx580"), "latency-dfma", "latency-iadd")
    after = simulated(load("gtx580", {"unit.dp.latency": 32}), "latency-dfma", "latency-iadd")
    assert (before["latency-dfma"], after["latency-dfma"]) == (24, 32)
    assert after["latency-iadd"] == before["latency-iadd"]


@pytest.mark.long
@pytest.mark.jit
def test_caches_hold_the_measured_footprints():
    """Pointer chases in two footprints each on a V100 and an H200 take the published cycles within 5 %."""
    for name, ids in (("v100", ("chase-103k", "chase-5m")), ("h200", ("chase-1m", "chase-205k"))):
        machine = load(name)
        points = [point for point in published_points(machine) if point.id in ids]
        assert [o for o in outcomes(points, machine, make) if abs(o.error) > 0.05] == []


def test_conditions_are_those_of_the_point():
    """A point may set cache hits, one SM and one dispatch port of its machine; other points change nothing."""
    machine = load("v100", {"cache.hits": "none"})
    by_id = {point.id: point for point in published_points(machine)}
    single = validation._conditions(by_id["chase-l2"], machine)
    assert (single.cache.hits, single.chip.sms) == ("tags", 1)
    assert validation._conditions(by_id["stream-read"], machine) == machine
    single = {point.id: point for point in published_points(load("k20m"))}["rate-ffma-2-way"]
    assert validation._conditions(single, load("k20m")).schedulers.dispatch_ports == 1


def test_summary_keeps_the_kinds_apart():
    """Counts, medians and 95th percentiles are of one kind each; kinds without a point are left out."""
    points = {point.kind: point for point in published_points(load("gtx580")) if point.kind != "fitted"}
    found = [Outcome(points["input"], points["input"].value)]
    found += [Outcome(points["predicted"], points["predicted"].value * factor) for factor in (0.9, 1.0, 1.3)]
    lines = summary(found)
    assert lines["input"] == {"n": 1, "median_error": 0, "p95_error": 0}
    assert lines["predicted"]["n"] == 3
    assert lines["predicted"]["median_error"] == pytest.approx(0.1)
    assert lines["predicted"]["p95_error"] == pytest.approx(0.28)
    assert "fitted" not in lines


def test_a_machine_without_figures_is_reported():
    """For a machine without published figures the error names the machines that have some."""
    with pytest.raises(UserError, match=f"no published figures of wide; choose one of {', '.join(MACHINES)}"):
        published_points(load("wide"))
