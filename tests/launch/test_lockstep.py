"""How many blocks of each wave ask for the same lines at the same time."""

import pytest

from gpusim.launch.caches.lockstep import first, near, waves
from gpusim.sm.memory.l2_share.declaration import PARTS

X, Y, Z = 1, 2, 4


def parts(grid, sms, along, count, resident=1):
    """Return the shares of the first waves."""
    return [found / PARTS for found in waves(grid, sms, resident, along)[:count]]


def test_rows_that_fill_waves_stay_in_step():
    """Where rows are whole parts of a wave all blocks of a row begin together, in all waves."""
    assert parts((3, 40, 1), 12, X, 8) == [1] * 8
    assert parts((3, 40, 1), 6, X, 8, resident=2) == [1] * 8


def test_rows_that_cross_waves_lose_step():
    """Rows of 3, waves of 4, by hand: blocks 4 and 5 find row 1, and 8 finds row 2; row 4 begins with the last wave.

    So 2 of 4 SMs stay in step in the second wave, 3 of 4 of these in the third, and all that are left in the last.
    """
    assert parts((3, 5, 1), 4, X, 4) == [1, 0.5, 0.375, 0.375]


def test_an_sm_of_two_blocks_stays_in_step_with_both():
    """Rows of 3 on two SMs with two blocks each, by hand: half of the second wave's blocks, a quarter of its SMs."""
    assert parts((3, 5, 1), 2, X, 3, resident=2) == [1, 0.25, round(0.25 * 0.75**2 * PARTS) / PARTS]


def test_what_all_blocks_ask_for_is_new_to_the_first_wave_only():
    """A line of all blocks, or of a column, has been brought when the second wave begins."""
    assert parts((4, 8, 1), 4, X | Y | Z, 4) == [1, 0, 0, 0]
    assert parts((4, 8, 1), 4, Y, 4) == [1, 0, 0, 0]


def test_a_wave_that_finds_everything_loses_no_step():
    """Rows of two waves are new to every other one, and all its blocks begin them together."""
    assert parts((8, 8, 1), 4, X, 5) == [1, 0, 1, 0, 1]


def test_what_nobody_shares_is_always_new():
    """A line of one block is new to it in every wave."""
    assert parts((4, 8, 1), 4, 0, 8) == [1] * 8


@pytest.mark.parametrize(("along", "expected"), [(0, 23), (X, 21), (Y, 14), (Z, 11), (X | Y | Z, 0), (X | Y, 12)])
def test_the_first_block_that_asks_for_the_same(along, expected):
    """Of a grid of 3 x 4 x 2, block 23 is (2, 3, 1): axes along which a line is shared begin at 0."""
    assert first(23, (3, 4, 2), along) == expected


@pytest.mark.parametrize(
    ("step", "grid", "count"),
    [
        ((4, 0, 0), (264, 1, 1), 128),  # words of blocks in a row
        ((512, 0, 0), (264, 1, 1), 2),
        ((1024, 0, 0), (264, 1, 1), 1),
        ((0, 0, 0), (264, 1, 1), 0),  # one word for all
        ((0, 512, 0), (33, 8, 1), 66),  # sums of columns: as many blocks as have the same columns
        ((0, 256, 0), (33, 8, 1), 66),
        ((512, 16896, 0), (33, 8, 1), 2),
        ((4, 0, (1 << 32) - 8), (16, 5, 3), 640),
    ],
)
def test_a_slice_does_the_atomics_of_blocks_with_places_near_each_other(step, grid, count):
    """They are as many as lie in two of four pieces of 256 bytes, once for each block that has the same place."""
    assert near(step, grid, 256) == count


def test_where_a_slice_has_no_size_all_blocks_may_meet_there():
    """Without L2 slices nothing is counted."""
    assert near((4, 0, 0), (264, 1, 1), 0) == 0
