"""Barriers in shared memory, by programs: each form of instruction, phases, copies that arrive, and deadlocks."""

import numpy as np
import pytest
from bulk_programs import H200, everywhere, kernel
from without_waits import right, without

from gpusim.engines.simulate import run_sm
from gpusim.engines.walks.program_order import walk
from gpusim.sm.unit.stall import Stall
from isa.errors import DeadlockError, ExecutionError

MOST = 1 << 20
COUNT, BYTES = 8, 48


def word(pending, expected, still, phase):
    """Return the 64 bits of a barrier: arrivals are kept negative."""
    return (MOST - expected) % MOST << 1 | still % (1 << 22) << 21 | (MOST - pending) % MOST << 43 | phase << 63


def test_each_form_changes_the_counts_as_the_manual_says():
    """Arrivals, drops, bytes announced and come: the words after each, the states given, and whether the phase is over.

    A state is the upper word before the arrival without bytes; its lower register is not written (seen on an H200).
    """
    words, over = np.zeros(18, np.uint64), np.zeros(4, np.uint32)
    steps = [  # pending, expected, bytes still to come, phase behind each; and of arrivals those before, in their state
        (8, 8, 0, 0),
        (7, 8, 0, 0, 8),
        (3, 8, 0, 0, 7),
        (2, 7, 0, 0, 3),
        (2, 7, 0, 0),  # the code reads the word before it announces these bytes
        (1, 7, 2 * BYTES, 0, 2),
        (1, 7, BYTES, 0),
        (0, 7, BYTES, 0, 1),
        (7, 7, 0, 1),
    ]
    for found in everywhere(kernel("signals", words, over, COUNT, BYTES)):
        held = found[0].reshape(-1, 2)
        assert [int(one) for one in held[:, 1]] == [word(*step[:4]) for step in steps]
        states = [int(one) >> 32 for one in held[:, 0]]
        assert states == [(MOST - step[4]) << 11 if len(step) > 4 else 0 for step in steps]
        assert found[1].tolist() == [0, 1, 2, 0]  # over before and behind; the arrivals that the last state has


@pytest.mark.parametrize("rounds", [1, 2, 7])
def test_two_barriers_hand_words_from_a_warp_to_others(rounds):
    """A producer fills and two consumers add up, in turns: each word is seen once by each, whoever runs first."""
    total = rounds * (rounds + 1) // 2
    wanted = [0] * 32 + [total * (lane + 1) for _ in range(2) for lane in range(32)]
    for found in everywhere(kernel("phases", np.zeros(96, np.uint32), rounds, threads=96)):
        assert found[0].tolist() == wanted


@pytest.mark.parametrize("counted", [0, 1])
def test_copies_arrive_when_they_are_done(counted):
    """Words of LDGSTS are there behind the wait: the arrival that follows them comes last."""
    source = np.arange(128, dtype=np.uint32)
    for found in everywhere(kernel("followed", np.zeros(128, np.uint32), source, counted)):
        assert found[0].tolist() == [(i // 4 * 4 + 20 + i % 4) % 128 for i in range(128)]


def test_a_wait_that_nobody_ends_is_told():
    """The message has the barrier, its phase, what is missing, who waits where, and where others of the block are."""
    words = (
        r"phase 0 of the barrier at 0x400 in shared memory lacks 256 bytes: warp 0 at .*TRYWAIT.*; its warp 1 at .*BAR"
    )
    for execute in (walk, lambda one: run_sm(one, H200), lambda one: run_sm(one, H200, engine="reference")):
        with pytest.raises(DeadlockError, match=words):
            execute(kernel("never", np.zeros(64, np.uint32), threads=64))


def test_bytes_that_nobody_has_announced_are_told():
    """Without the arrival that announces them, a barrier waits for it, and has got bytes before."""
    words = "lacks 1 arrival and has got 1024 bytes that nobody has announced: warps 0 1 2 3 4 5 6 7 at scale"
    with pytest.raises(DeadlockError, match=words):
        walk(without(right("bulk"), "SYNCS.ARRIVE"))


def test_more_arrivals_than_the_count_are_told():
    """A thread arrives for 2 ** 32 - 1 where two are still to come: that ends the run."""
    with pytest.raises(ExecutionError, match="more arrivals at the barrier at 0x400 in shared memory than its phase"):
        walk(kernel("signals", np.zeros(18, np.uint64), np.zeros(4, np.uint32), 3, BYTES))


def test_who_waits_for_a_phase_waits_as_for_global_memory():
    """The cycles of a wait are long_scoreboard, as NVIDIA's profiler has them."""
    run = run_sm(kernel("phases", np.zeros(96, np.uint32), 7, threads=96), H200)
    by_reason = run.stalls.sum(axis=0)
    assert by_reason[Stall.LONG_SCOREBOARD] > 0
    assert by_reason.sum() + run.empty == run.cycles * run.warp_slots
