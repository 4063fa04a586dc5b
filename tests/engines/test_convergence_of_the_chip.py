"""Convergence in the engines: small programs (tests/measured/convergence.txt, parted_bars.cu) note what an H200 did."""

import numpy as np
import pytest
from convergence_programs import MOST, by_lane, kernel, measured
from parted_bars import AS_COMPILED, CASES, ENDING, as_on_the_chip
from parted_bars import kernel as at_barriers

from gpusim.engines.simulate import run_sm
from gpusim.machine.machine import load
from gpusim.sm.jit.rule import COMPILED
from isa import memory
from isa.errors import DeadlockError

H200 = load("h200", {"chip.sms": 1})


def notes(launched):
    """What a run notes, lane by lane; None: it hangs."""
    try:
        words = run_sm(launched, H200).memory
    except DeadlockError:
        return None
    first = memory.bases(launched.buffers)["notes"] // 4
    return by_lane(words[first : first + MOST * 64])


@pytest.mark.long
def test_each_program_notes_what_the_chip_noted():
    """At each place the lanes that run with a lane are those of the chip, and what hangs there hangs here."""
    programs = [one for one in measured().values() if one.name != "call_sync"]  # waits where others come along
    for one in programs[:: 1 if COMPILED else 20]:
        found, expected = notes(kernel(one)), by_lane(one.notes) if one.ends else None
        assert np.array_equal(found, expected) if one.ends else found is None, one.name


@pytest.mark.long
@pytest.mark.jit
@pytest.mark.parametrize("file", ENDING)
def test_lanes_pass_a_barrier_as_on_the_chip(file):
    """Lanes that come apart to a barrier of the block note what they noted on the chip, and leave the same sums."""
    for name in ENDING[file][:: 1 if COMPILED else 5]:
        for case in CASES[: 3 if COMPILED else 1]:
            launched = at_barriers(file, name, case)
            assert as_on_the_chip(file, name, case, launched, run_sm(launched, H200).memory), (name, case)


@pytest.mark.jit
def test_lanes_that_spin_before_a_barrier_of_all_deadlock():
    """Lanes that spin until others of their warp have passed a barrier, which waits for them, never end, as there."""
    with pytest.raises(DeadlockError):
        run_sm(at_barriers(AS_COMPILED, "b_passed", 0), H200)
