"""Fetches by texture objects in both engines."""

from dataclasses import replace

import numpy as np
import pytest
from draws import draws
from hardware import texture_replay
from hardware.textures import CASES
from hypothesis import given, settings
from interpreter.interpret import interpret
from strategies.textures import fetches

from gpusim.engines.simulate import run_sm
from gpusim.machine.machine import load

H200 = load("h200")
CACHES = {"tags": H200, "none": load("h200", {"cache.hits": "none"})}
FETCHED = next(n for n, case in enumerate(CASES) if case.kernel == "sample2" and case.sampling == "linear")


@pytest.mark.jit
@settings(max_examples=draws(25), deadline=None)
@given(fetches())
def test_the_engines_fetch_what_the_interpreter_fetches(drawn):
    """Of a random texture all three leave the same words, and both engines take the same cycles."""
    made = texture_replay.launched(*drawn)
    ours = texture_replay.found(made, interpret(made).memory)
    runs = [run_sm(made, H200, engine=engine) for engine in ("compiled", "reference")]
    assert all(np.array_equal(texture_replay.found(made, run.memory), ours) for run in runs)
    assert runs[0].cycles == runs[1].cycles


@pytest.mark.jit
@pytest.mark.parametrize("hits", CACHES)
def test_a_filter_moves_more_than_the_nearest_texel(hits):
    """The same coordinates with a filter never take less time than without one; caches move as much at least."""
    case, texels, places = CASES[FETCHED], *texture_replay.of_table(FETCHED)
    point, linear = (
        run_sm(texture_replay.launched(replace(case, sampling=sampling), texels, places), CACHES[hits])
        for sampling in ("point", "linear")
    )
    assert hits == "tags" or point.cycles <= linear.cycles
    assert hits == "none" or 0 < point.sectors["loaded"] <= linear.sectors["loaded"]


@pytest.mark.jit
def test_recorded_streams_take_the_same_time():
    """A fetch whose coordinates do not depend on memory takes the same cycles by trace as with values."""
    made = texture_replay.kernel(FETCHED)
    assert run_sm(made, H200, feed="address-only").cycles == run_sm(made, H200).cycles
