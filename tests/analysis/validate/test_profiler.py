import numpy as np
import pytest

from gpusim.analysis.validate.profiler import COUNTERS, ncu_name, ncu_shares, profiles
from gpusim.sm.unit.stall import Stall
from isa.text.assembler import assemble
from workloads.measured.whole import tables

NCU = {  # Nsight Compute 2025.3, Kernel Profiling Guide: warp stall reasons, and the state in which a warp issues
    *("barrier", "branch_resolving", "dispatch_stall", "drain", "gmma", "imc_miss", "lg_throttle", "long_scoreboard"),
    *("math_pipe_throttle", "membar", "mio_throttle", "misc", "no_instruction", "not_selected", "selected"),
    *("short_scoreboard", "sleeping", "tex_throttle", "wait"),
}
PROFILES = profiles("h200")
CODE = """
[B------:R0:W-:-:S01] STG [R2], R4
[B------:R1:W-:-:S01] STS [R3], R4
[B0-----:R-:W-:-:S01] MOV R2, R5
[B-1----:R-:W-:-:S01] MOV R3, R5
[B------:R-:W-:-:S06] MEMBAR.SC.GPU
[B------:R-:W-:-:S05] EXIT
"""
LOOP = """
[B0-----:R-:W-:-:S01] MOV R2, R5
[B------:R0:W-:-:S01] STG [R2], R4
[B------:R-:W-:-:S05] EXIT
"""


def shares(text, given):
    """Return ncu's shares of cycles by our reasons, of instructions of a listing."""
    program = assemble(text)
    cycles = np.zeros((len(program.instructions), len(Stall)), np.int64)
    for pc, reasons in given.items():
        for reason, count in reasons.items():
            cycles[pc, reason] = count
    return ncu_shares(cycles, program)


@pytest.mark.parametrize("reason", Stall, ids=lambda reason: reason.name)
def test_every_stall_reason_has_a_name_of_ncu(reason):
    """A reason is one of the profiler's, or says that no warp is there to be sampled."""
    assert ncu_name(reason) in NCU | {None}


def test_shares_are_of_the_cycles_in_which_a_warp_is_there():
    """Cycles before a block starts, and of warps that have exited, count nowhere; two reasons may share a name."""
    given = {Stall.LAUNCH_DELAY: 100, Stall.WARP_EXITED: 200, Stall.NO_WARP: 300, Stall.WAIT: 2}
    found = shares(CODE, {0: given | {Stall.ISSUE_INTERVAL: 4, Stall.SELECTED: 2}})
    assert {name: share for name, share in found.items() if share} == {"wait": 0.75, "selected": 0.25}


def test_without_any_warp_there_are_no_shares():
    """Cycles that are all of empty slots give no share, and no error."""
    assert not any(shares(CODE, {}).values())


@pytest.mark.parametrize(
    ("pc", "reason", "name"),
    [
        (0, Stall.LG_THROTTLE, "lg_throttle"),
        (1, Stall.MIO_THROTTLE, "mio_throttle"),
        (2, Stall.WAR_HAZARD, "long_scoreboard"),
        (3, Stall.WAR_HAZARD, "short_scoreboard"),
        (2, Stall.WAIT, "wait"),
        (4, Stall.DRAIN, "membar"),
        (5, Stall.BARRIER, "membar"),
        (5, Stall.DRAIN, "drain"),
    ],
)
def test_some_reasons_are_named_by_their_instruction(pc, reason, name):
    """Reasons have ncu's names; sources are read by the access that holds their barrier."""
    assert shares(CODE, {pc: {reason: 7}})[name] == 1


def test_the_access_that_holds_a_barrier_may_stand_behind_in_a_loop():
    """The first instruction waits for the read barrier of the store behind it."""
    assert shares(LOOP, {0: {Stall.WAR_HAZARD: 1}})["long_scoreboard"] == 1


def test_every_timed_kernel_was_profiled_alone_and_whole():
    """The profiles are of the timed kernels in `solo` and `full`; shares of ncu's reasons add up to 1."""
    assert set(PROFILES) == {(kernel, each) for kernel in tables.compiled() for each in ("solo", "full")}
    for profile in PROFILES.values():
        assert set(profile.counters) == set(COUNTERS)
        assert set(profile.stalls) <= NCU
        assert sum(profile.stalls.values()) == pytest.approx(1)


def test_instructions_are_those_that_ncu_counted_one_by_one():
    """The instructions of a launch are the sum of the executions of each, which ncu counted in another table."""
    for kernel in tables.compiled():
        executed = tables.executed(kernel)
        assert PROFILES[kernel, "solo"].counters["instructions"] == executed.warps_solo.sum()
        assert PROFILES[kernel, "full"].counters["instructions"] == executed.warps_full.sum()


def test_a_machine_whose_kernels_were_not_profiled_has_no_profiles():
    """Where there is no file of counts there is nothing, and no error."""
    assert profiles("gtx580") == {}
