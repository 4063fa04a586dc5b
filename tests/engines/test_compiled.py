"""The compiled engine: agents in order, from one time on the agenda to the next."""

import numpy as np
import pytest
from mutated import BUSY, CHANGES
from timing import plain_machine
from twins import differences

from gpusim.engines import compiled
from gpusim.engines.simulate import run_sm
from gpusim.launch.launch import launch
from gpusim.sm.account.record.declaration import RETIRE
from gpusim.sm.state.recurrence import recurrence
from gpusim.sm.unit.capacities import NEVER
from isa.text.listing import read


def test_an_engine_can_stop_and_go_on():
    """Advancing in steps of 7 cycles ends in the same cycle and with the same memory as one advance to the end."""
    kernel, machine = read(BUSY), plain_machine(CHANGES)
    prepared = launch(kernel, machine)
    roles = recurrence(prepared.sms, prepared.sizes)
    until = 0
    while (now := int(compiled.run(prepared.sms, prepared.memory, roles, until, NEVER))) < NEVER:
        assert now >= until
        until = now + 7
    whole = run_sm(kernel, machine)
    assert int(prepared.sm.cycles) == whole.cycles
    assert np.array_equal(prepared.memory[: len(whole.memory)], whole.memory)


def test_the_same_launch_gives_the_same_run():
    """Two runs of one launch agree in every record and every sum: nothing is left over from the first."""
    kernel, machine = read(BUSY), plain_machine(CHANGES)
    assert differences(run_sm(kernel, machine, trace=True), run_sm(kernel, machine, trace=True)) == []


@pytest.mark.jit
def test_a_trace_longer_than_its_array_is_whole():
    """A trace of more records than its array holds has every issue, in order of time."""
    text = ".block 128\nagain:\nIADD R0, R0, 1\nISETP.LT P0, R0, 3000\n@P0 BRA again\nEXIT"
    run = run_sm(read(text), plain_machine(), trace=True)
    assert len(run.trace) == run.warp_instructions + 2 == 4 * (3 * 3000 + 1) + 2
    assert (np.diff(run.trace.cycle) >= 0).all()
    assert not run.trace.release_at[run.trace.kind == RETIRE].any(), "what an earlier record left in the array"
