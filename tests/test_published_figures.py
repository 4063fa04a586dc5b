"""Figures of RR-7923 (GTX 580) and Tan et al. (C2050): some fitted, others predicted (docs/calibration.md)."""

import pytest

from gpusim.engines.simulate import run_sm
from gpusim.machine.machine import load
from gpusim.simulation.simulation import simulate
from workloads.catalog import make

MIXES = {("3:1", "32"): 31.3, ("6:1", "64"): 30.4, ("12:1", "128"): 24.5}  # figure 2, thread instructions per cycle
SGEMM = {"nt": 1173, "nn": 1165, "tt": 1163, "tn": 1157}  # GFLOP/s at 4800 x 4800 x 4800, section 1


@pytest.mark.jit
@pytest.mark.parametrize(("mix", "published"), MIXES.items(), ids=[ratio for ratio, _ in MIXES])
def test_mixes_are_met_within_2_percent(mix, published):
    """Fitted: queue depth, wasted slot and launch skew were chosen so that the three mixes are within 2 %."""
    kernel = make("mix", {"ratio": mix[0], "lds": mix[1]})
    run = run_sm(kernel, load("gtx580"), feed="address-only")
    assert run.active.sum() / run.cycles == pytest.approx(published, rel=0.02)


@pytest.fixture(scope="module")
def sgemm():
    """GFLOP/s of the SGEMM at the published size, by layout and load width, every block of an SM simulated."""
    size = {"m": "4800", "n": "4800", "k": "4800"}

    def gflops(layout, lds):
        kernel = make("sgemm-lai", size | {"layout": layout, "lds": lds})
        return simulate(kernel, "gtx580-1566", values=False).gflops

    return {(layout, "64"): gflops(layout, "64") for layout in SGEMM} | {
        ("nt", lds): gflops("nt", lds) for lds in ("32", "128")
    }


@pytest.mark.slow
@pytest.mark.parametrize("layout", SGEMM)
def test_sgemm_is_predicted_within_6_percent(sgemm, layout):
    """Predicted: the rate of each layout at the published size, within 6 %."""
    assert sgemm[layout, "64"] == pytest.approx(SGEMM[layout], rel=0.06)


@pytest.mark.slow
def test_nt_is_the_fastest_layout_and_tn_the_slowest(sgemm):
    """Predicted: the fastest and the slowest layout, which the launch skew does not change."""
    rates = {layout: sgemm[layout, "64"] for layout in SGEMM}
    assert max(rates, key=rates.__getitem__) == "nt"
    assert min(rates, key=rates.__getitem__) == "tn"


@pytest.mark.slow
def test_lds_64_beats_lds_32_beats_lds_128(sgemm):
    """Predicted: the paper's order of the widths of loads from shared memory."""
    assert sgemm["nt", "64"] > sgemm["nt", "32"] > sgemm["nt", "128"]


# Percent of peak, section 5 of SC'11. Version 2 is a little better than CUBLAS with 58, version 3 by 5 %.
TAN = {"alg1": 54, "alg2": 57, "v2": 59, "v3": 61, "v4": 70}


@pytest.fixture(scope="module")
def dgemm():
    """Percent of peak of Tan's DGEMMs with plain loads, to which c2050 was fitted, every block of an SM simulated."""
    size = {"m": "1792", "n": "1792", "k": "1792", "read": "plain"}
    kernels = {variant: make("dgemm-tan", size | {"variant": variant}) for variant in (*TAN, "v1")}
    return {variant: simulate(kernel, "c2050", values=False).percent_of_peak for variant, kernel in kernels.items()}


@pytest.mark.slow
@pytest.mark.parametrize("variant", TAN)
def test_tans_dgemm_is_met_within_3_points(dgemm, variant):
    """Policy and merged halves are fitted to v4; the latency is one for all boards of the chip, fitted to nothing."""
    assert dgemm[variant] == pytest.approx(TAN[variant], abs=3)


@pytest.mark.slow
def test_tans_versions_come_in_their_order(dgemm):
    """Each version is faster than the one before; the first beats algorithm 2, which beats it in the paper."""
    assert dgemm["v1"] < dgemm["v2"] < dgemm["v3"] < dgemm["v4"]
    assert dgemm["alg2"] < dgemm["v1"] < dgemm["alg2"] + 3


@pytest.mark.slow
def test_scheduling_global_accesses_gains_less_than_published(dgemm):
    """Version 4 is 1.11 times as fast as version 3, not 1.15: claim TN30 fails."""
    assert dgemm["v4"] / dgemm["v3"] == pytest.approx(1.11, abs=0.01)
