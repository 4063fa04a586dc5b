"""Records in compiled code: the same attributes as in Python, wherever arrays lie."""

from __future__ import annotations

from typing import Any

import pytest

from gpusim.sm.jit.rule import entry
from gpusim.sm.state.room import made, sizes
from gpusim.sm.unit.dimensions import EACH_LANE_GROUP, EACH_QUEUE, PLACE, REGISTER, WARP

USED = sizes({WARP: 3, REGISTER: 4, EACH_LANE_GROUP: 3, EACH_QUEUE: 2, PLACE: 3})


@entry
def fill(sms: Any, s: int) -> int:
    """Write numbers of all depths in SM s, and return how long an array is."""
    sm = sms[s]
    sm.now = 100 + s
    for g in range(sm.warps.size):
        sm.warps[g].pc = 10 * g
        for register in range(sm.warps[g].ready.size):
            sm.warps[g].ready[register] = 10 * g + register
            for lane in range(32):
                sm.lanes[g].registers[register, lane] = 1000 * g + 100 * register + lane
    sm.load_store.queues[1].entries[2].warp = 7
    return int(sm.lanes[0].registers.size)


@entry
def mark(sms: Any, slot: int) -> None:
    """Write to what another entry has written, through an array that is kept."""
    times = sms[0].warps[slot].ready
    for register in range(times.size):
        times[register] += 5


@pytest.mark.parametrize("s", [0, 1])
def test_compiled_code_writes_where_python_reads(s):
    """Numbers, arrays of records, arrays in these, and arrays with two dimensions have the values of the rule."""
    sms = made("sm", 2, USED)
    assert fill(sms, s) == 4 * 32
    sm, other = sms[s], sms[1 - s]
    assert (int(sm.now), sm.warps.pc.tolist()) == (100 + s, [0, 10, 20])
    assert sm.warps.ready.tolist() == [[10 * g + r for r in range(4)] for g in range(3)]
    assert int(sm.lanes[2].registers[3, 31]) == 2331
    assert [queue.entries.warp.tolist() for queue in sm.load_store.queues] == [[0, 0, 0], [0, 0, 7]]
    assert (int(other.now), other.warps.ready.any(), other.lanes.registers.any()) == (0, False, False)


def test_one_type_serves_any_number_of_records():
    """One, two and three SMs, and a part of them, are of one type: an entry is compiled once."""
    for number in (1, 2, 3):
        sms = made("sm", number, USED)
        fill(sms, number - 1)
        mark(sms[number - 1 :], 1)
        assert sms[number - 1].warps[1].ready.tolist() == [15, 16, 17, 18]
    assert len(getattr(mark, "overloads", [0])) == 1
