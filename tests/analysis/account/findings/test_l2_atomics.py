"""The finding of atomics that the L2 still does when all blocks have left."""

import pytest

from gpusim.analysis.account.diagnosis import diagnosis
from gpusim.simulation import simulate
from isa.text.listing import read

ADD = ".grid 132\n.block 1024\n.buffer x u32 64\nMOV R2, c[x]\nMOV R1, 1\nRED.ADD [R2], R1\n{}EXIT"


@pytest.mark.parametrize("sms", [1, "all"])
@pytest.mark.jit
def test_the_time_after_the_last_block_is_told_with_its_place(sms):
    """132 x 1,024 additions to one word take the L2 nearly all of the launch; the RED is named first."""
    result = simulate(read(ADD.format("")), "h200", sms=sms)
    first = diagnosis(result)[0]
    assert (first.limit, first.sure, first.pcs) == ("atomics of the L2", "counted", (2,))
    assert 0.5 < first.share < 1


@pytest.mark.jit
def test_it_is_none_where_blocks_stay_longer():
    """Behind the RED a warp counts for longer than the L2 needs: nobody waits for the L2 alone."""
    loop = "MOV R5, 0\nagain:\nIADD R5, R5, 1\nISETP.LT P0, R5, 900\n@P0 BRA again\n"
    found = diagnosis(simulate(read(ADD.format(loop).replace(".grid 132\n.block 1024", ".block 32")), "h200"))
    assert all(one.limit != "atomics of the L2" for one in found)
