import os
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from gpusim.launch.ground import ground
from gpusim.machine.machine import load
from gpusim.sm.account.stall_accounting import stall_accounting
from gpusim.sm.jit.entry import Rule
from gpusim.sm.jit.rule import NEVER
from gpusim.sm.memory.shared_memory import shared_memory
from gpusim.sm.registers.wait_count import wait_count
from gpusim.sm.state.layout import layout
from gpusim.sm.state.room import made, sizes
from gpusim.sm.state.unpacked import unpacked
from gpusim.sm.unit.capacities import COUNTED
from gpusim.sm.unit.dimensions import BANK
from isa.text.listing import read

NAMES = """
import numba
from gpusim.sm.jit.rule import entry
@entry
def outermost(a):
    return a
outermost(1)
((_, _, code),) = outermost.codes.values()
(result,) = code.holder.overloads.values()
print(result.fndesc.llvm_func_name, result.fndesc.env_name)
"""
SUMS = """
import sys
from gpusim.engines.simulate import run_sm
from gpusim.machine.machine import load
from workloads.catalog import make
kernel = make("mix", {"warps": "4", "groups": "2", "iterations": "2"})
print(*(int(run_sm(kernel, load("gtx580"), engine=engine).memory.sum()) for engine in sys.argv[1:]))
"""


def output(script, *arguments, **environment):
    """Return the words that a Python process prints."""
    command = [sys.executable, "-c", script, *arguments]
    done = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True, check=True)
    return done.stdout.split()


@pytest.mark.parametrize(("cycle", "slot"), [(0, 0), (1, 2), (2, 2), (5, 6)])
def test_a_rule_called_from_python_computes_what_its_source_says(cycle, slot):
    """Slots of a scheduler with interval 2 begin at even cycles."""
    machine = np.zeros((), layout("machine"))
    machine["interval"] = 2
    assert stall_accounting.slot_from(unpacked(machine), 0, cycle) == slot


@pytest.mark.jit
def test_a_rule_called_from_python_compiles_nothing():
    """Neither the rule nor a rule that it calls has compiled code afterwards."""
    assert isinstance(shared_memory.passes, Rule)
    calls = [shared_memory.passes, shared_memory._fermi]
    before = [len(rule.dispatcher.overloads) for rule in calls]
    machine = unpacked(ground(read("EXIT"), load("gtx580")).numbers)
    scratch = unpacked(made("scratch", 1, sizes({BANK: 32}))[0])
    scratch.address = [128 * lane for lane in range(32)]
    sm = SimpleNamespace(machine=machine, scratch=scratch)
    assert shared_memory.passes(sm, 0xFFFFFFFF, 1, True) == 32
    assert [len(rule.dispatcher.overloads) for rule in calls] == before


def test_a_rule_compiled_on_demand_is_a_function_too():
    """Called from Python it runs as any other: this one counts an access."""
    warp = SimpleNamespace(unserved=[0, 0], returned=np.zeros((2, COUNTED), np.int64))
    wait_count.commit(warp, SimpleNamespace(counter=1, counted=1, queued=0), 0)
    assert (warp.unserved, int(warp.returned[1, 0])) == ([0, 1], NEVER)


@pytest.mark.long
@pytest.mark.jit
def test_processes_name_their_entries_apart():
    """One entry has different names in two processes, so that a third process can load both."""
    first, second = output(NAMES), output(NAMES)
    assert len(first) == len(second) == 2
    assert not set(first) & set(second)


@pytest.mark.slow
@pytest.mark.jit
def test_entries_cached_by_different_processes_work_together(tmp_path):
    """Two engines cached by two processes compute the same values in a third, which compiles nothing."""
    cache = str(tmp_path)
    output(SUMS, "compiled", NUMBA_CACHE_DIR=cache)
    _, expected = output(SUMS, "compiled", "reference", NUMBA_CACHE_DIR=cache)
    files = sorted(tmp_path.rglob("*.nbc"))
    assert output(SUMS, "compiled", "reference", NUMBA_CACHE_DIR=cache) == [expected, expected]
    assert sorted(tmp_path.rglob("*.nbc")) == files
