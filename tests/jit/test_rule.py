import os
import subprocess
import sys

import pytest

NAMES = """
import numba
from gpusim.jit.rule import entry
@entry
def outermost(a):
    return a
outermost(1)
(result,) = outermost.overloads.values()
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
