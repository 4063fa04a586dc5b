"""The load/store unit: its queue, its service, and its refusals when the queue is full."""

from itertools import pairwise

import pytest
from timing import PORT, cycles_of, run_text, stalled

from gpusim.sm.unit.stall import Stall

THREE_WARPS = ".block 96\n.shared 4096\nS2R R0, LANEID\nSHL R0, R0, 7\nLDS R1, [R0]\nEXIT"  # 32-way conflict: 64 cycles


def test_service_is_in_the_order_of_issue_and_one_at_a_time():
    """Three loads of 32 passes each are served 64 cycles apart, the first in the cycle of its issue."""
    run = run_text(THREE_WARPS, {"load_store.queue": 8})
    issued = [cycle for cycle, _, pc in cycles_of(run) if pc == 2]
    assert [cycle for cycle, _, _ in cycles_of(run, "serve")] == [issued[0], issued[0] + 64, issued[0] + 128]
    assert run.load_store_cycles[2] == 3 * 64


@pytest.mark.parametrize(("queue", "wait"), [(1, 62), (2, 0)])
def test_a_full_queue_holds_the_next_load(queue, wait):
    """One load is in service and `queue` more may wait; the next load issues in the slot after the next service."""
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
    """A load without an active lane is not served, and its register is not waited for."""
    run = run_text(".shared 128\n@P0 LDS R1, [RZ]\nIADD R1, R1, 1\nEXIT")
    assert cycles_of(run, "serve") == []
    assert [cycle for cycle, _, _ in cycles_of(run)] == [0, 6, 12]


@pytest.mark.parametrize(
    ("instruction", "service", "interval"),
    [
        ("LDS R4, [R0]", 1, 2),
        ("LDS.64 R4, [R0]", 1, 2),
        ("LDS.128 R4, [R0]", 2, 4),
        ("STS [R0], R4", 1, 4),
        ("STS.64 [R0], R4", 2, 6),
        ("STS.128 [R0], R4", 4, 10),
        ("STG [R1], R4", 2, 6),
        ("SHFL.BFLY R4, R4, 1", 2, 4),
        ("S2R R4, LANEID", 2, 2),
    ],
)
def test_a_port_lets_its_schedulers_instructions_through_one_by_one(instruction, service, interval):
    """The unit and the port are taken as long as measured on an H200 (docs/hopper.md); the pipe here has 16 lanes."""
    text = f".shared 512\n.buffer x u32 32\nMOV R1, c[x]\n{instruction}\n{instruction.replace('R4', 'R8')}\nEXIT"
    run = run_text(text, {**PORT, "unit.shuffle.pipe": "int16", "unit.special.pipe": "int16"})
    first, second = (cycle for cycle, _, _ in cycles_of(run, "serve"))
    assert run.load_store_cycles[1] == service
    assert second - first == interval


APART = {
    **PORT,
    "unit.special.pipe": "int16",
    "constant_path.cycles": 2,
    "constant_path.latency": 25,
}


@pytest.mark.parametrize(
    ("second", "served"),
    [("LDS R5, [R0]", [0, 2, 4]), ("S2R R5, LANEID", [0, 2, 4]), ("S2R R5, CTAID.X", [0, 2, 2])],
)
def test_what_is_one_for_a_block_leaves_the_port_free(second, served):
    """Between two loads, each 2 cycles of the port, a thread's register takes the port; the block's does not."""
    text = f".shared 512\nMOV R0, 0\nLDS R4, [R0]\n{second}\nLDS R6, [R0]\nEXIT"
    cycles = [cycle for cycle, _, _ in cycles_of(run_text(text, APART | {"load_store.queue": 8}), "serve")]
    assert [cycle - cycles[0] for cycle in cycles] == served


def test_the_unit_of_constants_takes_one_after_the_other():
    """Of two warps on two schedulers each reads the block's place twice: a read each 2 cycles, 25 to the result."""
    text = ".block 64\nS2R R0, CTAID.X\nS2R R1, CTAID.Y\nIADD R2, R0, 1\nEXIT"
    run = run_text(text, APART | {"schedulers.count": 2})
    served = [cycle for cycle, _, _ in cycles_of(run, "serve")]
    assert [after - before for before, after in pairwise(served)] == [2, 2, 2]
    added = next(cycle for cycle, warp, pc in cycles_of(run) if pc == 2)
    assert added - served[0] == 25


@pytest.mark.parametrize(("held", "issued"), [(0, 18), (20, 20), (60, 37)])
def test_a_place_that_constants_leave_is_taken_before_one_that_is_kept(held, issued):
    """In a queue of two places a load waits for the second read of constants or for the first load, whoever is first.

    The first load, issued and served at 0, keeps its place for `held` cycles. The reads issue at 6 and 12; the unit
    takes the first at 6 and, 30 cycles later, the second at 36. The last load issues at 18 if it finds a place; or when
    the kept place is left at 20; or at 37, as the unit takes the second read at 36, after the schedulers have acted.
    """
    text = ".shared 512\nMOV R0, 0\nLDS R4, [R0]\nS2R R5, CTAID.X\nS2R R6, CTAID.Y\nLDS R7, [R0]\nEXIT"
    changes = {"schedulers.issue_interval": 6, "load_store.queue": 2, "constant_path.cycles": 30}
    cycles = [cycle for cycle, _, pc in cycles_of(run_text(text, APART | changes | {"memory_port.held": held})) if pc]
    assert [cycle - cycles[0] for cycle in cycles[:4]] == [0, 6, 12, issued]


@pytest.mark.parametrize(
    ("load", "stride", "cycles"),
    [("LDS", 4, 23), ("LDS", 8, 25), ("LDS.64", 0, 23), ("LDS.64", 8, 26), ("LDS.128", 0, 26), ("LDS.128", 16, 32)],
)
def test_a_load_of_few_passes_comes_early_and_one_of_many_late(load, stride, cycles):
    """As measured on an H200, shared loads of n passes take 21 + 2 n, 22 + 2 n or 23, 24 + 2 n or 26 cycles."""
    text = f".shared 512\nS2R R0, LANEID\nIMUL R0, R0, {stride}\n{load} R4, [R0]\nFADD R4, R4, R4\nEXIT"
    issued = [cycle for cycle, _, _ in cycles_of(run_text(text, PORT | {"memory_port.units": "none"}))]
    assert issued[3] - issued[2] == cycles
