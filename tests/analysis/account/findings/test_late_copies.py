"""What the diagnosis says of the tensor pipe: how busy it was, and which waits a further stage of copies would hide."""

from functools import cache

import numpy as np
import pytest
from read.fenced import ROOT

from benchmarks.tensor import kernels as ten
from gpusim.analysis.account.findings import late_phases, tensor_pipe
from gpusim.analysis.account.findings.diagnosis import diagnosis
from gpusim.launch.file.prepare import prepared
from gpusim.machine.machine import load
from gpusim.simulation.simulation import simulate
from gpusim.sm.unit.stall import Stall
from isa.row import Groups

pytestmark = pytest.mark.jit


@cache
def ran(name):
    """Return the result of an example on the H200."""
    return simulate(prepared(str(ROOT / "examples" / f"{name}.cubin")), load("h200"))


def test_attention_with_two_stages_waits_for_its_copies():
    """Its one wait allows no group under way, and copies begin behind it: two stages. A third would hide the waits."""
    result = ran("tensor/flash")
    (found,) = tensor_pipe.tensor_pipe(result)
    assert found.limit == "tensor pipe"
    assert found.what.startswith("tensor pipe 1")
    assert "busy: copies arrive late" in found.what
    assert "flash.cu:60" in found.what
    assert found.remedy == "a third stage would hide it: copy one stage further ahead"
    assert 0 < found.share < 0.5


def test_the_share_is_that_of_the_waits_but_the_first_of_each_warp():
    """All 4 warps wait at one instruction, once for each of 3 tiles of keys; a load from the L2 of each is left out."""
    result = ran("tensor/flash")
    (pc,) = tensor_pipe.waiting(result, [Groups.COPIES])
    assert result.run.issued[pc] == 4 * 3
    waited = int(result.run.stalls[pc].sum())
    assert tensor_pipe.late(result, [pc]) == waited - 4 * load("h200").cache.l2_latency_128
    (found,) = tensor_pipe.tensor_pipe(result)
    assert found.share == pytest.approx(tensor_pipe.late(result, [pc]) / result.run.stalls.sum())


def test_the_pipe_is_as_busy_as_its_instructions_keep_it():
    """64 HMMA for each of 3 tiles of keys and 4 warps, on four pipes, 6 cycles each."""
    result = ran("tensor/flash")
    assert tensor_pipe.busy(result) == pytest.approx(64 * 3 * 4 * 6 / (4 * result.cycles))


def test_waits_for_copies_are_told_once():
    """The reason of these waits has no finding of its own."""
    assert Stall.LONG_SCOREBOARD in tensor_pipe.told(ran("tensor/flash"))


def test_a_program_without_copies_in_groups_has_no_such_finding():
    """wmma.cu loads through registers."""
    assert list(tensor_pipe.tensor_pipe(ran("tensor/wmma"))) == []
    assert tensor_pipe.told(ran("tensor/wmma")) == frozenset()


def test_three_stages_are_three():
    """cp_async.cu lets one group be under way, and copies the next tile behind the wait."""
    result = ran("tensor/cp_async")
    waits = tensor_pipe.waiting(result, [Groups.COPIES])
    assert {tensor_pipe.staged(result.kernel.program, pc) for pc in waits[:3]} == {3}


def test_waits_for_phases_count_by_what_ends_them():
    """Who multiplies waits for phases that copies end, who copies for those that arrivals end, elsewhere."""
    result = ran("gemm/tma")
    released, copied = (set(np.flatnonzero(column).tolist()) for column in result.run.awaited.T)
    assert released
    assert copied
    assert not released & copied
    rows = [one.row.mnemonic for one in result.kernel.program.instructions]
    assert {rows[pc] for pc in released | copied} == {"SYNCS.PHASECHK.TRANS64.TRYWAIT"}


def test_the_copy_engine_is_as_busy_as_its_bytes_keep_it():
    """256 KB come at 19 64ths of a cycle for 32 bytes."""
    result = ran("gemm/tma")
    assert late_phases.engine_busy(result) == pytest.approx((256 << 10) * 19 / 64 / 32 / result.cycles)


@cache
def tiles(stages, **settings):
    """Return the result of one block's products of 128 x 128, depth 1024, by tensor maps with so many stages."""
    name, keys = f"wg128_tma{stages} solo k=1024", {key.replace("__", "."): value for key, value in settings.items()}
    (launch,) = (one for far in (False, True) for one in ten.launches(further=far) if str(one) == name)
    return simulate(ten.kernel(launch), load("h200", keys), values=False)


def late_copies(result):
    """Return the finding of copies that arrive late."""
    (found,) = (one for one in tensor_pipe.tensor_pipe(result) if "copies arrive late" in one.what)
    return found


@pytest.mark.parametrize(
    ("latency", "stages", "words", "enough"),
    [
        (700, 2, "a third stage would hide it", 3),
        (1300, 2, "2 more stages would hide it", 4),
        (1300, 3, "a fourth stage would hide it", 4),
    ],
)
def test_stages_that_are_said_to_hide_late_copies_do(latency, stages, words, enough):
    """Tiles take some 900 cycles without a wait; the kernel with as many stages more waits no longer, one less does."""
    slow = {"cache__hits": "tags", "l2__filled": 1, "copy_engine__latency": latency}
    result, hidden = tiles(stages, **slow), tiles(enough, **slow)
    found = late_copies(result)
    assert found.what.startswith("tensor pipe ")
    assert "% busy: copies arrive late, for which offset 0x" in found.what
    assert found.remedy.startswith(words)
    assert 1 - 1.05 * found.share <= hidden.cycles / result.cycles <= 1 - 0.6 * found.share
    assert not [one for one in diagnosis(hidden) if "copies arrive late" in one.what]
    assert tiles(enough - 1, **slow).cycles > 1.1 * hidden.cycles


def test_stages_hide_all_but_what_the_dram_takes():
    """From a DRAM as fast as an SM's share of 132 a third stage saves most of what waits, a fourth 5 % at most."""
    slow = {"chip__dram_mbs": 4800000 // 132}
    found = late_copies(tiles(2, **slow))
    assert found.remedy == "2 more stages would hide all but what the DRAM takes, if the buffers fit"
    two, three, four = (tiles(stages, **slow).cycles for stages in (2, 3, 4))
    assert two * (1 - found.share) <= three <= two * (1 - 0.6 * found.share)
    assert abs(four - three) < 0.05 * three
    assert late_copies(tiles(3, **slow)).remedy.startswith("the DRAM is busy 81 %: bring fewer bytes")


def test_stages_are_the_barriers_to_which_copies_come():
    """A kernel of two, three and four stages has as many barriers."""
    assert [late_phases.stages(tiles(stages)) for stages in (2, 3, 4)] == [2, 3, 4]


def test_waits_for_phases_have_their_name_and_advice():
    """Where most of long_scoreboard is not for late copies, it still is for phases, not for loads."""
    (found,) = (one for one in diagnosis(tiles(3, cache__hits="tags", l2__filled=1)) if one.limit == "long_scoreboard")
    assert "are lost to phases of barriers in shared memory (long_scoreboard)" in found.what
    assert found.remedy.startswith("arrive earlier, and ask for copies earlier")
