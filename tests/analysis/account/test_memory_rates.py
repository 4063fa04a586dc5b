"""Rates of DRAM and L2, beside what can be known without them."""

import pytest
from draws import draws
from hypothesis import given, settings
from strategies.launches import REPEATABLE, kernels, launches

import gpusim
from gpusim.analysis.account.figures import figures
from gpusim.analysis.account.memory.tables import tables
from gpusim.analysis.account.rates.memory_rates import bound_rates, dram_busy, l2_busy, memory_rates, used_sms
from gpusim.analysis.account.rates.roofline import summary
from isa.row import Unit
from isa.text import listing
from workloads.catalog import make

# 1,056 blocks of 256 threads; each thread has the words at these bytes from its first one on, 17 MB in all.
EACH = range(0, 16 * 1056 * 1024, 1056 * 1024)
STREAM = (
    ".kernel stream\n.grid 1056\n.block 256\n.buffer x f32 4325376\n.buffer y f32 4325376\nS2R R0, CTAID.X\n"
    "SHL R0, R0, 8\nS2R R1, TID.X\nIADD R0, R0, R1\nSHL R0, R0, 2\nIADD R1, R0, c[y]\nIADD R0, R0, c[x]\n"
)
LOADS = "".join(f"LDG R{8 + i}, [R0+{by}]\n" for i, by in enumerate(EACH))
STORES = "".join(f"STG [R1+{by}], R{8 + i}\n" for i, by in enumerate(EACH))


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


@pytest.mark.jit
@settings(REPEATABLE, max_examples=draws(30))
@given(launches(kernels(most_blocks=3, least=3)))
def test_no_level_moves_more_than_it_can(launched):
    """On any machine the part of each level in use is at most all of it, and every view has the same rates."""
    result = gpusim.simulate(*launched, values=False)
    check_rates(result)


@pytest.mark.long
@pytest.mark.jit
@pytest.mark.parametrize("body", [LOADS + "FADD R0, R8, R23\n", STORES, LOADS + STORES])
@pytest.mark.parametrize("filled", [0, 1])
def test_streams_stay_below_the_peak(body, filled):
    """17 MB that are loaded, stored, or both, cold or in the L2: no more than DRAM and L2 can move, and nearly it."""
    result = gpusim.simulate(listing.read(f"{STREAM}{body}EXIT"), gpusim.load("h200", {"l2.filled": filled}))
    check_rates(result)
    assert max(rate.percent for rate in memory_rates(result)) > 60


STRIDED = "".join(f"STG [R1+{by}], R0\n" for by in range(0, 64, 4))  # of 32 lines each
APART = STREAM.replace("SHL R0, R0, 2", "SHL R0, R0, 6")


@pytest.mark.jit
@pytest.mark.parametrize("text", [STREAM + LOADS + STORES, STREAM + STORES, APART + STRIDED])
def test_levels_are_busy_as_long_as_the_bound_says(text):
    """Whole sectors or parts of sectors, loaded and stored: no level is less busy than its bound says, in any view.

    Loads have their latency behind their last sector in the bound.
    """
    result = gpusim.simulate(listing.read(f"{text}EXIT"), gpusim.load("h200", {"l2.filled": 0}), values=False)
    rates = {one.level: one.percent / 100 for one in memory_rates(result)}
    limits = {name: cycles / result.cycles for name, cycles in result.bound.limits.items()}
    latency = result.machine.global_memory.latency / result.cycles
    levels = {"DRAM": ("device memory",), "L2": ("L2, loads", "L2, stores", "L2, answers")}
    for level, names in levels.items():
        least = max(limits.get(name, 0) for name in names)
        assert least - latency <= rates.get(level, 0) <= 1
    assert rates["L2"] == pytest.approx(l2_busy(result))
    assert rates.get("DRAM", 0) == pytest.approx(dram_busy(result))


@pytest.mark.jit
def test_all_sms_share_no_l2():
    """Where no SM stands for others, sectors say how busy the L2 is, also behind stores that wait for a slice."""
    text = ".grid 64\n.block 32\n.buffer y f32 1048576\nS2R R0, CTAID.X\nSHL R0, R0, 5\nS2R R1, LANEID\n"
    text += "IADD R0, R0, R1\nSHL R0, R0, 11\nIADD R1, R0, c[y]\n" + STRIDED
    machine = gpusim.load("h200", {"l2.filled": 1, "chip.sms": 4})
    result = gpusim.simulate(listing.read(f"{text}EXIT"), machine, values=False, sms="all")
    (rate,) = (one for one in memory_rates(result) if one.level == "L2")
    assert not result.run.l2_asked.any()
    assert rate.gbs <= rate.peak_gbs <= result.machine.l2_channel.store_bytes * machine.chip.shader_mhz / 1000


def check_rates(result):
    """Assert that no rate of a launch exceeds its peak, and that tables, figures and roofs have the same rates."""
    rates, found, document = {one.level: one for one in memory_rates(result)}, tables(result), figures(result)
    assert all(one.percent <= 100 for one in rates.values())
    own = {level: (one.gbs, one.percent) for level, one in rates.items()}
    assert (document.dram_gbs, document.percent_of_dram) == own.get("DRAM", (None, None))
    assert (document.l2_gbs, document.percent_of_l2) == own.get("L2", (None, None))
    assert max(one.percent for one in found.dram) == pytest.approx(rates["DRAM"].percent if "DRAM" in rates else 0)
    for one in summary(result).roofs if result.gflops else ():
        assert result.gflops <= one.per_byte * one.bandwidth_gbs * (1 + 1e-9)
