"""Barriers in shared memory of sm_80, whose words code counts by atomics (tests/data/ampere_barriers.cu, nvcc 13.0)."""

import numpy as np
import pytest
from read.fenced import ROOT
from warpgroup_code import module, result

from gpusim.engines.simulate import ENGINES, run_sm
from gpusim.engines.walks.program_order import walk
from gpusim.machine.machine import load

A100 = load("a100", {"chip.sms": 1})


def launched(name, block, *arguments):
    """Return the launch of one block."""
    code = module("ampere_barriers", ROOT / "tests" / "data")
    return code.get_function(name).launched((1,), (block,), arguments)


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
    made = launched("states", 1, np.zeros(4 * rounds + 4, np.uint32), np.int32(rounds))
    for memory in (walk(made).memory, *(run_sm(made, A100, engine=engine).memory for engine in ENGINES)):
        assert result(memory, made, 1, np.uint32).tolist() == told(rounds, 4)


@pytest.mark.parametrize("followed", [0, 1])
def test_arrivals_follow_copies(followed):
    """Two warps see each other's words behind a phase whose arrivals follow the copies, or count beside others.

    In program order: the file of no machine of sm_80 says what such an arrival costs.
    """
    words = np.arange(64, dtype=np.uint32) + 100
    made = launched("copies", 64, words, np.zeros(64, np.uint32), np.int32(followed))
    assert result(walk(made, limit=100_000).memory, made, 2, np.uint32).tolist() == words[::-1].tolist()
