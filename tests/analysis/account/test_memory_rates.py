"""Rates of DRAM and L2, beside what can be known without them."""

import pytest

import gpusim
from gpusim.analysis.account.rates.memory_rates import bound_rates, memory_rates, used_sms
from isa.row import Unit
from isa.text import listing
from workloads.catalog import make


@pytest.mark.jit
def test_the_rate_is_bytes_over_time():
    """A stream's rate is the bytes of its lines over the time that it takes, and nearly all that the DRAM has."""
    result = gpusim.simulate(make("stream", {}), "gtx580")
    (rate,) = memory_rates(result)
    program = result.kernel.program.instructions
    moved = sum(
        int(result.run.issued[pc]) * 32 * i.row.nbytes for pc, i in enumerate(program) if i.row.unit is Unit.GLOBAL
    )
    seconds = result.cycles / (result.machine.chip.shader_mhz * 1e6)
    assert rate.gbs == pytest.approx(16 * moved / seconds / 1e9, rel=0.01)
    assert rate.percent == pytest.approx(100 * rate.gbs / rate.peak_gbs)
    assert 90 < rate.percent < 100


@pytest.mark.jit
def test_no_schedule_exceeds_the_rate_of_the_bound():
    """The rate of the bound is that of the run times simulated over bound; where the L2 has tags none is known."""
    result = gpusim.simulate(make("coalescing", {"blocks": "4"}), "gtx580")
    (most,), (rate,) = bound_rates(result.kernel, result.machine, result.bound), memory_rates(result)
    exact = pytest.approx(rate.gbs * result.cycles / result.bound.cycles, rel=1e-3)  # the channel's time is rounded
    assert most.gbs == exact
    tagged = gpusim.load("gtx480")
    assert bound_rates(result.kernel, tagged, result.bound) == ()


@pytest.mark.jit
def test_idle_sms_move_nothing():
    """A quarter of the blocks on a quarter of the SMs move a quarter as fast, as each has its share."""
    rates = [
        memory_rates(gpusim.simulate(make("coalescing", {"blocks": blocks}), "gtx580"))[0].gbs for blocks in ("4", "16")
    ]
    assert rates[0] == pytest.approx(rates[1] / 4, rel=0.01)


@pytest.mark.jit
def test_tags_tell_dram_and_l2_apart():
    """Where tags say what hits, the sectors that the SM loads count at the L2, and those not in it at the DRAM."""
    text = ".kernel two\n.grid 132\n.block 32\n.buffer x i32 65536\n"
    text += "    S2R R0, TID.X\n    SHL R0, R0, 2\n    IADD R0, R0, c[x]\n"
    kernel = listing.read(text + "    LDG R1, [R0]\n    IADD R2, R1, 1\n    EXIT\n")
    result = gpusim.simulate(kernel, gpusim.load("h200", {"cache.hits": "tags", "l2.filled": 0}))
    found = {rate.level: rate.gbs for rate in memory_rates(result)}
    seconds = result.cycles / (result.machine.chip.shader_mhz * 1e6)
    assert found["L2"] == pytest.approx(132 * 4 * 32 / seconds / 1e9)
    assert result.run.sectors["loaded"] == 4


@pytest.mark.jit
def test_used_sms_is_the_mean_over_the_most():
    """4 of 16 SMs, 17 blocks where the fullest SM has 2, and 32 blocks use 25 %, 53 % and all of the SMs."""
    for blocks, used in (("4", 4 / 16), ("17", 17 / 32), ("32", 1)):
        assert used_sms(gpusim.simulate(make("coalescing", {"blocks": blocks}), "gtx580")) == pytest.approx(used)
