"""Selection: what a selected warp waits for, which warps go before it, and which stall counts stop meanwhile.

One scheduler has a slot in every cycle; `sp` has 4 lanes, so that an FFMA keeps it for 8 cycles, and MOV has a pipe of
its own that is free at once.
"""

import pytest
from timing import cycles_of, run_text, stalled

from gpusim.sm.unit.stall import Stall

SELECTING: dict[str, int | str] = {
    "schedulers.interval": 1,
    "schedulers.issue_interval": 1,
    "double.exclusive": "off",
    "pipe.sp.lanes": 4,
    "pipe.int16.lanes": 32,
    "unit.fp32.pipe": "sp",
    "unit.fp32.latency": 4,
    "unit.move.pipe": "int16",
    "selection.keeps": "fp32",
    "selection.freezes": 0,
    "selection.full_yields": 0,
}
CODES: dict[str, int | str] = {
    "dependence.rule": "codes",
    "dependence.yield_stall": 1,
    "dependence.yield_rest": 0,
    "dependence.variable": "none",
    "selection.freezes": 1,
}
READS: dict[str, int | str] = {
    "register_file.banks": 1,
    "register_file.mapping": "modulo",
    "register_file.collecting": 0,
    "register_file.window": 1,
    "register_file.carried": 0,
    "register_file.reuse": 0,
    "register_file.returned": 0,
}


@pytest.mark.parametrize(("keeps", "moved"), [("fp32", 9), ("none", 4)])
def test_a_selected_warp_goes_before_an_older_one_that_becomes_ready(keeps, moved):
    """Warp 0's FFMA issues at 0. At 1 warp 1 is selected; its pipe is busy until 8. At 4 warp 0's MOV has its source.

    If the class keeps the slot, the older warp's MOV issues after warp 1's FFMA, at 9, and waits from 4 to 8 as
    warp 1 does from 1 to 8. Otherwise the pipe is asked before the choice, and the MOV issues at 4.
    """
    text = ".block 64\nFFMA R0, R1, R2, R3\nMOV R4, R0\nEXIT"
    run = run_text(text, {**SELECTING, "selection.keeps": keeps, "schedulers.policy": "gto"})
    assert {cycle for cycle, _, pc in cycles_of(run) if pc == 0} == {0, 8}
    assert min(cycle for cycle, _, pc in cycles_of(run) if pc == 1) == moved
    assert stalled(run, Stall.DISPATCH_STALL) == {"fp32": 7 + 4, "none": 0}[keeps]


@pytest.mark.parametrize(("guard", "second"), [("", 8), ("@!P0 ", 8), ("@P0 ", 1)])
def test_an_instruction_that_does_nothing_needs_only_the_slot(guard, second):
    """Predicates start false: under @P0 no lane is active, and the FFMA issues at 1, although its pipe is busy to 8."""
    run = run_text(f"FFMA R0, R1, R2, R3\n{guard}FFMA R4, R5, R6, R7\nEXIT", SELECTING)
    assert [cycle for cycle, _, _ in cycles_of(run)] == [0, second, second + 1]


def test_a_busy_pipe_stops_no_stall_count():
    """Warp 1 is selected at 1 and gets the pipe at 8; warp 0's stall count still ends at 4.

    Warp 0 waits from 1 to 4 and warp 1 from 9 to 12: 6. The selection holds warp 1 from 1 to 8 and warp 0 from 4 to 8:
    11.
    """
    text = ".block 64\n[B------:R-:W-:-:S04] FADD R0, R1, R2\n[B------:R-:W-:-:S01] MOV R3, R4\n"
    run = run_text(text + "[B------:R-:W-:-:S01] EXIT", {**SELECTING, **CODES})
    assert cycles_of(run) == [(0, 0, 0), (8, 1, 0), (9, 0, 1), (10, 0, 2), (12, 1, 1), (13, 1, 2)]
    assert (stalled(run, Stall.WAIT), stalled(run, Stall.DISPATCH_STALL)) == (6, 11)


@pytest.mark.parametrize(("freezes", "second"), [(1, 5), (0, 4)])
def test_operands_that_are_late_stop_the_stall_counts(freezes, second):
    """With one bank a warp's two reads take 2 cycles: warp 1 is selected at 1 and has its operands at 2.

    On a machine that freezes, warp 0's stall count of 4 stops for this one cycle, and warp 0 issues at 5. (The pipe
    that warp 0 reads for takes nothing until 2 either, so there are two pipes.)
    """
    text = ".block 64\n[B------:R-:W-:-:S04] FADD R0, R1, R2\n[B------:R-:W-:-:S01] MOV R3, 1\n"
    pipes = {"pipe.sp.lanes": 32, "unit.fp32.pipe": "sp int16"}
    changes = {**SELECTING, **CODES, **READS, **pipes, "selection.freezes": freezes}
    run = run_text(text + "[B------:R-:W-:-:S01] EXIT", changes)
    assert cycles_of(run)[:3] == [(0, 0, 0), (2, 1, 0), (second, 0, 1)]
