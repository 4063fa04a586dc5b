import pytest

from gpusim.bounds.roofline import summary
from gpusim.machine import machine as model
from gpusim.units.global_memory import line_cycles
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


def test_operations_per_byte_are_those_of_the_program():
    """One operation for 4 bytes read and 4 written; within 1 %, as the bound counts whole cycles."""
    found = summary(listing.read(TEXT), model.load("gtx580"), cycles=1544)
    assert found.flops_per_byte == pytest.approx(1 / 8, rel=0.01)
    assert found.gflops == pytest.approx(512 / 1e-6 / 1e9)  # 1,544 cycles at 1,544 MHz are a microsecond
    assert found.peak_gflops == pytest.approx(model.peak_gflops(model.load("gtx580")))


def test_no_traffic_is_no_intensity():
    """A launch without memory accesses has an intensity of 0 operations per byte."""
    text = ".kernel k\n.flops 32\nFADD R1, R1, R1\nEXIT\n"
    assert summary(listing.read(text), model.load("gtx580"), cycles=100).flops_per_byte == 0


def test_a_launch_limited_by_memory_is_on_the_roof():
    """A launch that takes the time to move its two lines has the rate of the roof at its intensity, within 3 %."""
    kernel, machine = listing.read(TEXT), model.load("gtx580")
    moving = 2 * float(line_cycles(machine))  # a line read and a line written
    found = summary(kernel, machine, cycles=round(moving))
    assert found.gflops == pytest.approx(found.flops_per_byte * found.bandwidth_gbs, rel=0.03)
