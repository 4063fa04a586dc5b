"""Barriers: whole and partial ones."""

import pytest
from timing import cycles_of, run_text, stalled

from gpusim.engines.simulate import run_sm
from gpusim.machine.machine import load
from gpusim.units.stall import Stall
from isa.text.listing import read


@pytest.mark.parametrize(("latency", "release"), [(0, 1), (1, 1), (18, 18)])
def test_a_single_warp_releases_itself(latency, release):
    """A barrier of a single warp releases it after the barrier's latency, and after 1 cycle at least."""
    run = run_text(
        "BAR.SYNC 0\nEXIT", {"barrier.latency": latency, "schedulers.issue_interval": 1, "schedulers.interval": 1}
    )
    assert [cycle for cycle, _, _ in cycles_of(run)] == [0, release]


@pytest.mark.parametrize("warps", [1, 2, 7, 32])
def test_a_barrier_of_an_h200_releases_its_kth_warp_after_11_plus_2_k_cycles(warps):
    """The last of W warps arrives at T; the warps continue at T + 13, T + 15, ..., T + 11 + 2 W."""
    kernel = read(f".block {32 * warps}\nBAR.SYNC 0\nEXIT")
    issues = cycles_of(run_sm(kernel, load("h200"), trace=True))
    last = max(cycle for cycle, _, pc in issues if pc == 0)
    assert [cycle - last for cycle, _, pc in issues if pc == 1] == [11 + 2 * k for k in range(1, warps + 1)]


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
