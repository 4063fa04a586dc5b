"""Copies, matrix instructions and fences that are not waited for: none in right kernels, one finding if one misses."""

from dataclasses import replace

import pytest
from without_waits import EXAMPLES, TEN, right, without

from gpusim.analysis.account.early.missing_waits import missing_waits
from gpusim.analysis.account.hazards import hazards
from gpusim.machine.machine import load

# What is left out of a kernel, and the only finding then: its kind, the instructions, and what mends it.
MISSING = {
    "accumulators before the wait": ("wgmma", "WARPGROUP.DEPBAR", (), "WAR", "STS", "HGMMA", "WARPGROUP.DEPBAR"),
    "no WARPGROUP.ARRIVE": ("wgmma", "WARPGROUP.ARRIVE", (), "ARRIVE", "HGMMA", "", "WARPGROUP.ARRIVE"),
    "no fence before products": ("wgmma", "FENCE.VIEW", (), "FENCE", "HGMMA", "STS", "FENCE.VIEW.ASYNC"),
    "no wait for LDGSTS": ("cp_async", "DEPBAR", (), "RAW", "LDSM", "LDGSTS", "DEPBAR.LE SB0"),
    "one wait for LDGSTS of five": ("cp_async", "DEPBAR", (1,), "RAW", "LDSM", "LDGSTS", "DEPBAR.LE SB0"),
    "no wait for a tensor copy": ("tma", "SYNCS.PHASECHK", (0,), "RAW", "LDS", "UTMALDG", "SYNCS.PHASECHK"),
    "no fence before a tensor store": ("tma", "FENCE.VIEW", (1,), "FENCE", "UTMASTG", "STS", "FENCE.VIEW.ASYNC"),
    "no fence before bulk stores": ("bulk", "FENCE.VIEW", (), "FENCE", "UBLKCP.G.S", "STS", "FENCE.VIEW.ASYNC"),
    "no wait for bulk stores": ("bulk", "DEPBAR", (), "WAR", "STS", "UBLKCP.G.S", "cp.async.bulk.wait_group.read"),
    "a bulk store in no group": ("bulk", "UTMACMDFLUSH", (0,), "WAR", "STS", "UBLKCP.G.S", "wait_group.read"),
    "no wait for a bulk copy": ("bulk", "SYNCS.PHASECHK", (0,), "RAW", "LDS", "UBLKCP.S.G", "SYNCS.PHASECHK"),
    "LDGSTS under a product": ("wg128_cp3", "DEPBAR", (), "RAW", "HGMMA", "LDGSTS", "DEPBAR.LE SB0"),
    "products of stages": ("wg128_cp3", "WARPGROUP.DEPBAR", (), "WAR", "LDGSTS", "HGMMA", "WARPGROUP.DEPBAR"),
    "products of tiles": ("wg128_tma2", "WARPGROUP.DEPBAR", (), "WAR", "UTMALDG", "HGMMA", "WARPGROUP.DEPBAR"),
    "tiles before they are there": ("wg128_tma2", "SYNCS.PHASECHK", (), "RAW", "HGMMA", "UTMALDG", "SYNCS.PHASECHK"),
}


@pytest.mark.parametrize("name", [*EXAMPLES, *TEN])
def test_right_kernels_wait_for_all(name):
    """Examples, and the ten kernels that were timed, have no hazard."""
    assert missing_waits(right(name), [0]) == ([], None)


@pytest.mark.parametrize("name", MISSING)
def test_what_is_left_out_is_the_only_finding(name):
    """One line has the kind, both instructions with their places, and the instruction that mends it."""
    kernel, pattern, which, kind, own, its, mend = MISSING[name]
    changed = without(right(kernel), pattern, *which)
    (found,), _ = missing_waits(changed, [0])
    code = [i.row.mnemonic for i in changed.program.instructions]
    assert found.kind == kind
    assert code[found.pc].startswith(own)
    assert found.other == -1 if not its else code[found.other].startswith(its)
    assert mend in found.mend
    assert "\n" not in str(found)
    assert f"+{found.pc * 16:#x} {code[found.pc].partition('.')[0]}" in str(found)


def test_an_accumulator_read_early_names_its_register():
    """Without barriers between, the first use is that of the registers: a store of what the product will write."""
    changed = without(right("wgmma"), "WARPGROUP.DEPBAR|STS")
    (found,), _ = missing_waits(changed, [0])
    assert (found.kind, found.register) == ("RAW", "R24")
    assert "STG" in found.text


def test_the_command_tells_them_beside_hazards_of_codes():
    """The run of the blocks that fit has no hazard; what is not waited for is found whatever the times."""
    assert hazards(right("wgmma"), load("h200")).hazards == ()
    found = hazards(without(right("wgmma"), "WARPGROUP.ARRIVE"), load("h200"))
    assert [one.kind for one in found.hazards] == ["ARRIVE"]


@pytest.mark.jit
def test_blocks_of_a_cluster_run_together():
    """The four blocks of a cluster have no hazard; if nobody waits for loads, their readers come too early."""
    kernel = right("cluster")
    assert (hazards(kernel, load("h200")).hazards, hazards(kernel, load("h200")).blocks) == ((), 4)
    code = [
        replace(one, control=replace(one.control, write_barrier=None)) if one.row.mnemonic == "LDG" else one
        for one in kernel.program.instructions
    ]
    changed = replace(kernel, program=replace(kernel.program, instructions=tuple(code)))
    found = hazards(changed, load("h200")).hazards
    assert "RAW" in {one.kind for one in found}
    assert {code[one.other].row.mnemonic for one in found} == {"LDG"}
