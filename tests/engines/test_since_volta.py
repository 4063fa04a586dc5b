"""The engine's code for machines since Volta, with numbers that these share as constants."""

import numpy as np
import pytest

from gpusim.engines import compiled
from gpusim.launch.feed import EXECUTION_DRIVEN, TRACE_DRIVEN
from gpusim.launch.launch import launch
from gpusim.launch.packing import packed
from gpusim.machine.file import names
from gpusim.machine.machine import load
from gpusim.sm.state.recurrence import recurrence
from gpusim.sm.unit.capacities import NEVER
from workloads.measured.whole import launch as whole


@pytest.mark.parametrize("name", names())
def test_machines_that_execute_machine_code_have_these_numbers(name):
    """All machines that execute machine code take this code, and no others do."""
    machine = load(name)
    assert packed(machine, flagged=True).since_volta == (machine.architecture != "")


@pytest.mark.parametrize("setting", ["schedulers.policy=gto", "dependence.yield_stall=3", "shared_memory.banks=16"])
def test_a_machine_with_another_number_takes_the_code_for_all(setting):
    """One other number is enough."""
    key, _, value = setting.partition("=")
    assert packed(load("h200", {key: int(value) if value.isdigit() else value}), flagged=True).since_volta == 0


@pytest.mark.jit
@pytest.mark.parametrize("feed", [EXECUTION_DRIVEN, TRACE_DRIVEN])
def test_results_are_those_of_the_code_for_all_machines(feed):
    """Cycles, stalls, lost slots and memory of a block of a matrix product are the same with either code."""
    ran = [_ran(feed, since_volta) for since_volta in (0, 1)]
    for one, other in zip(*ran, strict=True):
        assert np.array_equal(one, other)


def _ran(feed, since_volta):
    """What a block leaves that runs with this code."""
    started = launch(whole.kernel("sgemm_64x64_4x4_v1", "full"), load("h200"), blocks=1, feed=feed)
    started.sm.machine.since_volta = since_volta
    compiled.run(started.sms, started.memory, recurrence(started.sms, started.sizes), NEVER, NEVER)
    lost = [scheduler.lost for scheduler in started.sm.schedulers]
    assert started.program.issued.sum() == 238_848
    return started.sm.now, started.program.stall, started.program.issued, lost, started.memory
