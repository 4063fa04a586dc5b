"""Convergence in the engines: the small programs of tests/measured/convergence.txt note what an H200 noted."""

import numpy as np
from convergence_programs import MOST, by_lane, kernel, measured

from gpusim.engines.simulate import run_sm
from gpusim.jit.rule import COMPILED
from gpusim.machine.machine import load
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


def test_each_program_notes_what_the_chip_noted():
    """At each place the lanes that run with a lane are those of the chip, and what hangs there hangs here."""
    programs = [one for one in measured().values() if one.name != "call_sync"]  # waits where others come along
    for one in programs[:: 1 if COMPILED else 20]:
        found, expected = notes(kernel(one)), by_lane(one.notes) if one.ends else None
        assert np.array_equal(found, expected) if one.ends else found is None, one.name
