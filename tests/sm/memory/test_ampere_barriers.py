"""Barriers in shared memory of sm_80, whose words code counts by atomics (tests/data/ampere_barriers.cu, nvcc 13.0)."""

import numpy as np
import pytest
from read.fenced import ROOT
from warpgroup_code import module, result

from gpusim.engines.simulate import ENGINES, run_sm
from gpusim.engines.walks.program_order import walk
from gpusim.machine.machine import load

H200 = load("h200", {"chip.sms": 1})  # an A100 has no pipe for `ARRIVES` in its file


def launched(name, block, *arguments):
    """Return the launch of one block."""
    code = module("ampere_barriers", ROOT / "tests" / "data")
    return code.get_function(name).launched((1,), (block,), arguments)


def everywhere(made, number):
    """Yield what the array of an argument holds in program order, and by each engine."""
    yield result(walk(made).memory, made, number, np.uint32)
    for engine in ENGINES:
        yield result(run_sm(made, H200, engine=engine).memory, made, number, np.uint32)


def told(rounds, count):
    """Return what the states of arrivals tell, by the PTX ISA: how many were to come before, and whether that is over.

    After so many arrivals one leaves for good, then as many come again, and one at the end, which ends no phase.
    """
    pending, found = count, []
    for leaves in [False] * rounds + [True] + [False] * (rounds + 1):
        before, pending = pending, pending - 1
        count -= leaves
        over = pending == 0
        pending = count if over else pending
        found += [before, int(over)]
    return found


@pytest.mark.parametrize("rounds", [1, 2, 5, 8])
def test_states_tell_of_arrivals_and_phases(rounds):
    """A phase of four ends with its last arrival; behind one that leaves, phases have three."""
    for found in everywhere(launched("states", 1, np.zeros(4 * rounds + 4, np.uint32), np.int32(rounds)), 1):
        assert found.tolist() == told(rounds, 4)


@pytest.mark.parametrize("followed", [0, 1])
def test_arrivals_follow_copies(followed):
    """Two warps see each other's words behind a phase whose arrivals follow the copies, or count beside others."""
    words = np.arange(64, dtype=np.uint32) + 100
    for found in everywhere(launched("copies", 64, words, np.zeros(64, np.uint32), np.int32(followed)), 2):
        assert found.tolist() == words[::-1].tolist()
