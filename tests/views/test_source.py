from hypothesis import given
from strategies.launches import timelines
from strategies.timeline_documents import by_hand

from gpusim.views.source import Sum, place, sums
from gpusim.views.timeline.document import NONE, Issued, Line, Wait

PROGRAM = [Line(0, "LDG", "global", file="k.cu", line=3), Line(1, "FFMA", "fp32", file="k.cu", line=3), Line(2, "", "")]


def issued(number, pc, issue, *waits):
    """Return an instruction of warp 0."""
    return Issued(number, 0, 0, pc, 0, issue, NONE, NONE, NONE, 32, waits)


def test_a_line_has_the_sums_of_its_instructions():
    """Two instructions of line 3 issue twice and wait 4 and 7 cycles; the third, of no line, is alone."""
    waits = Wait("wait", 1, 5), Wait("long_scoreboard", 6, 13)
    document = by_hand(PROGRAM, [issued(0, 0, 5, waits[0]), issued(1, 1, 13, waits[1]), issued(2, 2, 14)], 20)
    found = sums(document, place)
    assert found == {("k.cu", 3): Sum(2, {"wait": 4, "long_scoreboard": 7}), ("", 0): Sum(1, {})}
    assert found["k.cu", 3].waited == 11


@given(timelines())
def test_only_the_cycles_shown_count(document):
    """The sums of all instructions are the issues, and the cycles of each wait, one by one, within the document."""
    shown = set(range(document.start, document.end))
    waited = {}
    for one in document.instructions:
        for wait in one.waits:
            waited[wait.reason] = waited.get(wait.reason, 0) + len(shown & set(range(wait.start, wait.end)))
    found = sums(document, lambda line: line.pc)
    assert sum(one.issues for one in found.values()) == sum(i.issue in shown for i in document.instructions)
    assert {reason: sum(one.waits[reason] for one in found.values()) for reason in waited} == waited


@given(timelines())
def test_lines_add_up_to_instructions(document):
    """Issues and waits by line of source add up to those by instruction."""
    lines, code = (sums(document, key).values() for key in (place, lambda line: line.pc))
    for figure in (lambda one: one.issues, lambda one: one.waited):
        assert sum(map(figure, lines)) == sum(map(figure, code))
