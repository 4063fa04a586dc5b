"""Convergence barriers: where lanes that diverge between BSSY and BSYNC meet, and which programs are refused."""

import re

import numpy as np
import pytest
from interpreter.interpret import interpret

from isa.dataflow.lanes.convergence import region_ends
from isa.dataflow.lanes.divergence import reconvergence_points
from isa.errors import UserError
from isa.text.listing import read

PARTED = "S2R R0, TID.X\nISETP.LT P0, R0, 7\n"
LATER = PARTED + "BSSY B0, met\n@P0 BRA past\nNOP\npast:\nNOP\nBSYNC B0\nmet:\nEXIT"
INSIDE = (
    PARTED + "BSSY B1, out\nBSSY B0, in\n@P0 BRA one\nNOP\none:\nBSYNC B0\nin:\n"
    "@P0 BRA two\nNOP\ntwo:\nBSYNC B1\nout:\nEXIT"
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [(LATER, {3: 7}), (INSIDE, {4: 7, 7: 10})],
    ids=["behind the post-dominator", "one in another"],
)
def test_lanes_meet_after_the_bsync_of_the_innermost_region(text, expected):
    """Worked out by hand: lanes meet where the program says, and not where all ways first come together."""
    assert reconvergence_points(read(text).program) == expected


def test_both_ways_go_up_to_the_bsync():
    """The instructions from where the ways come together to the BSYNC, both included, issue once for each way."""
    done = interpret(read(LATER))
    assert done.counts.tolist() == [1, 1, 1, 1, 1, 2, 2, 1]
    assert done.active.tolist() == [32, 32, 32, 7, 25, 32, 32, 32]


def test_no_lane_waits_for_lanes_that_have_exited():
    """When 7 lanes exit inside the region, the other 25 go on after it."""
    text = PARTED + "BSSY B0, met\n@P0 EXIT\nBSYNC B0\nmet:\nEXIT"
    assert interpret(read(text)).active.tolist() == [32, 32, 32, 7, 25, 25]


def test_a_program_without_bssy_has_no_regions():
    """Without BSSY no region end is found."""
    assert region_ends(read(PARTED + "@P0 BRA past\nNOP\npast:\nEXIT").program) == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("BSYNC B3\nEXIT", "line 1: BSYNC B3 ends no region; write BSSY B3 with the label behind this before it"),
        ("BSSY B0, a\na:\nBSYNC B0\nEXIT", "line 3: BSYNC B0 ends no region"),
        ("BSSY B0, a\nBSSY B0, a\nBSYNC B0\na:\nEXIT", "line 2: B0 is in use; take another barrier"),
        ("@P0 BSSY B0, a\nBSYNC B0\na:\nEXIT", "line 1: BSSY is for all lanes that are here; leave out its guard"),
        ("@P0 BRA b\nBSSY B0, a\nb:\nBSYNC B0\na:\nEXIT", "line 4: ways from different BSSYs meet here"),
    ],
    ids=["no BSSY", "another label", "used twice", "a guard", "not on every way"],
)
def test_a_malformed_region_is_refused(text, message):
    """Each wrong use of BSSY and BSYNC is refused in one line with the place, the cause and the fix."""
    with pytest.raises(UserError, match=re.escape(message)):
        reconvergence_points(read(text).program)


def test_values_do_not_depend_on_where_lanes_meet():
    """Whether lanes meet at once or later, each computes the same."""
    store = "\nS2R R0, TID.X\nSHL R1, R0, 2\nIADD R1, R1, c[o]\nSTG [R1], R2\nEXIT"
    early = "@P0 BRA past\nMOV R2, 5\npast:\nIADD R2, R2, 1"
    late = f"BSSY B0, met\n{early}\nBSYNC B0\nmet:"
    early, late = (f".buffer o u32 32\n{PARTED}{text}{store}" for text in (early, late))
    assert np.array_equal(interpret(read(early)).memory, interpret(read(late)).memory)
