"""Arithmetic pipes: initiation interval, private or shared."""

import pytest
from timing import cycles_of, issue_times, run_text

TWO_WARPS = ".block 64\nMUFU.RCP R0, R1\nEXIT"


@pytest.mark.parametrize(("lanes", "interval"), [(32, 6), (16, 6), (4, 8), (2, 16), (1, 32)])
def test_a_pipe_takes_a_warp_every_32_over_lanes_cycles(lanes, interval):
    """Independent instructions of one warp follow at the pipe's interval, or at the reissue interval of 6."""
    text = "MUFU.RCP R0, R1\nMUFU.RCP R2, R3\nMUFU.RCP R4, R5\nEXIT"
    assert issue_times(text, {"pipe.sfu.lanes": lanes}) == [0, interval, 2 * interval]


@pytest.mark.parametrize(("shared", "second"), [(0, 0), (1, 8)])
def test_only_a_shared_pipe_makes_schedulers_wait_for_each_other(shared, second):
    """Two schedulers issue to the sfu pipe in the same cycle if each has its own."""
    run = run_text(TWO_WARPS, {"schedulers.count": 2, "pipe.sfu.shared": shared, "pipe.sfu.lanes": 4})
    assert [cycle for cycle, warp, pc in cycles_of(run) if pc == 0] == [0, second]


def test_an_instruction_whose_guard_is_false_does_not_take_its_pipe():
    """After one that is switched off, the pipe is free at once; the warp's own interval remains."""
    assert issue_times("@P0 MUFU.RCP R0, R1\nMUFU.RCP R2, R3\nEXIT", {"pipe.sfu.lanes": 1}) == [0, 6]


def test_pipe_cycles_are_counted():
    """A run reports for each pipe the cycles for which it was taken."""
    run = run_text(
        "MUFU.RCP R0, R1\nMUFU.RCP R2, R3\nFADD R4, R5, R6\nEXIT", {"pipe.sfu.lanes": 4, "pipe.sp.lanes": 16}
    )
    assert (run.pipe_cycles["sfu"], run.pipe_cycles["sp"], run.pipe_cycles["dp"]) == (16, 2, 0)
