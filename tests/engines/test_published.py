"""The simulation reproduces the published microbenchmarks from which the machine files were made."""

from functools import partial

import pytest

from gpusim.engines.simulate import run_sm
from gpusim.machine.machine import load
from workloads.microbench.chain import chain
from workloads.microbench.throughput import throughput

pytestmark = pytest.mark.jit


def cycles_per_step(kernel_of_length, short, long) -> float:
    """Cycles of one more instruction of each warp, without the start and end of the kernel."""
    few, many = (run_sm(kernel_of_length(length), load("gtx580")).cycles for length in (short, long))
    return (many - few) / (long - short)


@pytest.mark.parametrize(
    ("op", "latency"), [("FFMA", 18), ("IADD", 18), ("DFMA", 24), ("LDS", 26), ("LDS.64", 38), ("LDS.128", 46)]
)
def test_a_dependent_chain_shows_the_latency(op, latency):
    """Cycles per instruction of a chain are those of Tan et al., SC'11, tables 2 and 3."""
    assert cycles_per_step(lambda length: chain(op, length=length), 64, 128) == latency


@pytest.mark.parametrize(
    ("op", "rate"), [("FFMA", 32), ("IADD", 32), ("IMAD", 16), ("LDS", 16), ("LDS.64", 8), ("LDS.128", 2)]
)
def test_many_warps_show_the_throughput(op, rate):
    """Thread instructions per cycle of 18 warps are those of RR-7923, table 1 and section 4.1, and PG 4.2 table 5-1."""
    kernel = partial(throughput, op, warps=18, streams=6, iterations=1)
    per_step = cycles_per_step(lambda length: kernel(length=length), 120, 480)
    assert 18 * 32 / per_step == pytest.approx(rate, rel=0.005)


@pytest.mark.parametrize(("warps", "rate"), [(1, 32 / 6), (2, 64 / 6), (4, 128 / 6), (6, 32), (18, 32)])
def test_one_warp_issues_every_six_cycles(warps, rate):
    """Each warp issues independent FFMAs every 6 cycles, so that 3 warps fill a scheduler (Tan et al., SC'11)."""
    per_step = cycles_per_step(lambda length: throughput(warps=warps, iterations=1, length=length), 128, 512)
    assert warps * 32 / per_step == pytest.approx(rate, rel=0.005)


@pytest.mark.parametrize(("warps", "rate"), [(2, 64 / 18), (8, 256 / 18), (18, 32), (24, 32)])
def test_dependent_instructions_need_eighteen_warps(warps, rate):
    """Each warp issues dependent FFMAs every 18 cycles, so that 18 warps fill both schedulers."""
    per_step = cycles_per_step(lambda length: throughput(warps=warps, streams=1, iterations=1, length=length), 128, 512)
    assert warps * 32 / per_step == pytest.approx(rate, rel=0.005)
