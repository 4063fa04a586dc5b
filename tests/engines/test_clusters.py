"""Clusters in the engines: values, time, and both engines alike."""

import math

import numpy as np
import pytest
from cluster_kernels import (
    dropped,
    everyone,
    histogram,
    launched,
    leaves,
    left,
    lines_updated,
    multicast,
    pushed,
    ring,
    round_robin,
    sent,
    updated,
    widths,
)
from draws import draws
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies.launches import REPEATABLE

from gpusim.engines.simulate import run_chip, run_sm
from gpusim.launch.feed import ADDRESS_ONLY, EXECUTION_DRIVEN
from gpusim.machine.machine import load
from gpusim.machine.simulated_sms import clustered, count, simulated_blocks
from gpusim.simulation.simulation import simulate
from gpusim.sm.account.record.declaration import ISSUE
from isa.errors import DeadlockError, UserError

H200 = load("h200")
CASES = {
    "ring": lambda: ring(4, 64, 3),
    "histogram": lambda: histogram(4, 4, 48, 64, 64),
    "widths": widths,
    "leaves": leaves,
    "round robin": lambda: round_robin(2, 3),
    "multicast": lambda: multicast(4, 256),
    "everyone": lambda: everyone(4),
    "sent": lambda: sent(2),
    "pushed": lambda: pushed(2, 64),
    "updated": lambda: updated("add_u64"),
    "lines updated": lambda: lines_updated("max_s32"),
    "dropped": dropped,
}


def together(kernel, **options):
    """Run the SMs of one cluster."""
    return run_chip(kernel, H200, sms=kernel.cluster_blocks, **options)


