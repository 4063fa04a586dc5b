"""The bound counts the tensor pipe and shared memory's reads of wgmma: a product of four steps, worked by hand."""

import pytest
from read.fenced import ROOT

import gpusim
from gpusim.launch.file.prepare import prepared

pytestmark = pytest.mark.jit


def test_a_tile_of_64_by_64():
    """wgmma.cu multiplies 64 x 64 x 16 eight times: 32 cycles of each pipe, and 16 + 16 of the port, each time."""
    kernel = prepared(str(ROOT / "examples" / "tensor" / "wgmma.cubin"))
    found = gpusim.bound(kernel, gpusim.load("h200"))
    assert found.limits["pipe tensor"] == 8 * 32
    assert found.limits["load/store unit"] > 8 * 32


def test_its_run_takes_longer_and_finds_the_values_right():
    """The bound is below the cycles, and every element is exact."""
    kernel = prepared(str(ROOT / "examples" / "tensor" / "wgmma.cubin"))
    result = gpusim.simulate(kernel, gpusim.load("h200"))
    assert result.bound.cycles < result.cycles
    assert (result.verification.scope, result.verification.wrong) == ("complete", 0)
