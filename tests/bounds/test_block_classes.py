"""Classes of blocks: what each executes, counted and not assumed."""

import numpy as np
import pytest
from interpreter.interpret import interpret

from gpusim.bounds import block_classes
from gpusim.bounds.block_classes import bordering, classes, standing
from gpusim.bounds.bounds import bound
from gpusim.bounds.profiled import profiled
from gpusim.machine.machine import load
from isa.text.listing import read

ONE = load("gtx580", {"chip.sms": 1})
LIMIT = 10_000
BORDER = """.grid 6 5
.block 64
.buffer a f32 4096
S2R R0, CTAID.X
S2R R1, CTAID.Y
S2R R2, TID.X
IMAD R2, R0, 64, R2
ISETP.LT P0, R2, 350
@P0 FADD R3, R3, 1.0
ISETP.EQ P1, R1, 4
@P1 EXIT
FADD R3, R3, 1.0
EXIT
"""


def test_blocks_at_borders_are_classes():
    """Of 6 x 5 blocks those of the right column have idle threads and those of the last row end early: four classes."""
    found = classes(read(BORDER), range(30), LIMIT)
    right, last = np.arange(30) % 6 == 5, np.arange(30) // 6 == 4
    assert [set(places.tolist()) for places in found.members()] == [
        set(np.flatnonzero(kind).tolist()) for kind in (~right & ~last, right & ~last, ~right & last, right & last)
    ]


def test_the_work_of_a_block_is_what_the_interpreter_executes():
    """Each block's warp instructions are those of the interpreter, for all blocks and for every third."""
    kernel = read(BORDER)
    each = [int(interpret(kernel, [block]).counts.sum()) for block in range(30)]
    assert classes(kernel, range(30), LIMIT).work.tolist() == each
    assert classes(kernel, range(0, 30, 3), LIMIT).work.tolist() == each[::3]


@pytest.mark.parametrize("end", [0, 5])
def test_three_blocks_of_a_row_stand_for_blocks_that_are_too_long(end, monkeypatch):
    """Where all blocks are too much work, a row's ends and middle tell that of all, whichever end is the border."""
    kernel = read(BORDER.replace("ISETP.EQ P1, R1, 4", f"ISETP.EQ P1, R0, {end}"))
    each = classes(kernel, range(30), LIMIT, threads=False).work.tolist()
    assert len(set(each)) == 2
    monkeypatch.setattr(block_classes, "MOST", 300)
    assert classes(kernel, range(30), LIMIT - 1, threads=False) is None
    assert bordering(kernel, range(30), LIMIT).work.tolist() == each
    assert bordering(kernel, range(0, 30, 3), LIMIT).work.tolist() == each[::3]
    monkeypatch.setattr(block_classes, "MOST", 30)
    assert bordering(kernel, range(30), LIMIT) is None


def test_a_sample_of_each_class_bounds_what_all_blocks_do():
    """The bound of 30 blocks from those that stand for their class is that of all 30, of which fewer are profiled."""
    kernel = read(BORDER)
    found = profiled(kernel, ONE, range(30), 1, LIMIT)
    counts = sum(work.blocks * work.profile.counts for work in found.works)
    assert np.array_equal(counts, interpret(kernel, range(30)).counts)
    assert (found.alike, found.counted) == (False, 30)
    assert bound(kernel, ONE).profiled_blocks == len(found.works) < 10


def test_no_classes_where_memory_decides(monkeypatch):
    """What loaded values guard can't be counted beforehand; nor are blocks with too much work or too many classes."""
    loaded = ".grid 4\n.buffer a f32 64\nMOV R0, c[a]\nLDG R1, [R0]\nISETP.LT P0, R1, 5\n@P0 FADD R2, R2, 1.0\nEXIT"
    assert classes(read(loaded), range(4), LIMIT) is None
    monkeypatch.setattr(block_classes, "FEW", 3)
    assert classes(read(BORDER), range(30), LIMIT) is None
    monkeypatch.setattr(block_classes, "FEW", 4)
    monkeypatch.setattr(block_classes, "MOST", 100)
    assert classes(read(BORDER), range(30), LIMIT) is None


def test_shares_of_those_that_stand_for_others_add_up():
    """Of 10 places up to three stand for all, first and last among them; one place stands for itself."""
    assert standing([4], 3) == {4: 1}
    found = standing(list(range(10)), 3)
    assert (min(found), max(found), len(found), sum(found.values())) == (0, 9, 3, 10)
