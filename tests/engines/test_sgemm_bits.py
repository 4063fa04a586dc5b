"""The timed SGEMM computes what sequential fused arithmetic does."""

import fused
import numpy as np
import pytest

from gpusim.engines.simulate import run_sm
from gpusim.machine.machine import load
from isa.memory import bases, view
from workloads.papers.lai.lai import LAYOUTS, sgemm_lai


@pytest.mark.jit
@pytest.mark.parametrize("lds", [32, 64, 128])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_timed_result_is_the_fused_reference_to_the_last_bit(layout, lds):
    """With two blocks on one SM, each layout and width gives all bits of the reference, within the bound of float64."""
    kernel = sgemm_lai(192, 96, 32, layout, lds)
    run = run_sm(kernel, load("gtx580", {"chip.sms": 1}))
    buffers, where = {b.name: b for b in kernel.buffers}, bases(kernel.buffers)
    for block in range(kernel.blocks):
        promise = kernel.expected(block)
        got = view(run.memory, buffers[promise.buffer], where[promise.buffer])[promise.index]
        assert np.array_equal(got.view(np.uint32), fused.lai(kernel.arguments, block).ravel().view(np.uint32))
        assert (np.abs(got - promise.value) <= promise.bound).all()
