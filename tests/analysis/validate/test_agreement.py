import pytest

from gpusim.analysis.validate.agreement import (
    counter_errors,
    counter_sizes,
    cycle_sizes,
    order,
    stall_match,
    stall_sizes,
)
from gpusim.analysis.validate.kernels import Compared, Simulated, Timed
from gpusim.analysis.validate.profiler import Profile


def launch(kernel="a", configuration="solo", *, chip=100.0, here=100.0, flops=1, chips=None, ours=None, counts=None):
    """Return a launch with cycles on the chip and here, shares of reasons, and counters as pairs (chip, here)."""
    pairs = counts or {}
    profile = Profile({name: pair[0] for name, pair in pairs.items()}, chips or {})
    simulated = Simulated(here, 1, flops, {name: pair[1] for name, pair in pairs.items()}, ours or {})
    return Compared(Timed(kernel, configuration, chip, 0.01), simulated, profile if chips or counts else None)


def test_errors_of_cycles_are_by_configuration():
    """The mean is of absolute errors; the worst keeps its sign and its kernel; configurations have their order."""
    found = [launch("b", "full", here=110), launch("a", here=96), launch("b", here=110)]
    sizes = cycle_sizes(found)
    assert list(sizes) == ["solo", "full"]
    assert sizes["solo"]["n"] == 2
    assert sizes["solo"]["mean_error"] == pytest.approx(0.07)
    assert (sizes["solo"]["worst_error"], sizes["solo"]["worst"]) == (pytest.approx(0.1), "b")


def test_the_order_is_by_operations_per_cycle():
    """Of three products two change places: Spearman's 1 - 6 (0 + 1 + 1) / (3 (9 - 1)) = 0.5; two alone have none."""
    flops_and_cycles = (300, 100, 100), (200, 100, 200), (100, 100, 50)  # on the chip, here
    found = [launch(f"sgemm_{flops}", chip=chip, here=here, flops=flops) for flops, chip, here in flops_and_cycles]
    assert order([*found, launch("saxpy", here=1)]) == {"solo": pytest.approx(0.5)}
    assert order(found[:2]) == {}


def test_equally_fast_products_share_a_rank():
    """Ranks 1 2 3 against 1.5 1.5 3 correlate by 1.5 / sqrt(2 * 1.5)."""
    flops_and_cycles = (300, 100, 100), (200, 100, 200), (100, 100, 100)
    found = [launch(f"sgemm_{flops}", chip=chip, here=here, flops=flops) for flops, chip, here in flops_and_cycles]
    assert order(found)["solo"] == pytest.approx(1.5 / 3**0.5)


@pytest.mark.parametrize(
    ("ours", "agrees", "same"),
    [
        ({"wait": 0.6, "barrier": 0.2, "selected": 0.2}, True, True),
        ({"wait": 0.2, "barrier": 0.5, "selected": 0.3}, True, False),
        ({"wait": 0.2, "drain": 0.5, "selected": 0.3}, False, False),
    ],
)
def test_the_first_reason_may_be_near_the_chip_s_first(ours, agrees, same):
    """The first reason agrees if it is the chip's first, or the chip has it with at most 5 points less."""
    chips = {"wait": 0.34, "barrier": 0.3, "drain": 0.01, "selected": 0.35}
    one = launch(chips=chips, ours=ours)
    match = stall_match(one)
    assert (match.chip_first, match.chip_share, match.agrees) == ("wait", 0.34, agrees)
    assert (match.share, match.chip_share_of_first) == (ours[match.first], chips[match.first])
    sizes = stall_sizes([one, launch("b")])["solo"]
    assert (sizes["n"], sizes["agree"], sizes["same"]) == (1, agrees, same)


def test_shares_differ_by_the_mean_over_reasons_that_occur():
    """Reasons with less than 1 % on both sides don't count; one that only one side has counts as 0 on the other."""
    one = launch(chips={"wait": 0.9, "drain": 0.1, "misc": 0.005}, ours={"wait": 0.7, "imc_miss": 0.3, "misc": 0.0})
    assert stall_match(one).mean_difference == pytest.approx((0.2 + 0.1 + 0.3) / 3)


def test_a_launch_that_was_not_profiled_has_no_match():
    """Without a profile there are neither stall reasons nor counters to compare."""
    one = launch()
    assert (stall_match(one), counter_errors(one)) == (None, {})
    assert (stall_sizes([one]), counter_sizes([one])) == ({}, {})


def test_counters_are_compared_where_both_sides_count():
    """A counter that the chip has as 0, or that is not counted here, has no error."""
    one = launch(counts={"instructions": (100, 103), "dram_written_bytes": (0, 5)})
    assert counter_errors(one) == {"instructions": pytest.approx(0.03)}
    two = launch("b", counts={"instructions": (100, 95)})
    size = counter_sizes([one, two])["solo"]["instructions"]
    assert (size["n"], size["worst"]) == (2, "b")
    assert (size["mean_error"], size["worst_error"]) == (pytest.approx(0.04), pytest.approx(-0.05))
