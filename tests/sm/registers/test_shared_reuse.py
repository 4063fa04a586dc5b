"""The reuse cache that the warps of a scheduler share: FFMAs of two warps that flag sources, and yields."""

from __future__ import annotations

from itertools import pairwise

import pytest
from timing import BANKS, cycles_of, issue_times, run_text

ONE_SCHEDULER: dict[str, int | str] = {
    **BANKS,
    "schedulers.count": 1,
    "schedulers.policy": "lrr",
    "unit.fp32.latency": 1,
    "register_file.reuse": 2,
}
CODES: dict[str, int | str] = {
    "dependence.rule": "codes",
    "dependence.yield_stall": 2,
    "dependence.yield_rest": 0,
    "dependence.variable": "none",
    "register_file.window": 1,
}


@pytest.mark.parametrize(("shared", "cycles"), [(0, 1), (1, 3)])
def test_another_warps_flagged_sources_take_the_place(shared, cycles):
    """Two warps in turn flag the same two of three sources in one bank: each reads all, unless it has its own cache."""
    text = ".block 64\n" + "FFMA R20, R2.reuse, R4.reuse, R6\n" * 12 + "EXIT"
    run = run_text(text, {**ONE_SCHEDULER, "register_file.reuse_shared": shared})
    times = [cycle for cycle, _, pc in cycles_of(run) if pc < 12]
    assert {after - before for before, after in list(pairwise(times))[-6:]} == {cycles}


@pytest.mark.parametrize(("shared", "last"), [(0, 7), (1, 9)])
def test_a_yield_empties_it(shared, last):
    """The FFMA behind an FADD that yields reads its three sources again, so that the next one is 2 cycles later."""
    add = "[B------:R-:W-:-:S01] FFMA R20, R2.reuse, R4.reuse, R6\n"
    text = f"{add}{add}[B------:R-:W-:Y:S01] FADD R21, RZ, RZ\n{add}{add}[B------:R-:W-:-:S01] EXIT"
    found = issue_times(text, {**ONE_SCHEDULER, **CODES, "register_file.reuse_shared": shared})
    assert found == [0, 3, 4, 6, last]


def test_a_warp_finds_nothing_of_the_one_before_in_its_slot():
    """The second block's FFMA, in the slot of the first one's, reads all of its sources: 3 cycles before the next."""
    text = ".grid 2\n.block 32\nFFMA R20, R2.reuse, R4.reuse, R6\nFFMA R21, R2.reuse, R4.reuse, R6\nEXIT"
    changes = {**ONE_SCHEDULER, "register_file.reuse_shared": 1, "register_file.window": 1, "limits.blocks": 1}
    times = [cycle for cycle, _, pc in cycles_of(run_text(text, changes)) if pc < 2]
    assert [after - before for before, after in pairwise(times)][::2] == [3, 3]


def test_a_flagged_source_drops_another_warps_of_either_width():
    """The first warp's FADD flags R8 at 2, in the place of half of the second's R2:R3, whose DADD reads R2."""
    adds = "DADD R20, R2.reuse, RZ\nFADD R22, R8.reuse, RZ\nDADD R24, R2, R4\nFADD R26, R6, RZ\nEXIT"
    wide: dict[str, int | str] = {"pipe.dp.lanes": 32, "unit.dp.latency": 1, "double.exclusive": "off"}
    changes = {**ONE_SCHEDULER, **wide, "register_file.window": 1, "register_file.reuse_shared": 1}
    issues = cycles_of(run_text(f".block 64\n{adds}", changes))
    assert [(cycle, warp) for cycle, warp, pc in issues if pc in (2, 3)] == [(4, 0), (6, 1), (8, 0), (9, 1)]
