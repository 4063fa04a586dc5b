"""The load/store unit: its queue, its service, and what it does when it is full."""

import pytest
from timing import cycles_of, run_text, stalled

from gpusim.stall import Stall

THREE_WARPS = ".block 96\n.shared 4096\nS2R R0, LANEID\nSHL R0, R0, 7\nLDS R1, [R0]\nEXIT"  # 32-way conflict: 64 cycles


def test_service_is_in_the_order_of_issue_and_one_at_a_time():
    """Three loads of 32 passes each are served 64 cycles apart, the first in the cycle of its issue."""
    run = run_text(THREE_WARPS, {"load_store.queue": 8})
    issued = [cycle for cycle, _, pc in cycles_of(run) if pc == 2]
    assert [cycle for cycle, _, _ in cycles_of(run, "serve")] == [issued[0], issued[0] + 64, issued[0] + 128]
    assert run.load_store_cycles[2] == 3 * 64


@pytest.mark.parametrize(("queue", "wait"), [(1, 62), (2, 0)])
def test_a_full_queue_holds_the_next_load(queue, wait):
    """One load is in service, `queue` may wait behind it; the next issues in the slot after the next service."""
    run = run_text(THREE_WARPS, {"load_store.queue": queue})
    issued = [cycle for cycle, _, pc in cycles_of(run) if pc == 2]
    assert issued[2] - issued[1] == 2 + wait
    assert stalled(run, Stall.MIO_THROTTLE) == wait


@pytest.mark.parametrize(("retry", "attempts"), [(1, 31), (2, 31), (5, 11), (62, 1)])
def test_a_refused_warp_tries_again_and_costs_a_slot_each_time(retry, attempts):
    """Where a refusal uses up the slot, the warp is refused every `retry` cycles, rounded up to its slots."""
    run = run_text(THREE_WARPS, {"load_store.queue": 1, "issue.refused_wastes_slot": 1, "issue.refused_retry": retry})
    assert len(cycles_of(run, "refuse")) == attempts
    assert run.lost[0, Stall.MIO_THROTTLE] >= 2 * attempts


def test_a_load_that_is_switched_off_never_enters_the_queue():
    """No lane is active: nothing is served, and its register is not waited for."""
    run = run_text(".shared 128\n@P0 LDS R1, [RZ]\nIADD R1, R1, 1\nEXIT")
    assert cycles_of(run, "serve") == []
    assert [cycle for cycle, _, _ in cycles_of(run)] == [0, 6, 12]
