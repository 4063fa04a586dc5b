"""Records lie side by side, and what belongs to each as large as a launch needs it lies behind them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpusim.sm.state.layout import LINE, fields
from gpusim.sm.state.room import arranged, made, sizes, whole
from gpusim.sm.unit.dimensions import BLOCK, EACH_LANE_GROUP, EACH_QUEUE, INSTRUCTION, PLACE, REGISTER, WARP

COUNTS = st.integers(0, 5)
USED = st.fixed_dictionaries(dict.fromkeys((WARP, REGISTER, BLOCK, EACH_QUEUE, PLACE, INSTRUCTION), COUNTS))


@given(st.integers(1, 4), USED)
def test_there_are_as_many_as_the_sizes_say(number, used):
    """Each record has as many warps, rows and blocks, each warp as many registers, each queue as many entries."""
    for sm in made("sm", number, sizes(used)):
        assert (len(sm.warps), len(sm.program), len(sm.blocks)) == (used[WARP], used[INSTRUCTION], used[BLOCK])
        assert all(len(warp.ready) == used[REGISTER] for warp in sm.warps)
        assert [len(queue.entries) for queue in sm.load_store.queues] == [used[PLACE]] * used[EACH_QUEUE]


@given(st.integers(1, 4), USED)
def test_nothing_overlaps(number, used):
    """Arrays filled with different numbers, in all records, keep them."""
    sms, value, filled = made("sm", number, sizes(used)), 0, []
    for sm in sms:
        arrays = [sm.ended, sm.empty_since, *(w.ready for w in sm.warps), *(w.read for w in sm.warps)]
        for array in arrays:
            value += 1
            array[:] = value
            filled.append((array, value))
    assert all((array == value).all() for array, value in filled)


@given(st.integers(1, 3), USED)
def test_arrays_of_neighbouring_records_follow_each_other(number, used):
    """Of all warps at once the column of an array is [warp, register], the same memory as each warp's own."""
    for sm in made("sm", number, sizes(used)):
        column = sm.warps.ready
        assert column.shape == (used[WARP], used[REGISTER] if used[WARP] else 0)
        column[:] = np.arange(column.size).reshape(column.shape)
        assert [warp.ready.tolist() for warp in sm.warps] == column.tolist()


def test_each_array_begins_at_a_line_of_the_hosts_cache():
    """So no two arrays share a line, and threads do not share one between SMs."""
    sms = made("sm", 3, sizes({WARP: 3, REGISTER: 5, INSTRUCTION: 2, EACH_LANE_GROUP: 3}))
    places = [array.ctypes.data for sm in sms for array in (sm.warps, sm.program, sm.blocks, sm.lanes)]
    assert {place % LINE for place in (*places, sms.ctypes.data)} == {0}


def test_two_launches_of_one_size_share_no_memory():
    """What is arranged once is made twice: writing to one leaves the other zero."""
    first, second = (made("sm", 2, sizes({WARP: 2, REGISTER: 3})) for _ in range(2))
    before = whole(second).copy()
    first[1].warps[1].ready[:] = 9
    first["now"] = 9
    assert (whole(second) == before).all()


def test_what_is_nowhere_is_no_attribute():
    """A name that a record or its arrays do not have is an AttributeError that says so."""
    sms = made("sm", 1, sizes({}))
    for of in (sms, sms[0], sms[0].warps):
        with pytest.raises(AttributeError, match="no nonsense"):
            _ = of.nonsense
    assert arranged("sm", sizes({})).begins["warps"] > 0
    assert "warps" in {one.name for one in fields("sm")}
