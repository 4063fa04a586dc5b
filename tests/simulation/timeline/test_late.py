"""How late loads are: beyond the latency of the slice of the L2 that has their line."""

import pytest

from gpusim.machine.machine import load
from gpusim.simulation.timeline.build import timeline
from isa.text.listing import read

TEXT = """
.block {threads}
.buffer x u32 1024
    S2R R0, TID.X
    SHL R1, R0, 2
    IADD R1, R1, c[x]
    LDG R2, [R1]
    MOV R3, R2
    EXIT
"""


def loads(threads):
    """Return the loads of warps that load a line each, of an H200 whose L2 holds these."""
    document = timeline(read(TEXT.format(threads=threads)), load("h200", {"cache.hits": "tags", "l2.filled": 1}))
    return [one for one in document.instructions if one.pc == 3]


@pytest.mark.jit
def test_two_neighbouring_lines_of_an_idle_l2_are_not_late():
    """One lies near and takes 276 cycles, the other far, and takes 308; two of each are for its sectors: no wait."""
    found = loads(64)
    assert [(one.level, one.done - one.begin, one.late) for one in found] == [("L2", 276, 0), ("far L2", 308, 0)]


@pytest.mark.jit
def test_lines_of_both_sides_are_as_late_as_they_wait():
    """Of 32 warps whose lines take the channel longer than their requests some wait, at either side, and no more."""
    found = loads(1024)
    idle = {"L2": 276, "far L2": 308}
    assert [one.late for one in found] == [one.done - one.begin - idle[one.level] for one in found]
    assert {one.level for one in found if one.late} == set(idle)
