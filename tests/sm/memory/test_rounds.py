"""Random rounds at a barrier in shared memory, with arrivals of every form and bulk copies."""

import numpy as np
import pytest
from bulk_programs import H200, left
from draws import draws
from hypothesis import given, settings
from strategies.rounds import BARRIER, rounds

from gpusim.engines.simulate import run_sm
from gpusim.engines.walks.program_order import walk


def check(drawn, memory, launched):
    """Check what a memory image holds against the counts and copies by definition."""
    word, held = drawn.left()
    found = left(launched, memory)[2].view(np.uint8)
    assert int(found[:8].view(np.uint64)[0]) == word
    assert np.array_equal(found[BARRIER:], held)


@pytest.mark.jit
@given(drawn=rounds())
@settings(max_examples=draws(60), deadline=None)
def test_engines_and_program_order_leave_what_the_rounds_say(drawn):
    """Barrier and copies are as counted by hand; both engines take the same cycles, for the same reasons, as traced."""
    launched = drawn.launch()
    check(drawn, walk(launched).memory, launched)
    runs = [run_sm(launched, H200, engine=engine, trace=True) for engine in ("compiled", "reference")]
    for run in runs:
        check(drawn, run.memory, launched)
    assert runs[0].cycles == runs[1].cycles
    assert np.array_equal(runs[0].stalls, runs[1].stalls)
    assert np.array_equal(runs[0].trace, runs[1].trace)
