import pytest
from strategies.timeline_documents import by_hand

from gpusim.timeline.dependence import born, name, over, producers
from gpusim.timeline.document import NONE, Issued, Line, Wait
from gpusim.units.stall import Stall, label

PROGRAM = [Line(0, "LDS\tR1,\n[R0]", "shared")]
LOAD = Issued(7, 3, 0, 0, 0, issue=2, begin=5, end=7, done=30, lanes=32)
DEPENDS = {"barrier", "wait", "short_scoreboard", "long_scoreboard", "war_hazard", "drain"}


def waiting(*waits):
    return Issued(8, 3, 0, 0, 0, 40, NONE, NONE, NONE, 32, waits)


@pytest.mark.parametrize("reason", list(map(label, Stall)))
def test_some_reasons_are_dependences(reason):
    """A result, a read, an arrival and the end of accesses are waited for; a pipe, a place or a turn is not."""
    found = producers(waiting(Wait(reason, 3, 40, 7)), {7: LOAD})
    assert found == ([LOAD] if reason in DEPENDS else [])


def test_each_producer_comes_once_and_in_order():
    """However often it was waited for; those that the document leaves out do not come."""
    other = Issued(4, 3, 0, 0, 0, 1, NONE, NONE, 9, 32)
    waits = Wait("wait", 3, 9, 7), Wait("war_hazard", 9, 20, 4), Wait("wait", 20, 30, 7), Wait("wait", 30, 40, 1)
    assert producers(waiting(*waits), {7: LOAD, 4: other}) == [other, LOAD]


def test_an_instruction_lives_from_its_first_wait_until_nothing_is_left():
    """Without waits from its issue; without pipe and result for a cycle, else until the later of the two."""
    assert (born(LOAD), over(LOAD)) == (2, 30)
    assert (born(waiting()), over(waiting())) == (40, 41)
    assert born(waiting(Wait("wait", 3, 9, 7), Wait("not_selected", 9, 40))) == 3
    assert over(Issued(0, 0, 0, 0, 0, 5, begin=6, end=20, done=12, lanes=32)) == 20


def test_a_name_is_one_line():
    """Text, warp and pc, with blanks where the text had tabs and ends of lines."""
    lines = {line.pc: line for line in by_hand(PROGRAM, [LOAD], 40).program}
    assert name(LOAD, lines) == "LDS R1, [R0] (warp 3, pc 0)"
