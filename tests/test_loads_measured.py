"""Loads of full grids, from L1, L2 and DRAM: as an H200 took them (h200_loads.csv), and here.

The numbers of `[dram]` and two of `[l2_channel]` were read off some of these rows; docs/units/dram.md and
docs/units/l2-channel.md say which.
"""

import numpy as np
import pytest
from draws import few, spread
from load_rows import MOST_BYTES, code, rows, simulated
from measured_limits import by_experiment, module_of, some, within

from gpusim.machine.machine import load

# Percent: the median error and the 95th percentile of 12 launches at even distances, of those that read 300 MB at most;
# as reached on 2026-11-30, rounded up.
LAUNCHES = 12
LIMITS = {
    "own": (4.3, 30),
    "same": (1.6, 6.2),
    "near": (4, 10),
    "stride": (4.2, 22),
    "column": (1.8, 12),
    "broadcast": (1.2, 9.6),
    "alone": (1.5, 4.3),
    "some": (1.7, 9),
    "far": (14.8, 27),
    "parted": (2.7, 4.8),
    "woven": (3.5, 5.7),
    "apart": (6, 20),
}
every = by_experiment(lambda: [one for one in rows() if one.bytes <= MOST_BYTES])


def of(experiment):
    """Return launches of an experiment at even distances."""
    return spread(every(experiment), LAUNCHES)


GIGABYTE = 1 << 30


def row(experiment, kernel, total, **numbers):
    """Return the row of all SMs with so many warps on each."""
    (found,) = (
        one
        for one in rows()
        if (one.experiment, one.kernel, one.total, one.sms) == (experiment, kernel, total, 132)
        and all(getattr(one, name) == value for name, value in numbers.items())
    )
    return found


@pytest.fixture(scope="module")
def module(tmp_path_factory):
    """The cubin as a module."""
    return module_of(tmp_path_factory.mktemp("cubin"), code())


@pytest.mark.jit
@pytest.mark.parametrize("experiment", few(LIMITS, 2))
def test_rows_are_met(module, experiment):
    """Of all rows the median error and the 95th percentile are no larger than they were; of few the median is below."""
    found = [100 * abs(simulated(module, row) / row.cycles - 1) for row in some(of(experiment), 3)]
    assert within(found, *LIMITS[experiment])


def test_the_last_of_many_lines_is_late():
    """Of 4 to 32 random lines in the DRAM the last comes as late as of exponentially distributed latencies."""
    whole = row("far", "random_0_1_1", 1, bytes=GIGABYTE, g=5).latency
    for group, lines in ((3, 4), (2, 8), (1, 16), (0, 32)):
        later = row("far", "random_0_1_1", 1, bytes=GIGABYTE, g=group).latency - whole
        expected = 138 * sum(1 / n for n in range(2, lines + 1))
        assert later == pytest.approx(expected, rel=0.12)


def test_a_line_takes_the_dram_for_a_while():
    """Random sectors and pairs take an SM's share of the DRAM 6.3 and 6.5 cycles each, whole lines 7.9."""
    for group, lines, each in ((0, 32, 6.3), (1, 16, 6.5), (2, 8, 7.8)):
        found = row("far", "random_0_1_4", 64, a=1, bytes=GIGABYTE, g=group).of_load / lines
        assert found == pytest.approx(each, rel=0.03)


def test_a_busy_dram_lets_loads_wait():
    """A load of a stream waits as in a queue of services of 175 cycles, for 0 to 80 % of 17.9 bytes a cycle and SM."""
    alone = row("parted", "affine_0_1_1", 1).latency
    for total in (8, 16, 32, 64):
        one = row("parted", "affine_0_1_1", total)
        used = 128 / one.of_load / 17.9
        assert one.latency - alone == pytest.approx(175 * used / (2 * (1 - used)), abs=25)


def test_a_line_takes_the_l2_for_a_while():
    """Lone sectors take an SM's share of the L2 1.6 cycles, two of a line 1.8, apart or side by side."""
    lone = row("near", "random_0_1_4", 64, a=1, bytes=24 << 20, g=0).of_load / 32
    pairs = row("near", "random_0_1_4", 64, a=1, bytes=24 << 20, g=1).of_load / 16
    apart = row("stride", "affine_0_1_4", 48, c=64).of_load / 16
    assert (lone, pairs, apart) == pytest.approx((1.61, 1.77, 1.78), abs=0.02)


def test_pages_far_apart_cost_little():
    """Random lines of 64 GB come 3 % later than those of 1 GB: TLBs are not followed."""
    near, far = (row("far", "random_0_1_1", 8, bytes=size * GIGABYTE, g=5).latency for size in (1, 64))
    assert far / near == pytest.approx(1.02, abs=0.02)


def test_loads_of_a_scope_beyond_the_sm_hit_no_l1():
    """Of 1,024 lines that a warp reads twice LDG.STRONG.GPU brings each twice from the L2: 332 cycles, never 50."""
    assert row("own", "affine_0_1_1", 1).latency == pytest.approx(332, abs=2)


def test_the_slowest_sm_is_further_away():
    """Loads of the L2 one after the other take it 18 cycles longer than the mean SM, those of the DRAM 21."""
    alone = [one for one in rows() if one.sms == 132 and one.total <= 4]
    chains = [one for one in alone if one.kernel.startswith("affine_0") and one.under_way == 1]
    near = [(one.slowest - one.cycles) / one.rounds for one in chains if one.experiment in ("own", "same")]
    far = [(one.slowest - one.cycles) / one.rounds for one in chains if one.experiment in ("parted", "woven")]
    further = load("h200").l2_channel.furthest
    assert np.median(near) == pytest.approx(further, abs=2)
    assert np.median(far) == pytest.approx(further, abs=4)


def test_the_slowest_of_few_sms_is_nearer():
    """Of 2 to 132 SMs the slowest is later by the logarithm of their number, within 4 cycles."""
    some = [
        one for one in rows() if (one.kernel, one.total, one.g, one.cold) == ("random_0_1_1", 8, 5, 0) and one.slowest
    ]
    found = {one.sms: (one.slowest - one.cycles) / one.rounds for one in some if one.sms > 1}
    assert len(found) == 6
    for sms, later in found.items():
        assert later == pytest.approx(load("h200").l2_channel.furthest * np.log(sms) / np.log(132), abs=4)


@pytest.mark.parametrize("experiments", [("own", "same"), ("parted", "woven")])
def test_the_slowest_sm_gets_less(experiments):
    """Where 64 warps of each SM want more than the L2 or the DRAM has, one gets 5 % less than the mean."""
    busy = [one for one in rows() if one.experiment in experiments and one.total == 64 and one.under_way > 1]
    less = 1 - float(np.median([one.cycles / one.slowest for one in busy]))
    assert less == pytest.approx(1 - load("h200").l2_channel.least_share / 1000, abs=0.01)
