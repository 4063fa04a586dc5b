"""The SIMT stack: which lanes of a warp go on after a branch, in which order, and where they meet.

The issues and their active lanes are read from the trace of a single warp; R0 of lane i is i.
"""

import pytest
from timing import run_text

from gpusim.sm.account.record.declaration import TRACE_KINDS

HEAD = "S2R R0, LANEID\nISETP.LT P0, R0, 8\nISETP.LT P1, R0, 2\n"  # pc 0 to 2


def ways(text: str, threads: int = 32) -> list[tuple[int, int]]:
    """The pc of each issue from pc 3 on, in order, and the number of lanes in which its guard holds."""
    trace = run_text(f".block {threads}\n{HEAD}{text}").trace
    issues = [record for record in trace if TRACE_KINDS[record.kind] == "issue"]
    return [(int(record.pc), int(record.lanes)) for record in issues][3:]


def test_lanes_that_do_not_jump_go_first_and_all_meet():
    """8 lanes jump: the other 24 execute pc 4 and 5, then the 8 execute pc 6, and all 32 go on at pc 7."""
    text = "@P0 BRA low\nMOV R1, 1\nBRA both\nlow:\nMOV R1, 2\nboth:\nNOP\nEXIT"
    assert ways(text) == [(3, 8), (4, 24), (5, 24), (6, 8), (7, 32), (8, 32)]


def test_ways_inside_a_way_meet_before_it_ends():
    """Of the 8 lanes that jump, 2 jump again: the other 6 execute pc 7, the 8 meet at pc 8, and the 32 at pc 10."""
    text = """@P0 BRA low
    NOP
    BRA both
    low:
    @P1 BRA lowest
    NOP
    lowest:
    NOP
    NOP
    both:
    EXIT"""
    assert ways(text) == [(3, 8), (4, 24), (5, 24), (6, 2), (7, 6), (8, 8), (9, 8), (10, 32)]


@pytest.mark.parametrize(("threads", "jump"), [(32, 8), (8, 8), (4, 4)])
def test_a_branch_that_all_lanes_take_does_not_diverge(threads, jump):
    """All lanes of a warp of 8 or of 4 threads jump over pc 4; of 32 lanes the other 24 execute it."""
    rest = [(4, 24)] if threads == 32 else []
    assert ways("@P0 BRA low\nNOP\nlow:\nEXIT", threads) == [(3, jump), *rest, (5, threads)]


def test_ways_that_never_meet_go_to_their_ends_one_after_the_other():
    """The 24 lanes that do not jump go first, to their own EXIT at pc 8; the 8 that jump exit without meeting them."""
    text = "@P0 BRA out\nNOP\nBRA on\nout:\nEXIT\non:\nNOP\nEXIT"
    assert ways(text) == [(3, 8), (4, 24), (5, 24), (7, 24), (8, 24), (6, 8)]


@pytest.mark.parametrize(("guard", "gone"), [("@P1", 2), ("@!P1", 6)])
def test_lanes_that_have_exited_are_not_waited_for(guard, gone):
    """2 or 6 of the 8 lanes that jump exit at pc 5; the rest execute pc 6, and meet the other 24 at pc 7."""
    text = f"@P0 BRA low\nBRA both\nlow:\n{guard} EXIT\nNOP\nboth:\nNOP\nEXIT"
    assert ways(text) == [(3, 8), (4, 24), (5, gone), (6, 8 - gone), (7, 32 - gone), (8, 32 - gone)]


def test_lanes_leave_a_loop_one_by_one():
    """Lane i takes i + 1 rounds: 4, 3, 2 and then 1 of 4 threads are in the loop, and all 4 go on together."""
    text = "again:\nIADD R1, R1, 1\nISETP.LE P2, R1, R0\n@P2 BRA again\nEXIT"
    rounds = [(3, 4), (4, 4), (5, 3), (3, 3), (4, 3), (5, 2), (3, 2), (4, 2), (5, 1), (3, 1), (4, 1), (5, 0)]
    assert ways(text, threads=4) == [*rounds, (6, 4)]
