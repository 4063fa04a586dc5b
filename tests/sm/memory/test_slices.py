"""Slices of the L2 that have more stores to do than others: times worked out by hand, slices as the scan finds them."""

from math import sqrt

import pytest
from scan.sliced_stores import SlicedStores
from test_cache import TAGS
from test_l2_channel import CHANNEL
from timing import cycles_of, plain_machine, run_text

from gpusim.machine.machine import load
from gpusim.sm.memory.l2_channel.declaration import own_slices

# An L2 of two slices, of which each takes eight cycles for a sector; one may be two cycles ahead of the mean.
SLICES = {
    "l2_channel.store_parts": 1,
    "l2_channel.store_bytes": 8,
    "l2_channel.slice_ahead": 2,
    "l2_atomic.slices": 2,
    "l2_atomic.bytes": 256,
    "l2_atomic.sector_parts": 64,
    "l2_atomic.whole_parts": 64,
    "l2_atomic.real_parts": 64,
    "l2_atomic.waiting": 960,
    "global_memory.rule": "sectors",
}


def waited(stride, changes=None):
    """Return for how many cycles the next access waits for a store to whole sectors of four lines, `stride` apart."""
    text = f"""
.buffer x u32 1048576
    S2R R0, LANEID
    SHR R1, R0, 3
    IMUL R1, R1, {stride}
    LOP.AND R0, R0, 7
    SHL R0, R0, 2
    IADD R0, R0, R1
    IADD R0, R0, c[x]
    STG [R0], R1
    LDG R2, [R0]
    EXIT
"""
    run = run_text(text, TAGS | CHANNEL | SLICES | (changes or {}))
    first, second = (cycle for cycle, _, _ in cycles_of(run, "serve"))
    return second - first


@pytest.mark.parametrize(
    ("stride", "ahead", "cycles"),
    [
        (4224, 2, 24),  # all four in one slice
        (1152, 2, 20),  # one in a slice, three in the other
        (1408, 2, 16),  # two in each
        (4224, 100, 16),
        (4224, 0, 16),
        (128, 2, 16),  # side by side
        (1024, 2, 16),
    ],
)
def test_a_slice_that_is_ahead_of_the_others_is_waited_for(stride, ahead, cycles):
    """An L2 moves four sectors in 16 cycles. A sector takes one slice 8, 4 more than the mean.

    All four in one: it has been idle, and may be two cycles behind the mean, at 4 - 2 + 4 = 6. Then the mean is at 8,
    and the slice at 6 + 4, not too far ahead, + 4 = 14. With the third the mean would be at 12, and waits for 18 - 2,
    with the fourth at 20, and waits for 26 - 2.
    """
    assert waited(stride, {"l2_channel.slice_ahead": ahead}) == cycles


def test_lines_are_in_slices_by_a_hash_of_their_pieces():
    """The lines of these strides are in slices as the scan finds them."""
    found = SlicedStores(plain_machine(TAGS | CHANNEL | SLICES), 1)
    slices = {stride: [found.slice_of(32 + i * stride // 128, 0) for i in range(4)] for stride in (4224, 1152, 1408)}
    assert [each.count(each[0]) for each in slices.values()] == [4, 1, 2]


def test_what_chance_gives_to_a_slice():
    """Of 132 SMs in eight groups one slice of 96 gets 96 / sqrt(132 x 8) of a share more; an SM alone is one group."""
    h200 = load("h200")
    assert own_slices(h200, 132) == (8, round(64 * 96 / sqrt(132 * 8)))
    assert own_slices(h200, 1) == (1, 64 * 96)
