"""Control codes: stall counts, yields, and dependency barriers, on a machine that obeys them and nothing else.

The scheduler has a slot in every cycle, so that two issues are a stall count apart. The result of a load from shared
memory is available 26 cycles after its service, and its address is read 10 cycles after it.
"""

import pytest
from timing import cycles_of, issue_times, run_text, stalled

from gpusim.sm.unit.stall import Stall

OBEYING: dict[str, int | str] = {
    "schedulers.interval": 1,
    "schedulers.issue_interval": 1,
    "pipe.sp.lanes": 32,
    "dependence.rule": "codes",
    "dependence.yield_stall": 2,
    "dependence.yield_rest": 0,
    "dependence.variable": "none",
    "shared_memory.latency_32": 26,
    "shared_memory.war_32": 10,
    "shared_memory.pass_cycles": 2,
}
ADD = "FADD R3, R4, R5"


@pytest.mark.parametrize(("code", "gap"), [("-:S01", 1), ("-:S07", 7), ("Y:S01", 2), ("Y:S07", 7), ("-:S00", 1)])
def test_two_issues_are_a_stall_count_apart(code, gap):
    """Two issues are a stall count apart, after a yield at least 2; a stall count of 0 means the issue interval, 1."""
    assert issue_times(f"[B------:R-:W-:{code}] {ADD}\n" * 2 + f"[B------:R-:W-:{code}] EXIT", OBEYING) == [0, gap]


def test_a_reader_issues_after_its_stall_count_even_if_too_early():
    """The reader of a sum that takes 18 cycles issues after the stall count of 3."""
    text = "[B------:R-:W-:-:S03] FADD R0, R1, R2\n[B------:R-:W-:-:S01] FADD R3, R0, R0\n[B------:R-:W-:-:S01] EXIT"
    assert issue_times(text, {**OBEYING, "unit.fp32.latency": 18}) == [0, 3]


@pytest.mark.parametrize(
    ("mask", "second", "reason"),
    [
        ("------", 1, None),
        ("0-----", 26, Stall.SHORT_SCOREBOARD),
        ("-1----", 10, Stall.WAR_HAZARD),
        ("01----", 26, None),
    ],
)
def test_an_instruction_waits_until_its_barriers_are_released(mask, second, reason):
    """The load at 0 writes at 26 (barrier 0) and has read at 10 (barrier 1); the next instruction could issue at 1.

    Each cycle from 1 on is charged to the hazard that the barrier protects from.
    """
    text = f".shared 128\n[B------:R1:W0:-:S01] LDS R0, [R1]\n[B{mask}:R-:W-:-:S01] {ADD}\n[B------:R-:W-:-:S01] EXIT"
    run = run_text(text, OBEYING)
    assert [cycle for cycle, _, _ in cycles_of(run)][1] == second
    assert reason is None or stalled(run, reason) == second - 1


def test_a_barrier_that_two_hold_is_released_by_the_later():
    """Loads at 0 and 1 are served at 0 and 2; an instruction that waits for their barrier issues at 2 + 26."""
    loads = "[B------:R-:W0:-:S01] LDS R0, [RZ]\n[B------:R-:W0:-:S01] LDS R1, [RZ]\n"
    text = f".shared 128\n{loads}[B0-----:R-:W-:-:S01] {ADD}\n[B------:R-:W-:-:S01] EXIT"
    assert issue_times(text, OBEYING) == [0, 1, 28]


@pytest.mark.parametrize(("code", "warps"), [("-", [0, 0, 0, 1]), ("Y", [0, 1, 0, 0])])
def test_a_warp_that_yields_lets_the_others_go_first(code, warps):
    """Greedy then oldest stays with warp 0 until it exits; if warp 0 yields at 0, warp 1 issues at 1, and yields too.

    At 2 warp 0, which yielded first, issues again, and continues to its end.
    """
    text = f".block 64\n[B------:R-:W-:{code}:S01] {ADD}\n" + "[B------:R-:W-:-:S01] NOP\n[B------:R-:W-:-:S01] EXIT"
    run = run_text(text, {**OBEYING, "schedulers.policy": "gto"})
    assert [warp for _, warp, _ in cycles_of(run)][:4] == warps
