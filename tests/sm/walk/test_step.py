"""One act of one agent: order inside a cycle, branches, exits."""

import pytest
from timing import cycles_of, issue_times, run_text


def test_a_service_follows_the_issue_of_its_cycle():
    """The load/store unit acts after the schedulers: an idle unit serves a load in the cycle of its issue."""
    run = run_text(".shared 128\nLDS R0, [RZ]\nEXIT")
    assert cycles_of(run, "serve") == [(0, 0, 0)]


@pytest.mark.parametrize(("guard", "second"), [("", 18), ("@!P0 ", 18), ("@P0 ", 6)])
def test_only_a_taken_branch_is_waited_for(guard, second):
    """A branch that is not taken costs the issue interval of 6 cycles, a taken one the branch latency of 18."""
    assert issue_times(f"{guard}BRA out\nNOP\nout:\nNOP\nEXIT", {"branch.latency": 18})[1] == second


def test_an_exit_that_is_switched_off_goes_on():
    """EXIT under a false guard is an instruction like any other."""
    run = run_text("@P0 EXIT\nNOP\nEXIT")
    assert [pc for _, _, pc in cycles_of(run)] == [0, 1, 2]


@pytest.mark.parametrize("issue_interval", [1, 2, 6, 7])
def test_a_warp_keeps_its_issue_interval(issue_interval):
    """Independent instructions of one warp are an issue interval apart, rounded up to slots of 2 cycles."""
    gap = max(2, -(-issue_interval // 2) * 2)
    assert issue_times("NOP\nNOP\nNOP\nEXIT", {"schedulers.issue_interval": issue_interval}) == [0, gap, 2 * gap]
