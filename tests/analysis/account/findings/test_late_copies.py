"""What the diagnosis says of the tensor pipe: how busy it was, and which waits a further stage of copies would hide."""

from functools import cache

import numpy as np
import pytest
from read.fenced import ROOT

from gpusim.analysis.account.findings import tensor_pipe
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
    assert tensor_pipe.engine_busy(result) == pytest.approx((256 << 10) * 19 / 64 / 32 / result.cycles)
