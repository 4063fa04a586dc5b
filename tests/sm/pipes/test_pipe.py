"""Arithmetic pipes: initiation interval, private or shared."""

import pytest
from timing import cycles_of, issue_times, run_text

from gpusim.engines.simulate import run_sm
from gpusim.machine.machine import load
from isa.errors import UserError
from isa.text.listing import read


@pytest.mark.parametrize(("lanes", "interval"), [(32, 6), (16, 6), (4, 8), (2, 16), (1, 32)])
def test_a_pipe_takes_a_warp_every_32_over_lanes_cycles(lanes, interval):
    """Independent instructions of one warp issue at the longer of the pipe's interval and the issue interval of 6."""
    text = "MUFU.RCP R0, R1\nMUFU.RCP R2, R3\nMUFU.RCP R4, R5\nEXIT"
    assert issue_times(text, {"pipe.sfu.lanes": lanes}) == [0, interval, 2 * interval]


@pytest.mark.parametrize(
    ("schedulers", "cycles"), [(1, [0] * 4), (2, [0, 0, 8, 8]), (3, [0, 0, 8, 16]), (4, [0, 8, 16, 24])]
)
def test_neighbouring_schedulers_share_a_pipe(schedulers, cycles):
    """Four schedulers of one warp each use sfu pipes that 1, 2, 3 or 4 neighbours share: 8 cycles apart in a pipe."""
    changes = {"schedulers.count": 4, "pipe.sfu.schedulers": schedulers, "pipe.sfu.lanes": 4}
    run = run_text(".block 128\nMUFU.RCP R0, R1\nEXIT", changes)
    assert sorted(cycle for cycle, _, pc in cycles_of(run) if pc == 0) == cycles
    assert {warp // schedulers for cycle, warp, pc in cycles_of(run) if pc == 0 and cycle == 0} == set(
        range(-(-4 // schedulers))
    )


def test_an_instruction_whose_guard_is_false_does_not_take_its_pipe():
    """After an instruction with a false guard the pipe is free at once; only the warp's issue interval remains."""
    assert issue_times("@P0 MUFU.RCP R0, R1\nMUFU.RCP R2, R3\nEXIT", {"pipe.sfu.lanes": 1}) == [0, 6]


def test_the_first_free_pipe_of_several_takes_the_instruction():
    """Of two pipes of 4 and 16 lanes the first is taken whenever it is free; the choice shows in their cycles."""
    text = "".join(f"MUFU.RCP R{r}, R9\n" for r in range(6)) + "EXIT"
    changes = {"unit.sfu.pipe": "sfu sp", "pipe.sfu.lanes": 4, "pipe.sp.lanes": 16, "schedulers.issue_interval": 2}
    run = run_text(text, changes)
    assert [cycle for cycle, _, pc in cycles_of(run)] == [0, 2, 4, 6, 8, 10, 12]
    assert (run.pipe_cycles["sfu"], run.pipe_cycles["sp"]) == (2 * 8, 4 * 2)


@pytest.mark.parametrize(
    ("pipes", "message"),
    [
        ("sp zz", "there is no pipe zz; choose from sp"),
        ("sp sp", "sp sp names a pipe twice"),
        (" ", "there is no pipe ' '"),
        ("sp int16 dp sfu tex", "pipes of a unit class = 5: the simulator holds 4"),
    ],
)
def test_pipes_that_no_unit_class_can_have_are_refused(pipes, message):
    """An unknown pipe, one named twice, none, and more than the simulator holds are refused in one line each."""
    with pytest.raises(UserError, match=message):
        run_text("EXIT", {"unit.sfu.pipe": pipes})


def test_pipe_cycles_are_counted():
    """A run reports the cycles for which each pipe was taken: 16 of sfu, 2 of sp, 0 of dp."""
    run = run_text(
        "MUFU.RCP R0, R1\nMUFU.RCP R2, R3\nFADD R4, R5, R6\nEXIT", {"pipe.sfu.lanes": 4, "pipe.sp.lanes": 16}
    )
    assert (run.pipe_cycles["sfu"], run.pipe_cycles["sp"], run.pipe_cycles["dp"]) == (16, 2, 0)


@pytest.mark.parametrize(("half", "cycles"), [("HFMA2", [4, 5, 6, 7]), ("DADD", [2, 4, 5, 6])])
def test_ffmas_of_an_h200_between_others(half, cycles):
    """Groups of n = 1 to 4 FFMAs and an HFMA2 take n + 3 cycles; with a DADD they take n + 2, and 2 for n = 1."""
    other = f"{half} R20, R2, R2, R2\n" if half != "DADD" else "DADD R20, R2, R2\n"
    for n, expected in enumerate(cycles, 1):
        kernel = read(("".join(f"FFMA R{4 + 2 * i}, R1, R1, R1\n" for i in range(n)) + other) * 12 + "EXIT")
        machine = load("h200", {f"unit.{unit}.latency": 1 for unit in ("fp32", "fp16", "fp16m", "dp")})
        issued = [cycle for cycle, _, _ in cycles_of(run_sm(kernel, machine, trace=True))]
        assert issued[10 * (n + 1)] - issued[4 * (n + 1)] == 6 * expected


@pytest.mark.parametrize("change", [{"joint.fp32": "sfu"}, {"joint.int": "sp9"}, {"blocked.sfu": "sfu"}])
def test_impossible_joint_and_blocked_pipes_are_refused(change):
    """A joint pipe needs a class of one pipe; a joint or blocked pipe must be another pipe of the machine."""
    with pytest.raises(UserError, match=r"can't have \w+ (joint|blocked); give a class of"):
        run_text("EXIT", {"unit.fp32.pipe": "sp int16", **change})
