"""What ends a launch on an H200 with an illegal instruction: lanes that WARPSYNC's mask lacks, exits in collectives."""

import pytest
from interpreter.interpret import interpret

from gpusim.engines.simulate import run_sm
from gpusim.machine.machine import load
from isa.errors import ExecutionError
from isa.text.listing import read

RUNS = {  # each returns how many warp instructions were executed
    "interpreter": lambda kernel: int(interpret(kernel).counts.sum()),
    "compiled": lambda kernel: run_sm(kernel, load("h200")).warp_instructions,
    "reference": lambda kernel: run_sm(kernel, load("h200"), engine="reference").warp_instructions,
}
# the YIELD makes lanes independent
MASKS = "S2R R0, LANEID\nISETP.LT P0, R0, 8\nMOV R1, {few}\n@P0 MOV R1, {many}\nWARPSYNC R1\nEXIT\nYIELD"
COLLECTIVE = """S2R R0, LANEID
ISETP.LT P0, R0, 8
ISETP.LT P1, R0, {gone}
@P0 BRA low
WARPSYNC.COLLECTIVE 0xffffffff, high
{inside}
ENDCOLLECTIVE
high: EXIT
low:
WARPSYNC.COLLECTIVE 0xffffffff, after
{inside}
ENDCOLLECTIVE
after: EXIT
"""


@pytest.mark.parametrize("run", RUNS)
def test_a_lane_that_the_mask_of_its_warpsync_lacks_is_refused(run):
    """The mask of lanes 8 to 31 has lanes 0 to 15 alone: lane 16 is the first that it lacks, at pc 4 on line 5."""
    with pytest.raises(ExecutionError) as caught:
        RUNS[run](read(MASKS.format(few="0xffff", many="0xffff")))
    assert "line 5, pc 4, `WARPSYNC R1`, block 0, warp 0, lane 16: the mask lacks the lane" in str(caught.value)


@pytest.mark.parametrize("run", RUNS)
def test_masks_that_have_their_lanes_are_not(run):
    """Two masks that differ, each with the lanes that name it, let all lanes go on: six instructions in all."""
    assert RUNS[run](read(MASKS.format(few="0xffffff00", many="0xff"))) == 6


@pytest.mark.parametrize("run", RUNS)
def test_an_exit_within_a_collective_is_refused(run):
    """Lanes that came to a collective from two places may not exit before ENDCOLLECTIVE, not even some of them."""
    with pytest.raises(ExecutionError) as caught:
        RUNS[run](read(COLLECTIVE.format(gone=20, inside="@P1 EXIT")))
    assert "`@P1 EXIT`, block 0, warp 0, lane 0: exits within a collective, an illegal instruction" in str(caught.value)


@pytest.mark.parametrize("run", RUNS)
def test_exits_of_no_lane_and_behind_a_collective_are_not(run):
    """An EXIT whose guard holds in no lane, and those behind ENDCOLLECTIVE, let the warp end."""
    kernel = read(COLLECTIVE.format(gone=0, inside="@P1 EXIT"))
    assert RUNS[run](kernel) == 4 + 2 + 2 + 2  # to the branch, to the collective on both ways, in it, behind it
