"""Barriers: whole and partial ones."""

import pytest
from timing import cycles_of, run_text, stalled

from gpusim.engines.simulate import run_sm
from gpusim.machine.machine import load
from gpusim.sm.account.record.declaration import TRACE_KINDS
from gpusim.sm.unit.stall import Stall
from isa.text.listing import read


@pytest.mark.parametrize(("latency", "release"), [(0, 1), (1, 1), (18, 18)])
def test_a_single_warp_releases_itself(latency, release):
    """A barrier of a single warp releases it after the barrier's latency, and after 1 cycle at least."""
    run = run_text(
        "BAR.SYNC 0\nEXIT", {"barrier.latency": latency, "schedulers.issue_interval": 1, "schedulers.interval": 1}
    )
    assert [cycle for cycle, _, _ in cycles_of(run)] == [0, release]


@pytest.mark.parametrize("warps", [1, 2, 7, 32])
def test_a_barrier_of_an_h200_releases_all_warps_12_cycles_behind_the_last_arrival(warps):
    """Each of W warps that come together takes 2 cycles to arrive; each scheduler then issues one in a cycle."""
    kernel = read(f".block {32 * warps}\nBAR.SYNC 0\nEXIT")
    issues = cycles_of(run_sm(kernel, load("h200", {"launch.begin": 0, "launch.warp_skew": 0}), trace=True))
    found = [cycle for cycle, _, pc in issues if pc == 1]
    assert found == [2 * warps + 12 + k // 4 for k in range(warps)]


def test_a_partial_barrier_waits_for_its_count_only():
    """Two of four warps synchronise on barrier 1; the other two skip it and exit first."""
    text = ".block 128\nS2R R0, WARPID\nISETP.LT P0, R0, 2\n@P0 BAR.SYNC 1, 64\nEXIT"
    run = run_text(text, {"barrier.latency": 18})
    assert len(cycles_of(run, "release")) == 1
    exits = {warp: cycle for cycle, warp, pc in cycles_of(run) if pc == 3}
    assert max(exits[2], exits[3]) < min(exits[0], exits[1])


def test_a_barrier_is_used_again_in_the_next_round():
    """A loop through one barrier releases it once per round."""
    text = ".block 64\nagain:\nBAR.SYNC 0\nIADD R0, R0, 1\nISETP.LT P0, R0, 5\n@P0 BRA again\nEXIT"
    assert len(cycles_of(run_text(text), "release")) == 5


def test_a_warp_released_from_a_barrier_still_waits_for_its_load():
    """A warp that needs a load after a barrier is charged first for the barrier, then for the load; both wake it."""
    text = ".block 64\n.buffer x u32 32\nMOV R1, c[x]\nLDG R0, [R1]\nBAR.SYNC 0\nIADD R0, R0, 1\nEXIT"
    run = run_text(text, {"global_memory.latency": 300, "barrier.latency": 18})
    waits = [run.stalls[3, reason] for reason in (Stall.BARRIER, Stall.LONG_SCOREBOARD)]
    assert waits[0] == stalled(run, Stall.BARRIER) > 0
    assert waits[1] > 400


def test_two_blocks_have_barriers_of_their_own():
    """Barrier 0 of one block is not barrier 0 of the other."""
    run = run_text(".grid 2\n.block 64\nBAR.SYNC 0\nEXIT")
    released = [(int(r.cycle), int(r.block)) for r in run.trace if r.kind == 4]
    assert sorted(block for _, block in released) == [0, 1]


DEFERRED = {"barrier.latency": 40, "barrier.defers": 1, "schedulers.interval": 1, "schedulers.issue_interval": 1}


@pytest.mark.parametrize(
    ("instruction", "waits"),
    [
        ("IADD R1, R1, 1", False),
        ("ISETP.LT P0, R1, 1", False),
        ("S2R R1, LANEID", False),
        ("LDS R1, [R2]", True),
        ("STS [R2], R1", True),
        ("LDL R1, [R2]", True),
        ("BRA next\nnext:", True),
        ("NOP", True),
        ("BAR.SYNC 1", True),
        ("EXIT", True),
    ],
)
def test_only_arithmetic_passes_a_deferred_barrier(instruction, waits):
    """Behind a barrier of one warp, arithmetic issues in the next cycle; memory, control and barriers wait 40."""
    run = run_text(f".shared 4\n.local 4\nBAR.SYNC 0\n{instruction}\nEXIT", DEFERRED)
    issued = {pc: cycle for cycle, _, pc in cycles_of(run)}
    assert issued[1] == (40 if waits else 1)


def test_a_deferred_barrier_is_not_arrived_at_twice():
    """Each of two barriers in a row waits for both warps: 40 cycles from 200, when warp 1 comes, and 40 from 241.

    One warp issues per cycle, so that warp 1 comes to the second barrier a cycle after warp 0.
    """
    text = ".block 64\nBAR.SYNC 0\nBAR.SYNC 0\nEXIT"
    run = run_text(text, DEFERRED | {"launch.warp_skew": 200})
    assert [(cycle, warp) for cycle, warp, pc in cycles_of(run) if pc == 2] == [(281, 0), (282, 1)]
    assert [cycle for cycle, _, _ in cycles_of(run, "release")] == [200, 241]


def test_a_program_does_not_end_before_a_deferred_barrier():
    """The exit behind the last instruction waits for the barrier as EXIT does."""
    assert [cycle for cycle, _, _ in cycles_of(run_text("BAR.SYNC 0", DEFERRED))] == [0, 40]


def test_a_barrier_that_a_warp_completes_without_waiting_is_recorded():
    """BAR.ARV of the last warp releases the one that waits, and the trace says when, deferred or not."""
    text = ".block 64\nS2R R0, WARPID\nISETP.LT P0, R0, 1\n@P0 BAR.SYNC 1, 64\n@!P0 BAR.ARV 1, 64\nEXIT"
    for defers in (0, 1):
        assert len(cycles_of(run_sm(read(text), load("h200", {"barrier.defers": defers}), trace=True), "release")) == 1


def test_an_exit_that_completes_a_barrier_waits_for_its_own_arrivals_only():
    """Block 0's warp 1 exits while block 1's warps are arriving, 300 cycles each: warp 0 goes on 12 cycles behind."""
    text = """
.grid 2
.block 64
    YIELD
    S2R R0, WARPID
    S2R R1, CTAID.X
    ISETP.EQ P0, R0, 0
    ISETP.EQ P1, R1, 0
    @P1 BRA first
    MOV R3, 20
    BRA later
first:
    @P0 BRA waits
    MOV R3, 30
later:
    IADD R2, R2, 1
    ISETP.LT P2, R2, R3
    @P2 BRA later
    @P1 EXIT
waits:
    BAR.SYNC 0
    EXIT
"""
    kernel = read(text)
    machine = load("h200", {"chip.sms": 1, "barrier.per_arrival": 300, "barrier.defers": 0})
    run = run_sm(kernel, machine, trace=True)
    exits = [(int(r.cycle), int(r.block), int(r.pc)) for r in run.trace if TRACE_KINDS[r.kind] == "issue"]
    (left,) = [cycle for cycle, block, pc in exits if (block, pc) == (0, 13)]
    (released,) = [cycle for cycle, block, pc in exits if (block, pc) == (0, 15)]
    arrived = [cycle for cycle, block, pc in exits if (block, pc) == (1, 14)]
    assert max(arrived) < left < min(arrived) + 300
    assert left + 12 <= released < left + 20
