"""Whole periods taken at once: on and off give the same answer to the last unit, and steady loops are skipped."""

from __future__ import annotations

import numpy as np
import pytest
from draws import draws
from hypothesis import given, settings
from strategies.launches import REPEATABLE, launches, looping_kernels
from twins import differences

from gpusim.engines import compiled
from gpusim.engines.simulate import run_sm
from gpusim.launch.launch import launch
from gpusim.machine.machine import load
from gpusim.sm.jit.rule import COMPILED, NEVER
from gpusim.sm.state import recurrence
from gpusim.sm.state.room import made, sizes, whole
from gpusim.sm.unit.declare import Role
from gpusim.sm.unit.dimensions import REGISTER, WARP
from isa.errors import LimitError
from workloads.catalog import make

GTX580 = load("gtx580")
WIDE_GRID = load("gtx580", {"chip.sms": 4})  # waves of few blocks
STEADY = {
    "chain": {"length": "20", "iterations": "3000"},
    "throughput": {"iterations": "600"},
    "mix": {"iterations": "300", "warps": "4"},
    "bank-conflict": {"stride": "2", "iterations": "600"},
    "sgemm-lai": {"m": "96", "n": "96", "k": "4800"},
}


def on_and_off(kernel, machine=GTX580):
    """The launch with and without fast-forward."""
    return [run_sm(kernel, machine, feed="trace-driven", fast_forward=forward) for forward in (True, False)]


@pytest.mark.jit
@settings(REPEATABLE, max_examples=draws(150 if COMPILED else 3))
@given(launches(looping_kernels(), tags=False))
def test_on_and_off_agree_on_random_loops(launched):
    """Cycles, counts per instruction, stalls and lost slots are those of the full simulation."""
    kernel, machine = launched
    forward, full = on_and_off(kernel, machine)
    assert (forward.feed, full.skipped, differences(forward, full)) == ("trace-driven", 0, [])


@pytest.mark.slow
@settings(REPEATABLE, max_examples=draws(2000))
@given(launches(looping_kernels(), tags=False))
def test_on_and_off_agree_on_many_random_loops(launched):
    """The same on two thousand pairs of kernel and machine."""
    kernel, machine = launched
    forward, full = on_and_off(kernel, machine)
    assert differences(forward, full) == []


@pytest.mark.jit
@pytest.mark.parametrize("name", STEADY)
def test_steady_loops_are_skipped(name):
    """Of a long steady loop at least 95 % of the cycles are taken at once, with the answer of the full simulation."""
    forward, full = on_and_off(make(name, STEADY[name]))
    assert differences(forward, full) == []
    assert forward.skipped > 0.95 * full.cycles


@pytest.mark.long
@pytest.mark.jit
def test_two_blocks_that_drift_are_skipped():
    """A wave that comes to an earlier wave's state follows it to its end: over 90 % of cycles are taken at once."""
    forward, full = on_and_off(make("sgemm-lai", {"m": "960", "n": "960", "k": "4800", "lds": "128"}), WIDE_GRID)
    assert differences(forward, full) == []
    assert forward.skipped > 0.9 * full.cycles


@pytest.mark.jit
def test_blocks_that_follow_each_other_are_skipped():
    """If all blocks do the same and the SM holds one at a time, blocks are taken at once: over 80 % of the cycles."""
    kernel = make("throughput", {"iterations": "3", "blocks": "1600"})
    forward, full = on_and_off(kernel, load("gtx580", {"limits.blocks": "1"}))
    assert differences(forward, full) == []
    assert forward.skipped > 0.8 * full.cycles


@pytest.mark.jit
def test_the_limit_is_met_at_the_same_cycle():
    """A limit inside a skipped period ends the simulation at the same cycle as without skipping."""
    kernel = make("chain", {"length": "20", "iterations": "100"})
    cycles = run_sm(kernel, GTX580).cycles
    for forward in (True, False):
        with pytest.raises(LimitError, match=f"still running after {cycles - 50} cycles"):
            run_sm(kernel, GTX580, feed="trace-driven", fast_forward=forward, max_cycles=cycles - 50)


def test_every_word_of_the_state_has_a_role():
    """Each field of the state has its own role or that of its record; a record without either is refused."""
    used = sizes({})
    assert {word.field.role for word in recurrence.words("sm", used)} == set(recurrence.ROLES)
    with pytest.raises(TypeError, match="pc has no role"):
        list(recurrence.words("stack_entry", used))


def test_the_words_of_a_field_are_found():
    """Writing a field through its record changes exactly the words at the field's indices."""
    used = sizes({WARP: 2, REGISTER: 3})
    sms = made("sm", 1, used)
    array = whole(sms)
    array[array == 7] = 0
    sms[0].warps.ready[:] = 7
    (ready,) = [word for word in recurrence.words("sm", used) if word.path == "warps.ready"]
    assert np.flatnonzero(array == 7).tolist() == ready.places.tolist()


@pytest.mark.parametrize("machine", ["gtx580", "h200", "v100"])
def test_what_is_said_to_be_fixed_never_changes(machine):
    """Where states are compared, each word that a launch changes has a role by which it may, or is FREE."""
    changes = {} if machine == "gtx580" else {"cache.hits": "none"}
    kernel, where = make("sgemm-lai", {"m": "96", "n": "96", "k": "16"}), load(machine, changes)
    started = launch(kernel, where, feed="trace-driven", fast_forward=True)
    assert started.sm.forwarding
    before = whole(started.sms).copy()
    compiled.run(started.sms, started.memory, recurrence.recurrence(started.sms, started.sizes), NEVER, NEVER)
    changed = np.flatnonzero(whole(started.sms) != before)
    may = {*recurrence.ROLES, Role.FREE}
    known = np.concatenate([word.places for word in recurrence.words("sm", started.sizes, may)])
    assert changed.size > 1000
    assert np.setdiff1d(changed, known).tolist() == []
