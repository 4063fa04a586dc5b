"""Independent lanes in the engines: values, counts and times of programs whose lanes part and meet."""

import numpy as np
import pytest
from draws import draws
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from interpreter.interpret import interpret
from parted_lanes import NOTES, kernel, notes
from scan.every_cycle import scan
from strategies.launches import REPEATABLE, launches
from strategies.parting_lanes import kernels
from twins import differences, mistakes, run_both

from gpusim.bounds.bounds import bound
from gpusim.engines.simulate import run_sm
from gpusim.machine.machine import load
from gpusim.machine.occupancy import occupancy
from gpusim.sm.jit.rule import COMPILED
from isa.errors import DeadlockError

H200 = load("h200", {"chip.sms": 1})


def truth_of(kernel):
    """What the interpreter makes of a kernel; None if warps wait for ever, as they then do in the engine, too."""
    try:
        return interpret(kernel)
    except DeadlockError:
        with pytest.raises(DeadlockError):
            run_sm(kernel, H200)
        return None


@settings(REPEATABLE, max_examples=draws(80 if COMPILED else 3))
@given(kernels())
def test_values_and_counts_are_those_of_the_interpreter(kernel):
    """Memory, registers, warp instructions and active threads equal those of the interpreter, pc by pc."""
    truth = truth_of(kernel)
    if truth is None:
        return
    run = run_sm(kernel, H200)
    assert np.array_equal(run.memory[: len(truth.memory)], truth.memory)
    assert np.array_equal(run.issued[: len(truth.counts)], truth.counts)
    assert np.array_equal(run.active[: len(truth.active)], truth.active)


@pytest.mark.long
@settings(REPEATABLE, max_examples=draws(40 if COMPILED else 1))
@given(launches(kernels()))
def test_twins_agree(launched):
    """The compiled and the reference engine agree on records, stalls, registers and memory, on any machine."""
    assume(truth_of(launched[0]) is not None)
    assert differences(*run_both(*launched)) == []


@pytest.mark.long
@settings(REPEATABLE, max_examples=draws(60 if COMPILED else 1))
@given(launches(kernels()))
def test_a_scan_of_every_cycle_agrees(launched):
    """Events, stalls, lost slots and values equal those of a scan that asks all warps in each slot."""
    kernel, machine = launched
    assume(truth_of(kernel) is not None)
    run = run_sm(kernel, machine, trace=True)
    assert mistakes(run, scan(kernel, machine, min(occupancy(kernel, machine).blocks, kernel.blocks))) == []


@pytest.mark.jit
@pytest.mark.long
@settings(REPEATABLE, max_examples=draws(60))
@given(launches(kernels()))
def test_no_simulation_beats_the_bound(launched):
    """The bound of a launch is at most its simulated cycles, on any machine."""
    kernel, machine = launched
    assume(truth_of(kernel) is not None)
    assert bound(kernel, machine).cycles <= run_sm(kernel, machine).cycles


@pytest.mark.jit
@pytest.mark.long
@settings(REPEATABLE, max_examples=draws(60))
@given(kernels(steady=True), st.sampled_from(("address-only", "trace-driven")))
def test_feeds_agree(kernel, feed):
    """Cycles and stalls are the same whether values are computed at issue, or addresses only, or beforehand."""
    assume(truth_of(kernel) is not None)
    every, other = run_sm(kernel, H200), run_sm(kernel, H200, feed=feed)
    assert every.cycles == other.cycles
    assert np.array_equal(every.stalls, other.stalls)
    assert np.array_equal(every.active, other.active)


@pytest.mark.jit
@pytest.mark.long
@pytest.mark.parametrize("name", ["r_fib", "early", "nest", "tab", "locks"])
def test_parted_lanes_take_as_long_as_on_the_chip(name):
    """From the first note to the last, programs of over ten thousand cycles take within 15 % of what an H200 took."""
    launched = kernel(name, 0)
    found, _ = notes(launched, run_sm(launched, load("h200", {"chip.sms": 1, "cache.hits": "tags"})).memory)
    times = found[:, 0][found[:, 1] != 0].astype(np.int64)
    assert (times.max() - times.min()) / NOTES[f"{name}.0.cycles"] == pytest.approx(1, abs=0.15)