@pytest.mark.parametrize("name", CASES)
def test_engines_agree(name):
    """Both engines leave what plain Python finds, in the same cycles, with the same stalls and registers."""
    kernel, expected = CASES[name]()
    reference, compiled = (together(kernel, engine=engine) for engine in ("reference", "compiled"))
    own = slice(0, len(expected) if name != "widths" else len(expected) // 2)  # the blocks of one cluster
    assert np.array_equal(left(kernel, compiled.memory)[own], expected[own])
    assert np.array_equal(reference.memory, compiled.memory)
    assert np.array_equal(reference.registers, compiled.registers)
    assert [one.cycles for one in reference.each] == [one.cycles for one in compiled.each]
    assert np.array_equal(reference.stalls, compiled.stalls)
    assert np.array_equal(reference.lost, compiled.lost)


@pytest.mark.jit
@pytest.mark.parametrize("name", ["ring", "histogram"])
def test_feeds_agree(name):
    """Where only addresses are computed cycles and stalls are the same."""
    kernel, _ = CASES[name]()
    valued, timed = (together(kernel, feed=feed) for feed in (EXECUTION_DRIVEN, ADDRESS_ONLY))
    assert valued.cycles == timed.cycles
    assert np.array_equal(valued.stalls, timed.stalls)


@pytest.mark.parametrize(("blocks", "warps"), [(2, 1), (2, 4), (4, 2), (8, 1)])
def test_the_barrier_lets_go_at_its_time(blocks, warps):
    """Each SM counts a warp in two cycles; the latency, and 4 for each doubling, behind the last one all go on."""
    kernel = launched("loops", (blocks,), 32 * warps, {}, 1, cluster=(blocks,))
    run = together(kernel, trace=True)
    names = [one.row.mnemonic for one in kernel.program.instructions]
    counted, behind = [], []
    for sm in run.each:
        issued = sm.trace[sm.trace["kind"] == ISSUE]
        free = 0
        for cycle in sorted(one["cycle"] for one in issued if names[one["pc"]] == "UCGABAR_ARV"):
            free = max(free, int(cycle)) + 2
        counted.append(free)
        for warp in range(warps):
            own = issued[issued["warp"] == warp]
            waits = next(i for i, one in enumerate(own) if names[one["pc"]] == "UCGABAR_WAIT")
            behind.append(int(own[waits + 1]["cycle"]))
    release = max(counted) + H200.cluster.barrier + H200.cluster.doubling * int(math.log2(blocks))
    assert min(behind) == release
    assert max(behind) <= release + warps  # one after the other where they share a scheduler


MEASURED = {(2, 1): 75.75, (2, 4): 81.76, (2, 16): 107.1, (4, 1): 79.75, (8, 1): 83.75}  # H200, 2026-11-29


@pytest.mark.long
@pytest.mark.parametrize(("blocks", "warps"), MEASURED)
def test_loops_of_barriers_take_what_an_h200_takes(blocks, warps):
    """A barrier of a cluster without fences, in a loop, is within 1.5 % of the chip."""
    short, long = (
        together(launched("loops", (blocks,), 32 * warps, {}, n, cluster=(blocks,))).cycles for n in (16, 48)
    )
    assert (long - short) / 32 == pytest.approx(MEASURED[blocks, warps], rel=0.015)


@pytest.mark.long
@pytest.mark.parametrize(("atomics", "least", "most"), [(0, 203, 222), (1, 228, 247)])
def test_chains_to_other_blocks_take_what_an_h200_takes(atomics, least, most):
    """A step of a chain of loads, or additions, lies between those measured in clusters of 2 and of 8."""
    found = []
    for steps in (8, 24):
        arrays = {"out": np.zeros(2, np.uint32)}
        kernel = launched("chains", (2,), 32, arrays, steps, atomics, shared=256, cluster=(2,))
        found.append(int(left(kernel, together(kernel).memory)[0]))
    assert least <= (found[1] - found[0]) / 16 <= most


def test_one_sm_brings_its_cluster():
    """By default the SMs of one cluster run, and the values of all blocks are there: 2 of 8 in time."""
    kernel, expected = histogram(8, 2, 32, 64)
    result = simulate(kernel, H200)
    assert (result.sms, result.run.blocks) == (2, 2)
    assert result.bound is not None
    assert result.bound.cycles <= result.cycles
    assert np.array_equal(left(kernel, result.run.memory)[:64], expected[:64])


def test_later_clusters_follow():
    """Where more clusters come than fit at once, each begins when all of its SMs have the slot free."""
    kernel, expected = histogram(480, 2, 8, 8)
    machine = clustered(kernel, H200)
    blocks = list(simulated_blocks(kernel, H200, 2))
    run = run_chip(kernel, H200, sms=2)
    assert machine.chip.sms == 132
    assert run.blocks == len(blocks) == 8
    own = np.concatenate([np.arange(8) + 8 * (block // 2) for block in blocks[::2]])
    assert np.array_equal(left(kernel, run.memory)[own], expected[own])


@pytest.mark.parametrize(("blocks", "sms"), [(2, 132), (4, 120), (8, 120), (16, 112)])
def test_sms_that_clusters_take(blocks, sms):
    """As on the chip: 66, 30, 15 and 7 clusters of 2, 4, 8 and 16 blocks at once."""
    kernel = launched("loops", (blocks,), 32, {}, 1, cluster=(blocks,))
    assert clustered(kernel, H200).chip.sms == sms
    assert count(H200, "all", kernel) == sms
    assert count(H200, 1, kernel) == blocks


def test_a_barrier_that_is_never_complete():
    """Both engines end with the deadlock of program order."""
    kernel = launched("stuck", (2,), 64, {})
    for engine in ("reference", "compiled"):
        with pytest.raises(DeadlockError, match="cluster 0 deadlocks: 3 warps wait at its barrier"):
            together(kernel, engine=engine)


@settings(REPEATABLE, max_examples=draws(30))
@given(st.sampled_from((2, 4, 8)), st.sampled_from((32, 64, 96)), st.integers(1, 40), st.sampled_from((8, 16, 64)))
def test_random_histograms(cluster, threads, each, bins):
    """Counts over a cluster's shared memory are right in both engines, which take the same cycles."""
    kernel, expected = histogram(cluster, cluster, each, bins, threads)
    reference, compiled = (together(kernel, engine=engine) for engine in ("reference", "compiled"))
    assert np.array_equal(left(kernel, compiled.memory), expected)
    assert np.array_equal(left(kernel, reference.memory), expected)
    assert reference.cycles == compiled.cycles


def test_what_clusters_do_not_run_on():
    """A machine without clusters, one SM alone, and other numbers of SMs say so."""
    kernel, _ = ring(4, 64, 1)
    with pytest.raises(UserError, match=r"has clusters of 4 blocks; a100 has none: its file has no \[cluster\]"):
        clustered(kernel, load("a100"))
    with pytest.raises(UserError, match="one SM alone can't show them"):
        run_sm(kernel, H200)
    with pytest.raises(UserError, match="for clusters of 4 blocks give 1, all, or one of 4, 8, 12, 20"):
        count(H200, 6, kernel)
