"""What stores to local memory surely send: never more than a run does."""

import msgspec
import pytest
from draws import draws
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies.launches import REPEATABLE, kernels, launches

from gpusim.bounds.memory import local_stores
from gpusim.engines.simulate import run_chip
from gpusim.sm.memory.account.declaration import L2_WRITTEN, LOCAL
from gpusim.sm.memory.cache.declaration import tagged
from isa.executing.faults import LIMIT
from isa.row import Unit


@pytest.mark.jit
@settings(REPEATABLE, max_examples=draws(60))
@given(launches(kernels(most_blocks=9)), st.sampled_from(("through", "copied")), st.sampled_from((0, 1, 2, 24)))
def test_no_run_sends_less(launched, kept, waiting):
    """A random kernel sends as many sectors of local memory at least, with any number of lines that wait."""
    kernel, machine = launched
    if not tagged(machine) or not machine.l1 or not machine.l2 or not machine.l2_channel:
        return
    replace = msgspec.structs.replace
    channel = replace(machine.l2_channel, store_lines=waiting)
    machine = replace(
        machine, l1=replace(machine.l1, local_stores=kept), l2_channel=channel, chip=replace(machine.chip, sms=2)
    )
    code = kernel.program.instructions
    pcs = frozenset(pc for pc, i in enumerate(code) if i.row.unit is Unit.LOCAL and i.row.is_store)
    least = local_stores.sent(kernel, tuple(range(kernel.blocks)), 2, pcs, waiting, LIMIT)
    account = run_chip(kernel, machine, feed="trace-driven").account
    assert account[:, LOCAL, L2_WRITTEN].sum() >= least.sum()
