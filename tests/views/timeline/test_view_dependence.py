import pytest
from strategies.timeline_documents import by_hand

from gpusim.sm.unit.stall import Stall, label
from gpusim.views.timeline.dependence import born, name, over, producers
from gpusim.views.timeline.document import NONE, Issued, Line, Wait

PROGRAM = [Line(0, "LDS\tR1,\n[R0]", "shared")]
LOAD = Issued(7, 3, 0, 0, 0, issue=2, begin=5, end=7, done=30, lanes=32)
DEPENDS = {"barrier", "wait", "short_scoreboard", "long_scoreboard", "war_hazard", "drain"}


def waiting(*waits):
    return Issued(8, 3, 0, 0, 0, 40, NONE, NONE, NONE, 32, waits)


@pytest.mark.parametrize("reason", list(map(label, Stall)))
def test_some_reasons_are_dependences(reason):
    """Waits for a result, a read, an arrival or the end of accesses have a producer; others have none."""
    found = producers(waiting(Wait(reason, 3, 40, 7)), {7: LOAD})
    assert found == ([LOAD] if reason in DEPENDS else [])


def test_each_producer_comes_once_and_in_order():
    """Each producer comes once, in order of ids; one that the document lacks does not come."""
    other = Issued(4, 3, 0, 0, 0, 1, NONE, NONE, 9, 32)
    waits = Wait("wait", 3, 9, 7), Wait("war_hazard", 9, 20, 4), Wait("wait", 20, 30, 7), Wait("wait", 30, 40, 1)
    assert producers(waiting(*waits), {7: LOAD, 4: other}) == [other, LOAD]


def test_an_instruction_lives_from_its_first_wait_to_its_end():
    """An instruction lives from its first wait or issue until its pipe and result are done, or for one cycle."""
    assert (born(LOAD), over(LOAD)) == (2, 30)
    assert (born(waiting()), over(waiting())) == (40, 41)
    assert born(waiting(Wait("wait", 3, 9, 7), Wait("not_selected", 9, 40))) == 3
    assert over(Issued(0, 0, 0, 0, 0, 5, begin=6, end=20, done=12, lanes=32)) == 20


def test_a_name_is_one_line():
    """A name is text, warp and pc, with blanks for the tabs and line breaks of the text."""
    lines = {line.pc: line for line in by_hand(PROGRAM, [LOAD], 40).program}
    assert name(LOAD, lines) == "LDS R1, [R0] (warp 3, pc 0)"
