"""What stores to local memory surely send: never more than a run does."""

import msgspec
import numpy as np
import pytest
from draws import draws
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from strategies.launches import REPEATABLE, kernels, launches

from gpusim.bounds.memory import local_stores
from gpusim.engines.simulate import run_chip
from gpusim.sm.memory.account.declaration import L2_WRITTEN, LOCAL
from gpusim.sm.memory.cache.declaration import tagged
from isa.executing.faults import LIMIT
from isa.kernel import Kernel
from isa.row import Unit
from isa.text.listing import read


@pytest.mark.jit
@settings(REPEATABLE, max_examples=draws(60))
@given(launches(kernels(most_blocks=9)), st.sampled_from(("through", "copied")), st.sampled_from((0, 1, 2, 24)))
def test_no_run_sends_less(launched, kept, waiting):
    """A random kernel sends as many sectors of local memory at least, with any number of lines that wait."""
    kernel, machine = launched
    assume(tagged(machine) and machine.l1 and machine.l2 and machine.l2_channel)
    replace = msgspec.structs.replace
    channel = replace(machine.l2_channel, store_lines=waiting)
    machine = replace(
        machine, l1=replace(machine.l1, local_stores=kept), l2_channel=channel, chip=replace(machine.chip, sms=2)
    )
    least = _least(kernel, waiting)
    account = run_chip(kernel, machine, feed="trace-driven").account
    assert account[:, LOCAL, L2_WRITTEN].sum() >= least.sum()


def _least(kernel: Kernel, waiting: int) -> NDArray[np.int64]:
    code = kernel.program.instructions
    pcs = frozenset(pc for pc, i in enumerate(code) if i.row.unit is Unit.LOCAL and i.row.is_store)
    return local_stores.sent(kernel, tuple(range(kernel.blocks)), 2, pcs, waiting, LIMIT)


def test_each_warp_sends_its_words():
    """Two blocks of one warp, on two SMs, that store a word of each lane: four sectors each, if no line waits."""
    kernel = read(".grid 2\n.local 32\nSTL [RZ], R0\nEXIT")
    assert _least(kernel, 0).sum() == 2 * 4
