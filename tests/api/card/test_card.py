"""A simulated card, launched on by itself."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from lowered import SCALE, stand_in

import gpusim
from gpusim.api.card.card import Call, Card
from gpusim.api.card.clock import device_interface
from gpusim.machine.machine import load

DATA = Path(__file__).parent.parent.with_name("isa") / "sass" / "data"
REST = (np.int32(1), np.int8(2), np.float64(3))


@pytest.fixture
def flip(monkeypatch):
    """A kernel that doubles the elements of its first argument."""
    stand_in(monkeypatch, SCALE.replace("c[x]", "c[argument1]"))
    return gpusim.RawModule(path=DATA / "sm_90.cubin").get_function("flip")


def call(function, array):
    """Return a launch of one block."""
    return Call(function, (1, 1, 1), 32, 0, (array, *REST), None)


def numbers():
    """Return the numbers of a warp."""
    return np.arange(32, dtype=np.float32)


@pytest.mark.jit
def test_launches_take_the_cards_time(flip):
    """Values are left in the arrays, and two events are as far apart as the launch between them takes."""
    card, array = Card(load("h200")), numbers()
    times = device_interface(card, 0)
    begin, end = times.Event(enable_timing=True), times.Event(enable_timing=True)
    begin.record()
    card.launch(call(flip, array))
    end.record()
    assert array.tolist() == (2 * numbers()).tolist()
    assert begin.elapsed_time(end) == card.launches[0].milliseconds > 0


@pytest.mark.jit
def test_a_benchmark_simulates_alike_launches_once(flip):
    """While its memory is held, launches with arrays of equal shapes take the first one's time; values stay."""
    card, arrays = Card(load("h200")), (numbers(), numbers())
    held = card.benchmark()
    for array in arrays:
        card.launch(call(flip, array))
    assert [array.tolist() for array in arrays] == [numbers().tolist()] * 2
    assert card.milliseconds == 2 * card.launches[0].milliseconds
    assert len(card.launches) == 1
    del held
    card.launch(call(flip, arrays[0]))
    assert arrays[0].tolist() == (2 * numbers()).tolist()


@pytest.mark.jit
def test_a_cleared_l2_takes_time_to_clear_and_has_nothing(flip):
    """256 MB at the DRAM's bandwidth pass, the launch after it is later than a warm one, and the next is warm again."""
    card = Card(load("h200"))
    card.clear()
    assert card.milliseconds == pytest.approx(256 * 2**20 / 4.8e12 * 1e3)
    for _ in range(2):
        card.launch(call(flip, numbers()))
    cold, warm = (one.milliseconds for one in card.launches)
    assert cold > warm


@pytest.mark.jit
def test_the_whole_results_of_the_last_launches_are_kept(flip):
    """Figures of all launches stay, results with their memory only of the last four."""
    card = Card(load("h200"))
    for _ in range(6):
        card.launch(call(flip, numbers()))
    assert (len(card.launches), len(card.results)) == (6, 4)


def test_launches_that_differ_are_not_alike(flip):
    """A cluster, or a grid that may synchronise, makes another launch of a benchmark; other arrays don't."""
    one = call(flip, numbers())
    assert one.key() == call(flip, numbers()).key()
    others = [replace(one, cluster=(1, 1, 1)), replace(one, cooperative=True)]
    assert len({each.key() for each in (one, *others)}) == 3


@pytest.mark.jit
def test_a_launch_returns_how_it_ran(flip):
    """It is the result that is kept last; a launch that a benchmark repeats has none."""
    card = Card(load("h200"))
    assert card.launch(call(flip, numbers())) is card.results[-1]
    held = card.benchmark()
    assert card.launch(call(flip, numbers())) is card.results[-1]
    assert card.launch(call(flip, numbers())) is None
    del held
