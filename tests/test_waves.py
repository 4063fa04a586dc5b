"""Estimates from whole waves, compared with runs of all blocks."""

import numpy as np
import pytest

from gpusim.engines.simulate import run_sm
from gpusim.machine.machine import load
from gpusim.simulation import simulate
from gpusim.waves import Share
from isa.errors import UserError
from isa.text.listing import read

pytestmark = pytest.mark.jit
TWO_SMS = load("gtx580", {"chip.sms": 2})
BORDER = """.grid 9 {rows}
.block 256
.buffer a f32 1048576
S2R R0, CTAID.X
S2R R1, CTAID.Y
S2R R2, TID.X
MOV R4, {most}
ISETP.EQ P0, R0, 8
@P0 MOV R4, {few}
ISETP.EQ P0, R1, {last}
@P0 MOV R4, {few}
IMAD R3, R0, 256, R2
SHL R3, R3, 2
IADD R3, R3, c[a]
MOV R5, 0
again:
LDG R6, [R3]
FFMA R7, R6, R6, R7
FFMA R8, R7, R7, R8
IADD R5, R5, 1
ISETP.LT P0, R5, R4
@P0 BRA again
STG [R3], R8
EXIT
"""


def border(rows=11, most=20, few=10):
    """A grid whose blocks in the right column and in the last row do less."""
    return read(BORDER.format(rows=rows, most=most, few=few, last=rows - 1))


@pytest.mark.parametrize("few", [10, 15, 19])
@pytest.mark.parametrize("rows", [11, 12, 17])
def test_blocks_that_differ_are_scaled_by_their_work(rows, few):
    """From 12 of 50 to 77 blocks the time of all is told within 3 %, and their warp instructions exactly."""
    kernel = border(rows, few=few)
    whole, sampled = simulate(kernel, TWO_SMS, values=False), simulate(kernel, TWO_SMS, values=False, sample=12)
    assert (sampled.scaling.method, whole.scaling.method) == ("work", "complete")
    assert sampled.scaling.simulated_blocks == 12
    assert sampled.cycles == pytest.approx(whole.cycles, rel=0.03)
    assert sampled.warp_instructions == whole.warp_instructions


def test_most_blocks_must_be_alike():
    """Where fewer than half of the SM's blocks are of one class, none stand for all."""
    loop = "again:\nIADD R1, R1, 1\nISETP.LT P0, R1, R0\n@P0 BRA again\nEXIT"
    text = f".grid 64\nS2R R0, CTAID.X\nLOP.AND R0, R0, 30\n{loop}"
    one = load("gtx580", {"chip.sms": 1, "limits.blocks": 2})
    with pytest.raises(UserError, match="its blocks differ"):
        simulate(read(text), one, sample=4)


def test_the_sms_first_blocks_can_be_skipped():
    """The blocks after those that are skipped issue what the run of all issues beyond that of the skipped ones."""
    kernel = border()
    whole, first, rest = (
        run_sm(kernel, TWO_SMS, feed="trace-driven", **given) for given in ({}, {"blocks": 44}, {"skip": 44})
    )
    assert (whole.blocks, first.blocks, rest.blocks) == (50, 44, 6)
    assert np.array_equal(whole.issued, first.issued + rest.issued)


@pytest.mark.parametrize("engine", ["compiled", "reference"])
def test_engines_skip_the_same_blocks(engine):
    """Both engines simulate the same blocks, in the same cycles."""
    run = run_sm(border(rows=3), TWO_SMS, engine=engine, feed="trace-driven", skip=4, blocks=5)
    assert (run.blocks, run.cycles) == (5, run_sm(border(rows=3), TWO_SMS, skip=4, blocks=5).cycles)


def test_work_is_waves_where_blocks_are_alike():
    """Without work of their own seven blocks, two at a time, are three whole waves; else their warp instructions."""
    assert (Share(7, 2).done(7), Share(7, 2).done(4)) == (3, 2)
    share = Share(3, 1, np.array([5, 7, 11]))
    assert (share.done(2), share.done(3)) == (12, 23)
