"""Shuffles of compiled code (tests/isa/sass/data/shuffles.cu) give each lane the value that CUDA defines."""

from pathlib import Path

import numpy as np
import pytest

import gpusim

DATA = Path(__file__).with_name("isa") / "sass" / "data"
CODES = ("shuffles_75", "shuffles_90")
LANES = np.arange(32)


def call(code, name, threads, *arguments):
    """Run a kernel by one block; what it leaves is in the arrays."""
    gpusim.RawModule(path=DATA / f"{code}.cubin").get_function(name)((1,), (threads,), arguments)


@pytest.mark.jit
@pytest.mark.parametrize("code", CODES)
def test_a_value_that_one_lane_has_comes_to_all(code):
    """Lanes that have not set the variable read that of lane 0."""
    bad = np.ones(64, np.int32)
    call(code, "bcast", 64, np.int32(1234), bad)
    assert not bad.any()


@pytest.mark.jit
@pytest.mark.parametrize("code", CODES)
def test_two_lanes_exchange_then_all_shift(code):
    """Lanes 0 and 16 exchange sums under a mask of these two; then each lane reads the one eight below, if there is."""
    found = np.zeros(32, np.int32)
    call(code, "two", 32, found)
    values = LANES + 32
    values[[0, 16]] = (2 * LANES + 32)[[16, 0]]
    assert found.tolist() == [*values[:8], *values[:-8]]


@pytest.mark.jit
@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize(("name", "mask"), [("wm", [np.uint32(0xFFFF)]), ("wmc", [])])
def test_a_mask_that_lacks_lanes_of_a_whole_warp_changes_nothing(code, name, mask):
    """Where all lanes are together the compiler drops the mask: all read lane 0's value, those of no mask too."""
    found = np.zeros(64, np.int32)
    call(code, name, 64, found, *mask)
    assert found.tolist() == [0] * 32 + [32] * 32


@pytest.mark.jit
@pytest.mark.parametrize("code", CODES)
def test_lanes_without_a_thread_give_zero(code):
    """A minimum over 20 threads by shuffles takes the zeros of the 12 lanes that have none."""
    found = np.arange(20, dtype=np.float32) + 5
    call(code, "pw", 20, found)
    assert found.tolist() == [0.0] * 20


@pytest.mark.jit
@pytest.mark.parametrize("code", CODES)
def test_lanes_on_both_ways_of_a_branch_exchange(code):
    """With a full mask in both arms each lane reads its partner's value of the other arm."""
    found = np.arange(64, dtype=np.int32)
    values = np.where(found % 32 < 16, found * 3 + 7, found * 5 - 7)
    call(code, "br", 64, found, np.int32(7))
    assert found.tolist() == values.reshape(2, 2, 16)[:, ::-1].reshape(-1).tolist()
