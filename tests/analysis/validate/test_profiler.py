import pytest

from gpusim.analysis.validate.profiler import COUNTERS, ncu_name, ncu_shares, profiles
from gpusim.sm.unit.stall import Stall
from workloads.measured.whole import tables

NCU = {  # Nsight Compute 2025.3, Kernel Profiling Guide: warp stall reasons, and the state in which a warp issues
    *("barrier", "branch_resolving", "dispatch_stall", "drain", "gmma", "imc_miss", "lg_throttle", "long_scoreboard"),
    *("math_pipe_throttle", "membar", "mio_throttle", "misc", "no_instruction", "not_selected", "selected"),
    *("short_scoreboard", "sleeping", "tex_throttle", "wait"),
}
PROFILES = profiles("h200")


@pytest.mark.parametrize("reason", Stall, ids=lambda reason: reason.name)
def test_every_stall_reason_has_a_name_of_ncu(reason):
    """A reason is one of the profiler's, or says that no warp is there to be sampled."""
    assert ncu_name(reason) in NCU | {None}


def test_shares_are_of_the_cycles_in_which_a_warp_is_there():
    """Cycles before a block starts, and of warps that have exited, count nowhere; two reasons may share a name."""
    cycles = [0] * len(Stall)
    cycles[Stall.LAUNCH_DELAY], cycles[Stall.WARP_EXITED], cycles[Stall.NO_WARP] = 100, 200, 300
    cycles[Stall.WAIT], cycles[Stall.ISSUE_INTERVAL], cycles[Stall.SELECTED] = 2, 4, 2
    found = ncu_shares(cycles)
    assert {name: share for name, share in found.items() if share} == {"wait": 0.75, "selected": 0.25}


def test_without_any_warp_there_are_no_shares():
    """Cycles that are all of empty slots give no share, and no error."""
    assert not any(ncu_shares([0] * len(Stall)).values())


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
