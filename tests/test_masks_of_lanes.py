"""Collectives of a warp under masks that differ between lanes, in machine code (tests/isa/sass/data/masks.cu).

The expected numbers are CUDA's definitions of them. Ballots in one place and on two ways were compared with an H100.
"""

from pathlib import Path

import numpy as np
import pytest

import gpusim

DATA = Path(__file__).with_name("isa") / "sass" / "data"
CODE = {"masks_80": "a100", "masks_90": "h200", "masks_90_plain": "h200"}  # by the machine that it runs on
LANES = np.arange(32)
GROUPS = {
    "all": LANES * 0,
    "halves": LANES // 16,
    "every fourth": LANES % 4,
    "unlike": LANES * 7 % 11 % 3,
    "alone": LANES,
}
X = LANES.astype(np.uint32) * 5 % 7


def masks_of(groups):
    """Return for each lane the mask of the lanes of its group."""
    return [sum(1 << int(lane) for lane in LANES if groups[lane] == own) for own in groups]


def inside(mask):
    """Return the lanes of a mask."""
    return [lane for lane in range(32) if mask >> lane & 1]


def result(code, kernel, masks):
    """Return what a kernel leaves, 32 numbers a row."""
    out = np.zeros((4, 32), np.uint32)
    module = gpusim.RawModule(path=DATA / f"{code}.cubin")
    module.get_function(kernel)((1,), (32,), (np.array(masks, np.uint32), X, out), machine=CODE[code])
    return out.tolist()


def ballot(mask):
    """Return the lanes of a mask whose number is odd."""
    return sum(1 << lane for lane in inside(mask) if X[lane] & 1)


@pytest.mark.jit
@pytest.mark.parametrize("code", CODE)
@pytest.mark.parametrize("groups", GROUPS)
def test_lanes_take_part_with_those_of_their_mask(code, groups):
    """Ballot, match, sum, any and all of lanes in one place are each those of the lane's own group."""
    masks = masks_of(GROUPS[groups])
    match = [sum(1 << lane for lane in inside(mask) if X[lane] == x) for mask, x in zip(masks, X, strict=True)]
    sums = [sum(int(X[lane]) for lane in inside(mask)) for mask in masks]
    told = [2 * any(X[i] == 3 for i in inside(mask)) + all(X[i] < 6 for i in inside(mask)) for mask in masks]
    assert result(code, "here", masks) == [[ballot(mask) for mask in masks], match, sums, told]


@pytest.mark.jit
@pytest.mark.parametrize("code", CODE)
@pytest.mark.parametrize("groups", GROUPS)
def test_lanes_of_a_mask_meet_from_two_ways(code, groups):
    """A ballot's lanes come from both sides of a branch; lanes of neither side, and their bits, are in no mask."""
    taking = sum(1 << lane for lane in range(32) if lane % 8 < 7)
    masks = [mask & taking for mask in masks_of(GROUPS[groups])]
    expected = [ballot(mask) + (lane % 8 > 2) if lane % 8 < 7 else 7 for lane, mask in enumerate(masks)]
    assert result(code, "both", masks)[0] == expected
