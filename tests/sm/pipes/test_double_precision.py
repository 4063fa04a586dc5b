"""Double precision and the other scheduler's issue slot."""

import pytest
from timing import cycles_of, run_text, stalled

from gpusim.sm.unit.stall import Stall

# Warp 0 issues double precision at 6, when warp 1 would issue its first addition.
TEXT = ".block 64\nFADD R8, R9, R10\nDADD R0, R2, R4\nFADD R11, R9, R10\nEXIT"
MACHINE = {"schedulers.count": 2, "launch.warp_skew": 6, "pipe.dp.lanes": 32}


@pytest.mark.parametrize(("exclusive", "first"), [("off", 6), ("issue", 8), ("flight", 8)])
def test_the_other_scheduler_leaves_the_slot_to_double_precision(exclusive, first):
    """While a DADD issues, the other scheduler issues nothing, unless `double.exclusive` is off."""
    run = run_text(TEXT, {**MACHINE, "double.exclusive": exclusive})
    assert cycles_of(run)[1:3] == ([(6, 0, 1), (6, 1, 0)] if first == 6 else [(6, 0, 1), (8, 1, 0)])


@pytest.mark.parametrize(("exclusive", "first"), [("off", 12), ("issue", 12), ("flight", 14)])
def test_double_precision_in_flight_makes_schedulers_take_turns(exclusive, first):
    """Warp 0's DADD is in flight when both warps could issue at 12: with `flight`, warp 1 waits until 14."""
    run = run_text(TEXT, {**MACHINE, "launch.warp_skew": 12, "double.exclusive": exclusive, "unit.dp.latency": 24})
    assert next(cycle for cycle, warp, _ in cycles_of(run) if warp == 1) == first


def test_one_scheduler_never_holds_itself():
    """A single scheduler never waits for its own double precision."""
    run = run_text(TEXT, {"double.exclusive": "flight"})
    assert stalled(run, Stall.DP_ISSUE_CONFLICT) == 0
