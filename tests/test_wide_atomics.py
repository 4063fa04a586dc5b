"""Atomics of 128 bits in global and shared memory, from the cubin of tests/isa/sass/data/wide_atomics.cu.

What each thread finds is worked out here by one thread after the other, with Python's numbers.
"""

from pathlib import Path

import numpy as np
import pytest
from interpreter.interpret import interpret

import gpusim
from isa import memory

CUBIN = Path(__file__).with_name("isa") / "sass" / "data" / "wide_atomics_90.cubin"
LANES = range(32)
OWN = [(3 * i + 1, 5 * i + 2) for i in LANES]
NEAR = [(100 + i, 200 + i) for i in range(4)]

pytestmark = pytest.mark.jit


def lines(values):
    """Return an array of lines of 16 bytes."""
    return np.array(values, np.uint64).reshape(-1, 2)


def left(name, *arrays):
    """Run one warp, compiled and by the interpreter, which leave the same, and return what the arrays then hold."""
    run = gpusim.RawModule(path=CUBIN).get_function(name)((1,), (32,), arrays)
    words, bases = interpret(run.kernel).memory, memory.bases(run.kernel.buffers)
    own = [memory.view(words, one, bases[one.name]) for one in run.kernel.buffers if one.name.startswith("argument")]
    assert [one.tobytes() for one in own] == [one.tobytes() for one in arrays]
    return [[tuple(line) for line in one.tolist()] for one in arrays]


def exchanged(places, held):
    """Return what each lane finds, at its place, where it leaves its own line; `held` is changed."""
    found = []
    for place, own in zip(places, OWN, strict=True):
        found.append(held[place])
        held[place] = own
    return found


def test_an_exchange_hands_back_whole_lines():
    """Each lane finds what the one 7 before it has left, both halves of it; the last ones' lines remain."""
    held = [(0, 0)] * 8
    found = exchanged([i % 7 for i in LANES], held)
    assert left("exchange", lines(np.zeros(16)), lines(np.zeros(64))) == [held, found]


@pytest.mark.parametrize(
    ("before", "after", "first"),
    [
        ((0, 7), (32, 7), 0),  # every lane finds what it expects
        ((5, 7), (32, 7), 5),  # the lanes from 5 on do
        ((0, 6), (0, 6), 32),  # the lower half is expected, the upper one is not
        ((99, 7), (99, 7), 32),  # the upper half alone is
    ],
)
def test_a_swap_needs_both_halves(before, after, first):
    """Lane i puts {i + 1, 7} where it finds {i, 7}, and leaves both halves where one differs."""
    found = [before if i < first else (i, 7) for i in LANES]
    assert left("swap", lines([before]), lines(np.zeros(64))) == [[after], found]


def test_shared_memory_exchanges_and_swaps_lines():
    """Exchanges as in global memory; then the last lane of each line puts back what it found, and so on downwards."""
    held = list(NEAR)
    found = exchanged([i % 4 for i in LANES], held)
    seen = []
    for i in LANES:
        seen.append(held[i % 4])
        held[i % 4] = found[i] if held[i % 4] == OWN[i] else held[i % 4]
    assert left("shared", lines(np.zeros(2 * 68))) == [[*found, *seen, *held]]


def test_lanes_of_one_exchange_may_be_in_both_memories():
    """Odd lanes exchange in shared, even ones in global memory, without a second way."""
    near, far = list(NEAR), [(0, 0)] * 8
    places = [("near", i % 4) if i % 2 else ("far", i % 7) for i in LANES]
    held = {("near", k): line for k, line in enumerate(near)} | {("far", k): line for k, line in enumerate(far)}
    found = exchanged(places, held)
    after = [held["far", k] for k in range(8)]
    assert left("either", lines(np.zeros(16)), lines(np.zeros(64))) == [after, found]
