"""The groups of a warp: in which order lanes of different masks go on."""

import pytest
from interpreter.lanes import convergence
from interpreter.lanes.groups import EVERY, Groups

THIRDS = 0x1542A855, 0x42A8550A, 0xA81502A0  # of 12, 11 and 9 lanes


def order(groups: Groups) -> list[int]:
    """The lanes of each group that runs, if each exits when its turn comes."""
    found = []
    while groups.lanes:
        found.append(groups.lanes)
        convergence.leave(groups, groups.lanes)
    return found


@pytest.mark.parametrize(
    ("masks", "expected"),
    [
        ((0x11111111, 0x22222222, 0x44444444, 0x88888888), [0, 1, 2, 3]),
        (THIRDS, [0, 2, 1]),
        ((0xFFFFFF00, 0xFF), [0, 1]),
        ((0xFFFFFF01, 0xFE), [1, 0]),
        ((EVERY,), [0]),
    ],
)
@pytest.mark.parametrize("collective", [False, True])
def test_the_smaller_part_goes_first(masks, expected, collective):
    """The lowest lane's mask is first, or the next if it has the larger part; the first two cases are an H100's."""
    own = [next(mask for mask in masks if mask >> lane & 1) for lane in range(32)]
    groups = convergence.begin(EVERY)
    if collective:
        convergence.collect(groups, EVERY, own, 1)
    else:
        convergence.part_by_mask(groups, EVERY, own)
    by_lowest = sorted(masks, key=lambda mask: mask & -mask)
    assert order(groups) == [by_lowest[place] for place in expected]
