"""Independent lanes as an H200 has them: which lanes ran together at each place of sixteen programs (measured).

tests/measured/parted_lanes.cu notes at each place T the lanes that run, lane by lane; parted_lanes.npz has what the
chip noted.
"""

import numpy as np
import pytest
from interpreter.interpret import interpret
from parted_lanes import NOTES, kernel, notes

CASES = (0, 1, 4)  # inputs: two random ones, and the numbers from 0 on
PARTED = "brx4", "ends", "deep"  # a jump table, nested branches
ALIGNED = "warpboth", "warppart", "syncs"  # WARPSYNC and collectives on both ways
GIVING_WAY = "yields", "sleeps"  # lanes that spin until others have gone on
SEVERAL_WAYS_OUT = "r_fib", "r_mutual", "ptr", "callboth", "early", "nest", "tab", "locks"  # of calls and loops


@pytest.mark.parametrize(
    "name", [*PARTED, *ALIGNED, *GIVING_WAY, *(pytest.param(name, marks=pytest.mark.long) for name in SEVERAL_WAYS_OUT)]
)
def test_the_lanes_that_run_together_are_those_of_the_chip(name):
    """At each place that a lane passes, the same lanes run with it as on an H200, and it passes as many places."""
    for case in CASES:
        launched = kernel(name, case)
        found, count = notes(launched, interpret(launched).memory)
        masks, places = NOTES[f"{name}.{case}.masks"], NOTES[f"{name}.{case}.ids"]
        assert np.array_equal(count, NOTES[f"{name}.{case}.count"])
        assert np.array_equal(found[: len(masks), 1], masks)
        assert np.array_equal(found[: len(masks), 2], places)
        assert not found[len(masks) :].any()
