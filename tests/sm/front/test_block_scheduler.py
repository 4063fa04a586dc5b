"""The block scheduler: placement, refill, skew."""

import numpy as np
import pytest
from timing import cycles_of, run_text, stalled

from gpusim.sm.front.block_scheduler.block_scheduler import hand_out
from gpusim.sm.state.layout import layout
from gpusim.sm.unit.stall import Stall


def records(run, kind):
    """(cycle, block, slot) of the blocks placed or retired."""
    return [(int(r.cycle), int(r.block), int(r.detail)) for r in run.trace if r.kind == {"place": 0, "retire": 5}[kind]]


def test_blocks_that_do_not_fit_wait_for_a_free_slot():
    """Two of five blocks fit; each further block takes the slot of a block that has left."""
    run = run_text(".grid 5\nEXIT", {"limits.blocks": 2, "launch.block_latency": 10})
    assert [(block, slot) for _, block, slot in records(run, "place")] == [(0, 0), (1, 1), (2, 0), (3, 1), (4, 0)]
    assert sorted(block for _, block, _ in records(run, "retire")) == [0, 1, 2, 3, 4]
    assert run.blocks == 5


@pytest.mark.parametrize("latency", [0, 10])
def test_the_next_block_starts_after_the_block_latency(latency):
    """A block leaves 2 cycles after its EXIT; the next block's first instruction issues `latency` cycles later."""
    run = run_text(".grid 2\nEXIT", {"limits.blocks": 1, "launch.block_latency": latency})
    assert [cycle for cycle, _, _ in cycles_of(run)] == [0, 2 + latency]


def test_skews_shift_the_start_of_warps_and_blocks():
    """Warp w of block b of the first wave starts at w x 8 + b x 100."""
    text = ".grid 2\n.block 64\nEXIT"
    run = run_text(text, {"launch.warp_skew": 8, "launch.block_skew": 100})
    assert [cycle for cycle, _, _ in cycles_of(run)] == [0, 8, 100, 108]
    assert stalled(run, Stall.LAUNCH_DELAY) == 8 + 100 + 108


@pytest.mark.parametrize(("skew", "apart"), [(10, 8 + 16), (100, 100)])
def test_blocks_of_many_warps_start_further_apart(skew, apart):
    """A block's first warp starts 16 cycles behind the last warp of the block before, or the skew behind its first."""
    text = ".grid 3\n.block 64\nEXIT"
    run = run_text(text, {"launch.warp_skew": 8, "launch.block_skew": skew, "launch.block_gap": 16})
    assert [cycle for cycle, _, _ in cycles_of(run)] == [0, 8, apart, apart + 8, 2 * apart, 2 * apart + 8]


def test_the_chip_hands_out_one_block_after_the_other():
    """Two slots are free at 2 and 4; blocks come 10 cycles later, the second when 3 SMs have been handed one.

    96 parts of 64 are a cycle and a half, for each of 3 SMs: 4.5 cycles, which are 4.
    """
    changes = {"chip.sms": 3, "limits.blocks": 2, "launch.block_latency": 10, "launch.block_skew": 0}
    run = run_text(".grid 12\nEXIT", changes | {"launch.refill_parts": 96})
    assert [cycle for cycle, _, _ in cycles_of(run)] == [0, 2, 2 + 10, 6 + 10]
    assert [cycle for cycle, _, _ in cycles_of(run_text(".grid 12\nEXIT", changes))] == [0, 2, 2 + 10, 4 + 10]


def test_blocks_are_handed_out_in_fractions_of_a_cycle():
    """A block takes 73 of 64 parts: of 65 that are handed at once the last begins 73 cycles after the first."""
    chip = np.zeros(1, layout("launch"))[0]
    begins = [hand_out(chip, 73, 5) for _ in range(65)]
    assert begins[:9] == [5, 6, 7, 8, 9, 10, 11, 12, 14]
    assert begins[-1] == 5 + 73
    assert hand_out(chip, 73, 500) == 500


@pytest.mark.parametrize(("warps", "slots"), [(4, [5, 6, 7, 4]), (2, [2, 3]), (8, [9, 10, 11, 8, 13, 14, 15, 12])])
def test_a_block_begins_one_scheduler_further(warps, slots):
    """Of four schedulers the second block's first warp is on the second if blocks have 4 or 8 warps, else in turn."""
    text = f".grid 2\n.block {32 * warps}\nEXIT"
    run = run_text(text, {"schedulers.count": 4, "launch.rotates": 1, "launch.warp_skew": 8, "launch.block_skew": 100})
    assert [warp for _, warp, _ in cycles_of(run)] == [*range(warps), *slots]


def test_a_scheduler_without_warps_loses_its_slots_to_no_warp():
    """Of 8 cycles the only warp's scheduler loses 4 to the issue interval, and the other one all 8 to NO_WARP."""
    run = run_text("NOP\nEXIT", {"schedulers.count": 2})
    assert {Stall(s).name: int(c) for s, c in enumerate(run.lost[0]) if c} == {"ISSUE_INTERVAL": 4}
    assert {Stall(s).name: int(c) for s, c in enumerate(run.lost[1]) if c} == {"NO_WARP": 8}


def test_an_sm_runs_every_sixteenth_block():
    """The first of 16 SMs gets blocks 0, 16 and 32 of 40."""
    run = run_text(".grid 40\nEXIT", {"chip.sms": 16})
    assert [block for _, block, _ in records(run, "place")] == [0, 16, 32]


def test_a_block_starts_with_nothing_of_the_last_one():
    """Registers, predicates, shared and local memory of a slot are zero again for the next block."""
    text = """
.grid 2
.shared 128
.local 16
.buffer y u32 64
    S2R R0, CTAID.X
    SHL R1, R0, 7
    S2R R2, LANEID
    SHL R2, R2, 2
    IADD R1, R1, R2
    IADD R1, R1, c[y]
    LDS R3, [R2]
    LDL R4, [RZ]
    IADD R5, R5, R3
    IADD R5, R5, R4
    @P0 IADD R5, R5, 1
    STG [R1], R5
    MOV R5, 7
    STS [R2], R5
    STL [RZ], R5
    ISETP.EQ P0, R5, 7
    EXIT
"""
    run = run_text(text, {"limits.blocks": 1})
    assert not run.memory.any()
