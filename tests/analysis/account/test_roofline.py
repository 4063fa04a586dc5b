from dataclasses import replace

import pytest

from gpusim.analysis.account.rates.memory_rates import memory_rates
from gpusim.analysis.account.rates.roofline import summary
from gpusim.machine import machine as model
from gpusim.simulation.simulation import simulate
from gpusim.sm.memory.global_memory.declaration import line_cycles
from isa.text import listing

# 16 blocks of a warp, one for each SM of gtx580; each thread reads a word, adds, and writes a word.
TEXT = """
.kernel add
.grid 16
.block 32
.buffer x f32 512 = hash 1
.buffer y f32 512
.flops 512
    S2R R0, TID.X
    S2R R1, CTAID.X
    IMAD R0, R1, 32, R0
    SHL R0, R0, 2
    IADD R1, R0, c[x]
    LDG R2, [R1]
    FADD R2, R2, 1.0
    IADD R1, R0, c[y]
    STG [R1], R2
    EXIT
"""


def taking(text, cycles, machine="gtx580"):
    """The summary of a launch if it took so many cycles."""
    return summary(replace(simulate(listing.read(text), machine, values=False), cycles=cycles))


def test_operations_per_byte_are_those_of_the_program():
    """One operation for 4 bytes read and 4 written; within 1 %, as the bound counts whole cycles."""
    found = taking(TEXT, 1544)
    assert found.flops_per_byte == pytest.approx(1 / 8, rel=0.01)
    assert found.gflops == pytest.approx(512 / 1e-6 / 1e9)  # 1,544 cycles at 1,544 MHz are a microsecond
    assert found.peak_gflops == pytest.approx(model.peak_gflops(model.load("gtx580")))
    assert found.instructions is None


def test_no_traffic_is_no_intensity():
    """A launch without memory accesses has an intensity of 0 operations per byte, and without operations no rates."""
    assert taking(".kernel k\n.flops 32\nFADD R1, R1, R1\nEXIT\n", 100).flops_per_byte == 0
    assert taking(".kernel k\nFADD R1, R1, R1\nEXIT\n", 100).instructions is None


@pytest.mark.jit
def test_a_launch_that_the_l2_serves_has_the_roofs_of_l1_and_l2():
    """A warm L2 leaves the DRAM nothing to move: the instructions have their rate, and L1 and L2 are the roofs."""
    kernel = listing.read(TEXT.replace(".flops 512\n", ""))
    found = summary(simulate(kernel, model.load("h200", {"cache.hits": "tags", "l2.filled": 1}), values=False))
    assert [one.level for one in found.roofs] == ["L1", "L2"]
    assert found.instructions.speed > 0
    assert found.instructions.per_byte == found.flops_per_byte == 0


def test_a_launch_limited_by_memory_is_on_the_roof():
    """A launch that takes the time to move its two lines has the rate of the roof at its intensity, within 3 %."""
    moving = 2 * float(line_cycles(model.load("gtx580")))  # a line read and a line written
    found = taking(TEXT, round(moving))
    assert found.gflops == pytest.approx(found.flops_per_byte * found.bandwidth_gbs, rel=0.03)


def test_where_tags_say_what_misses_bytes_are_those_that_moved():
    """On a machine with tags, each of 16 warps reads 4 sectors and writes 4: a word in and a word out per operation."""
    result = simulate(listing.read(TEXT), "h200", values=False)
    found, (dram, *_) = summary(result), memory_rates(result)
    assert found.flops_per_byte == pytest.approx(result.gflops / dram.gbs)
    assert 1 / 16 <= found.flops_per_byte <= 1 / 4


def test_without_operations_thread_instructions_count():
    """Ten instructions of each thread for the same 8 bytes, under one instruction per scheduler and issue slot."""
    found = taking(TEXT.replace(".flops 512\n", ""), 1544).instructions
    assert found.per_byte == pytest.approx(10 / 8, rel=0.01)
    assert found.speed == pytest.approx(16 * 32 * 10 / 1e-6 / 1e9)
    assert found.peak == pytest.approx(16 * 2 / 2 * 32 * 1.544)
    assert found.speed < found.bound < found.peak
