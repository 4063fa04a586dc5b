"""The order of stall reasons: one reason for each cycle, in the enum's order, in whole issue slots."""

import pytest
from timing import run_text

from gpusim.sm.account.stall_accounting import stall_accounting
from gpusim.sm.state.room import made, sizes
from gpusim.sm.unit.stall import SHARED, UNCHOSEN, Stall


def reasons(run, pc) -> dict[str, int]:
    """Cycles by reason while `pc` was the warp's next instruction."""
    return {reason.name: int(run.stalls[pc, reason]) for reason in Stall if run.stalls[pc, reason]}


@pytest.mark.parametrize("interval", [1, 2, 3, 4])
def test_waits_are_rounded_up_to_issue_slots(interval):
    """A result after 18 cycles is used in the first slot from then on, and all cycles before this slot are charged."""
    changes = {"schedulers.interval": interval, "schedulers.issue_interval": 1, "unit.fp32.latency": 18}
    run = run_text("FADD R0, R1, R2\nFADD R3, R0, R0\nEXIT", changes)
    slot = -(-18 // interval) * interval
    assert reasons(run, 1) == {"WAIT": slot - interval, "SELECTED": interval}


def test_an_earlier_reason_hides_a_later_one_until_its_release_time():
    """The issue interval holds until 12, the sum until 24, the load until 40: each is charged after the one before."""
    text = ".shared 128\nLDS R0, [RZ]\nEXIT"
    both = ".shared 128\nLDS R0, [RZ]\nFADD R1, R2, R3\nFADD R4, R0, R1\nEXIT"
    changes = {"shared_memory.latency_32": 40, "unit.fp32.latency": 18}
    assert reasons(run_text(both, changes), 2) == {
        "ISSUE_INTERVAL": 4, "WAIT": 12, "SHORT_SCOREBOARD": 16, "SELECTED": 2
    }  # fmt: skip
    assert reasons(run_text(text, changes), 1) == {"ISSUE_INTERVAL": 4, "DRAIN": 34, "SELECTED": 2}


@pytest.mark.parametrize("stagger", [0, 1])
def test_sums_are_exact_with_staggered_schedulers(stagger):
    """Warp-cycles and scheduler cycles add up, also if the second scheduler's slots are a cycle later."""
    changes = {"schedulers.count": 2, "schedulers.stagger": stagger}
    run = run_text(".block 96\nFADD R0, R1, R2\nFADD R3, R0, R0\nEXIT", changes)
    assert run.stalls.sum() + run.empty == run.cycles * 3
    assert run.lost.sum() + run.warp_instructions * 2 == run.cycles * 2
    assert run.empty == stagger


def test_an_unused_slot_is_blamed_on_the_warp_that_ends_it():
    """Warp 0 waits for a load, warp 1 for an addition: slots up to the addition's end go to warp 1's reason."""
    text = ".block 64\n.shared 128\nS2R R0, WARPID\nISETP.EQ P0, R0, 0\n@P0 LDS R1, [RZ]\n@!P0 FADD R1, R2, R3\n"
    run = run_text(text + "IADD R1, R1, 1\nEXIT", {"shared_memory.latency_32": 100})
    assert run.lost[0, Stall.SHORT_SCOREBOARD] < run.stalls[:, Stall.SHORT_SCOREBOARD].sum()
    assert run.lost.sum() + run.warp_instructions * 2 == run.cycles


def test_only_notes_that_are_never_read_again_are_forgotten():
    """Class 0, without ready warps, loses all; class 1 those of empty slots before the last used one; class 2 none."""
    scheduler = made("scheduler", 1, sizes({}))[0]
    scheduler.units, scheduler.used_until = 0b110, 30
    scheduler.holding[:3], scheduler.since[:3], scheduler.idle_since[:3] = 1, 2, (3, 4, 31)
    scheduler.refused[:3] = 7
    stall_accounting.forget(scheduler, 40)
    assert (scheduler.holding[:3].tolist(), scheduler.since[:3].tolist()) == ([UNCHOSEN, 1, 1], [40, 2, 2])
    assert scheduler.idle_since[:3].tolist() == [29, 29, 31]
    assert scheduler.refused_before[:3].tolist() == [[7] * SHARED, [7] * SHARED, [0] * SHARED]
