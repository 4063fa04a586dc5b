"""The timeline as text."""

from __future__ import annotations

import re

from draws import draws
from hypothesis import given, settings
from hypothesis import strategies as st
from read.worked import timeline_of
from strategies.launches import REPEATABLE
from strategies.timeline_documents import timelines

from gpusim.views.rows import spans
from gpusim.views.text import text
from gpusim.views.timeline.dependence import born, over

LOAD = """\
<text> on a changed gtx580 (GeForce GTX 580), lrr
settings unit.move.latency=4
cycles 0 to 644 of 644; warps 0 of 1; 1 scheduler, each with a slot every 2
cycles

warp   pc  instruction         0         10        20      ~603~631      640
   0    0  MOV R1, c[x]        I=----------------D
   0    1  LDG R0, [R1]          iiiiwwwwwwwwwwwwI=--------~~~~~----D
   0    2  FADD R2, R0, R0                         iiiigggg~~~~~gggggI=------
   0    3  EXIT                                                        iiiiI

i  issue_interval   has just issued; one warp may issue only every so many
                    cycles
w  wait             waits for the result of a fixed-latency instruction
g  long_scoreboard  waits for global, local or texture memory, copies or tensor
                    cores
I  selected         issues
=  occupies         occupies its pipe, the load/store unit or the copy engine
-  under_way        its result or access, or a phase of a barrier, is under way
D  done             its result is there, or its access has left the SM
~  nothing changes: as many cycles are left out as the numbers above say
"""


def test_a_load_and_its_reader():
    """By hand: MOV 0 to 18, LDG 18 to 635, FADD 636, EXIT 642; most of the long wait is left out."""
    assert text(timeline_of("long_scoreboard", settings={"unit.move.latency": 4})) == LOAD


def test_a_queue_shows_its_letter():
    """The second load issues at 2, is queued until 8 and served until 16; its result comes at 54."""
    (row,) = (line for line in text(timeline_of("mio_throttle"), 120).splitlines() if re.match(r" +1 +0 ", line))
    assert row.split("] ")[-1].strip() == "nnIqqqqq========" + "-" * 38 + "D"


@settings(REPEATABLE, max_examples=draws(100))
@given(timelines(), st.integers(60, 160))
def test_every_line_fits_and_every_instruction_has_a_row(document, width):
    """No line is longer than asked for, and each instruction has a row wherever it does something."""
    lines = text(document, width).splitlines()
    assert max(map(len, lines)) <= width
    rows = sum(bool(re.match(r" *\d+ +(0x[0-9a-f]+|\d+)  ", line)) for line in lines)
    panels = sum(bool(re.match("warp +(pc|offset)  ", line)) for line in lines)
    alive = [one for one in document.instructions if born(one) < document.end and over(one) > document.start]
    assert len(alive) <= rows <= panels * len(alive)


@settings(REPEATABLE, max_examples=draws(100))
@given(timelines())
def test_the_spans_of_an_instruction_follow_each_other(document):
    """From the first cycle that it waits to the one in which it is done there is no gap and no overlap."""
    for one in document.instructions:
        found = list(spans(one))
        assert [span.end for span in found[:-1]] == [span.start for span in found[1:]]
        assert found[0].start == born(one)
        assert all(span.start < span.end for span in found)
