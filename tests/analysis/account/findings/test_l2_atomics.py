"""The finding of atomics that follow each other in the L2, also when all blocks have left."""

import pytest
from draws import few

from gpusim.analysis.account.findings.diagnosis import diagnosis
from gpusim.analysis.account.findings.l2_atomics import l2_atomics
from gpusim.analysis.account.rates.utilisation import ATOMICS
from gpusim.simulation.simulation import simulate
from gpusim.sm.unit.stall import Stall
from isa.text.listing import read

ADD = ".grid 132\n.block 1024\n.buffer x u32 64\nMOV R2, c[x]\nMOV R1, 1\nRED.ADD [R2], R1\n{}EXIT"


@pytest.mark.parametrize("sms", few([1, "all"], 1))
@pytest.mark.jit
def test_the_time_after_the_last_block_is_told_with_its_place(sms):
    """132 x 1,024 additions to one word take the L2 nearly all of the launch; the RED is named first."""
    result = simulate(read(ADD.format("")), "h200", sms=sms)
    first = diagnosis(result)[0]
    assert (first.limit, first.sure, first.pcs) == ("atomics of the L2", "counted", (2,))
    assert 0.5 < first.share <= 1


@pytest.mark.jit
def test_it_is_none_where_blocks_stay_longer():
    """Behind the RED a warp counts for longer than the L2 needs: nobody waits for the L2 alone."""
    loop = "MOV R5, 0\nagain:\nIADD R5, R5, 1\nISETP.LT P0, R5, 900\n@P0 BRA again\n"
    found = diagnosis(simulate(read(ADD.format(loop).replace(".grid 132\n.block 1024", ".block 32")), "h200"))
    assert all(one.limit != "atomics of the L2" for one in found)


@pytest.mark.jit
@pytest.mark.parametrize("sms", few([1, "all"], 1))
def test_blocks_that_wait_for_old_values_wait_for_the_slice(sms):
    """1,320 blocks wait for their old values: the word's slice is busy nearly all the time, and not behind the end."""
    text = ADD.replace("132", "1320").replace("RED.ADD [R2], R1", "ATOMG.ADD R4, [R2], R1\nIADD R5, R4, 1")
    result = simulate(read(text.format("")), "h200", sms=sms)
    assert result.run.lost[:, Stall.NO_WARP].min() > 0
    (found,) = l2_atomics(result)
    assert found.freed[ATOMICS] > 0.9
    assert found.waits < 0.01


@pytest.mark.jit
@pytest.mark.parametrize("sms", few([1, "all"], 1))
def test_of_several_waves_the_end_alone_counts(sms):
    """1,320 blocks that wait for nothing: the finding has the cycles between the last exit of any SM and the end."""
    result = simulate(read(ADD.replace("132", "1320").format("")), "h200", sms=sms)
    (found,) = l2_atomics(result)
    behind = int(result.run.lost[:, Stall.NO_WARP].min())  # of a scheduler that has warps up to the last exit
    assert f"for {behind:,} cycles" in found.what
    assert found.waits == behind / result.cycles > 0
    assert found.freed[ATOMICS] == pytest.approx(1, abs=0.01)
