"""The dependence chain over warps that wait for each other, and for copies, at barriers in shared memory."""

import numpy as np
import pytest
from bulk_programs import H200
from draws import draws
from hypothesis import given, settings
from strategies.rounds import UNIT, Rounds, rounds

from benchmarks.tensor import kernels as ten
from gpusim.bounds.bounds import bound, dependence_chain, works
from gpusim.engines.simulate import run_sm
from gpusim.machine.machine import load

CHAIN = "dependence chain"


def of_one_round(units=0, copies=1, idle=0, warps=1):
    """Return the chain of one round in which the first warp asks for copies of so many 16 bytes; all wait for it."""
    steps = np.full((1, warps), 1 | idle << 16, np.uint32)
    steps[0, 0] = 1 | copies << 6 | units << 8
    return bound(Rounds(steps, warps).launch(), H200).limits[CHAIN]


@settings(max_examples=draws(20), deadline=None)
@given(rounds())
def test_no_run_of_random_rounds_beats_the_chain(drawn):
    """Warps that arrive, copy and wait in any way take at least as long as the chain over them."""
    launched = drawn.launch()
    assert bound(launched, H200).limits[CHAIN] <= run_sm(launched, H200).cycles


def test_a_longer_copy_takes_the_way_from_the_l2_for_longer():
    """The chain of a copy of 4,080 bytes is that of one of 128, and the time of 3,952 bytes on the way behind these."""
    engine = H200.copy_engine
    more = (255 * UNIT - 128) // 32 * engine.load_parts // 64
    assert of_one_round(255) - of_one_round(8) == more


def test_a_warp_waits_for_the_copy_of_another():
    """A second warp that asks for nothing ends no sooner than the first: the copy's latency is in the chain of both."""
    assert of_one_round(8, warps=2) - of_one_round(copies=0, warps=2) == of_one_round(8) - of_one_round(copies=0)
    assert of_one_round(8, warps=2) > of_one_round(copies=0, warps=2) + 200


@pytest.mark.jit
def test_products_and_their_copies_are_in_one_chain():
    """Tiles of 128 x 128 by two warpgroups: each of the 16 steps waits for its copies, and multiplies for 256 cycles.

    The chain of the average warp alone has neither; no run beats the one over warps.
    """
    machine = load("h200", {"cache.hits": "tags", "l2.filled": 1})
    (launch,) = (one for one in ten.launches(further=True) if str(one) == "wg128_tma3 solo k=1024")
    launched = ten.kernel(launch)
    chain = bound(launched, machine).limits[CHAIN]
    (alone,) = map(dependence_chain, works(launched, machine)[0])
    assert chain > alone + 16 * 64
    assert chain > 16 * 4 * 64
    assert chain <= run_sm(launched, machine).cycles
