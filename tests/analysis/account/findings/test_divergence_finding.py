"""The finding of divergence: idle lanes behind branches, counted."""

from pathlib import Path

import numpy as np
import pytest

import gpusim
from gpusim.analysis.account.findings.diagnosis import diagnosis
from gpusim.analysis.account.findings.divergence import divergence, idle_lanes
from gpusim.analysis.account.findings.resources import Room
from gpusim.analysis.account.rates.utilisation import utilisation
from gpusim.analysis.account.run_document import document
from isa.text import listing
from workloads.catalog import make

DATA = Path(__file__).with_name("data")
HEAD = "    S2R R0, TID.X\n    SHL R1, R0, 2\n    IADD R1, R1, c[x]\n    MOV R2, 0\n"
TAIL = "    STG [R1], R2\n    EXIT\n"
ADDITIONS = "    IADD R2, R2, 1\n" * 40


def found(code, threads=64):
    """Return the findings of divergence of a listing, and the result."""
    head = f".kernel k\n.block {threads}\n.buffer x i32 64\n{HEAD}"
    result = gpusim.simulate(listing.read(head + code + TAIL), "gtx580")
    return list(divergence(result)), result


@pytest.mark.jit
@pytest.mark.parametrize("machine", ["gtx580", "h200"])
@pytest.mark.parametrize(("ways", "active"), [("2", 16), ("4", 8), ("8", 4)])
def test_lanes_on_several_ways_are_named_with_their_branch(machine, ways, active):
    """Where lanes take 2, 4 or 8 ways, 16, 8 or 4 of 32 are active behind the branch to the first way."""
    result = gpusim.simulate(make("divergence", {"ways": ways}), machine)
    one = next(one for one in diagnosis(result) if one.limit == "divergence")
    assert one.what.startswith(f"divergence: {active} of 32 lanes active behind the branch at pc 8, which costs most")
    assert "same way" in one.remedy
    assert one.sure == "counted"
    assert result.kernel.program.instructions[8].row.mnemonic == "BRA"


@pytest.mark.jit
@pytest.mark.parametrize("ways", ["2", "8"])
def test_what_divergence_costs_is_an_upper_limit(ways):
    """Lanes that all take one way of the same length save no more than the finding says, and most of it."""
    result = gpusim.simulate(make("divergence", {"ways": ways}), "gtx580")
    together = gpusim.simulate(make("divergence", {"ways": "1"}), "gtx580")
    (one,) = divergence(result)
    share = Room(utilisation(result)).saved(one.freed, one.waits)
    saved = 1 - together.cycles / result.cycles
    assert 0.9 * share < saved <= share + 0.01


@pytest.mark.long
@pytest.mark.jit
def test_machine_code_names_lines_of_source():
    """Of a kernel whose odd threads take another loop, 16 of 32 lanes, the `if` and both loops are named by line."""
    function = gpusim.RawModule(path=DATA / "divergence_90.cubin").get_function("dv")
    result = function((1056,), (256,), (np.zeros(270336, np.float32), np.int32(2)))
    text = next(one.what for one in document(result).diagnosis if one.limit == "divergence")
    assert text.startswith("divergence: 16 of 32 lanes active behind the branch at offset ")
    assert "(divergence.cu:4), which costs most at offset" in text
    busy = utilisation(result)["pipe xu"]
    assert text.endswith(f"(divergence.cu:5, 7, 9); busy: pipe xu {100 * busy:.0f} %")


@pytest.mark.jit
@pytest.mark.parametrize(
    ("code", "threads"),
    [
        (ADDITIONS, 48),
        ("    ISETP.LT P0, R0, 16\n" + ADDITIONS.replace("IADD", "@P0 IADD"), 64),
        ("    ISETP.LT P0, R0, 32\n    @P0 BRA end\n" + ADDITIONS + "end:\n", 64),
    ],
    ids=["a block's last warp of 16 threads", "guards", "a branch that a whole warp takes"],
)
def test_whole_warps_and_guards_are_no_divergence(code, threads):
    """A warp with fewer threads, guards, and branches by warp leave no instruction issued for some lanes."""
    findings, result = found(code, threads)
    assert not findings
    assert not idle_lanes(result).any()


@pytest.mark.jit
def test_a_loop_that_lanes_leave_one_by_one_is_named_by_its_own_branch():
    """Where lane k goes round k + 1 times, 16.5 lanes are active in the mean, and the branch back parts them."""
    loop = "    LOP.AND R3, R0, 31\nagain:\n    IADD R2, R2, 1\n    ISETP.GE P0, R3, R2\n    @P0 BRA again\n"
    (one,), result = found(loop)
    branch = next(pc for pc, i in enumerate(result.kernel.program.instructions) if i.row.is_branch)
    assert one.what.startswith(f"divergence: 16.5 of 32 lanes active in the mean behind the branch at pc {branch}, ")
    assert set(one.pcs) == {branch - 2, branch - 1}
