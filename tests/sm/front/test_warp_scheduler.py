"""Warp schedulers: slots, refusals, and which warps belong to whom."""

import pytest
from timing import cycles_of, run_text

from gpusim.sm.account.record.declaration import TRACE_KINDS


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_warp_slots_belong_to_schedulers_in_turn(count):
    """Each warp slot w of 8 issues from scheduler w modulo their number; agent 1 is the first scheduler."""
    run = run_text(".block 256\nEXIT", {"schedulers.count": count})
    issued = [(int(r.warp), int(r.agent)) for r in run.trace if TRACE_KINDS[r.kind] == "issue"]
    assert sorted(issued) == [(warp, 1 + warp % count) for warp in range(8)]


@pytest.mark.parametrize(("interval", "stagger"), [(1, 0), (2, 1), (3, 1), (4, 3)])
def test_issues_are_in_the_schedulers_slots(interval, stagger):
    """Scheduler k issues three instructions of each of its warps, only at cycles k x stagger modulo the interval."""
    run = run_text(
        ".block 128\nFADD R0, R1, R2\nFADD R3, R0, R0\nEXIT",
        {"schedulers.count": 2, "schedulers.interval": interval, "schedulers.stagger": stagger},
    )
    issued = cycles_of(run)
    assert len(issued) == 3 * 4
    assert {(cycle - warp % 2 * stagger) % interval for cycle, warp, _ in issued} == {0}


@pytest.mark.parametrize(("moves", "next_warp"), [(0, 2), (1, 0)])
def test_a_refusal_moves_the_pointer_or_not(moves, next_warp):
    """After warp 2 is refused at 4, the slot at 6 is warp 2's again, or warp 0's if a refusal moves the pointer."""
    text = ".block 96\n.shared 4096\nLDS.128 R4, [RZ]\nFADD R0, R1, R2\nEXIT"
    changes = {"load_store.queue": 1, "issue.refused_wastes_slot": 1, "issue.refused_retry": 2}
    run = run_text(text, {**changes, "issue.refused_moves_pointer": moves})
    used = sorted(cycles_of(run) + cycles_of(run, "refuse"))
    assert [warp for cycle, warp, _ in used if cycle in (4, 6)] == [2, next_warp]


def test_ranks_rotate_where_the_machine_says_so():
    """Two schedulers want a shared pipe at once: without rotation scheduler 0 gets it first, with it scheduler 1."""
    text = ".block 64\nNOP\nMUFU.RCP R0, R1\nEXIT"
    changes = {"schedulers.count": 2, "pipe.sfu.schedulers": 2}
    first = {
        rotate: next(warp for _, warp, pc in cycles_of(run_text(text, {**changes, "issue.rotate": rotate})) if pc == 1)
        for rotate in (0, 1)
    }
    assert first == {0: 0, 1: 1}  # at cycle 6 the third slot begins: scheduler 1's turn to be first
