"""Clusters in program order: their blocks run together, and reach each other's shared memory."""

import numpy as np
import pytest
from cluster_kernels import (
    BY_NAME,
    LINES,
    UPDATES,
    dropped,
    histogram,
    launched,
    left,
    lines_updated,
    ring,
    updated,
)
from draws import few

from gpusim.engines.walks.program_order import walk
from isa.errors import DeadlockError, UserError
from isa.nvidia.abi.launch import LaunchError

CASES = {
    **BY_NAME,
    "updated": lambda: updated("add_u64"),
    "lines updated": lambda: lines_updated("max_s32"),
    "dropped": dropped,
}


@pytest.mark.parametrize("name", CASES)
def test_what_clusters_leave(name):
    """Loads, stores and atomics to other blocks leave what plain Python finds."""
    kernel, expected = CASES[name]()
    assert np.array_equal(left(kernel, walk(kernel).memory), expected)


@pytest.mark.parametrize("name", few([name for name in UPDATES if name not in ("inc_u32", "dec_u32")], 4))
def test_words_of_blocks_are_updated(name):
    """REDAS does what plain Python does, in whatever order two threads come to a word."""
    kernel, expected = updated(name)
    assert np.array_equal(left(kernel, walk(kernel).memory), expected)


@pytest.mark.parametrize("name", few(LINES, 4))
def test_lines_of_blocks_are_updated(name):
    """So do reductions of another block's shared memory by the copy engine."""
    kernel, expected = lines_updated(name)
    assert np.array_equal(left(kernel, walk(kernel).memory), expected)


@pytest.mark.parametrize("size", [1, 2, 8, 16])
def test_clusters_of_any_size(size):
    """A histogram is right in clusters of 1 to 16 blocks that the launch asks for."""
    kernel, expected = histogram(16, size, 32, 64)
    assert np.array_equal(left(kernel, walk(kernel).memory), expected)


@pytest.mark.parametrize("architecture", [90, 100])
def test_what_a_block_is_told_of_its_cluster(architecture):
    """Every special register of clusters that PTX has is right in a grid of 4 x 3 x 2 with clusters of 2 x 3."""
    kernel = launched(
        "told", (4, 3, 2), 1, {"out": np.zeros(16 * 24, np.uint32)}, cluster=(2, 3), architecture=architecture
    )
    found = left(kernel, walk(kernel).memory).reshape(24, 16)
    for block in range(24):
        x, y, z = block % 4, block // 4 % 3, block // 12
        ranks, clusters = [x % 2 + 2 * (y % 3), 6], [x // 2, y // 3, z, 2, 1, 2]
        assert found[block].tolist() == [*ranks, *clusters, x % 2, y % 3, 0, 2, 3, 1, 1, 0]


def test_a_launch_without_clusters_is_told_so():
    """Each block is a cluster by itself, and none is asked for."""
    kernel = launched("told", (3,), 1, {"out": np.zeros(48, np.uint32)})
    found = left(kernel, walk(kernel).memory).reshape(3, 16)
    assert [one.tolist() for one in found] == [[0, 1, b, 0, 0, 3, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0] for b in range(3)]


def test_one_block_brings_its_cluster():
    """A walk of block 6 alone runs blocks 4 to 7, and no others."""
    kernel, expected = ring(8, 64, 3)
    found = left(kernel, walk(kernel, [6]).memory)
    assert np.array_equal(found[256:], expected[256:])
    assert not found[:256].any()


def test_a_barrier_that_is_never_complete():
    """The message says how many warps wait at the cluster's barrier, and which do not come, and where they are."""
    text = (
        r"stuck: cluster 0 deadlocks: 3 warps wait at its barrier, which misses of block 0: warp 1 at stuck\+0x60 "
        r".*BAR.SYNC.*; let every warp of the cluster arrive, or exit"
    )
    with pytest.raises(DeadlockError, match=text):
        walk(launched("stuck", (4,), 64, {}))


def test_an_arrival_that_nobody_brings():
    """A block that waits at its barrier in shared memory is named, though the others wait at their cluster's."""
    with pytest.raises(DeadlockError, match=r"missing: block 0 deadlocks"):
        walk(launched("missing", (2,), 32, {}, cluster=(2,)))


@pytest.mark.parametrize(
    ("cluster", "why"),
    [
        ((3,), "loops has clusters of 3 x 1 x 1 blocks; take a grid of whole ones"),
        ((0,), "clusters of 0 x 1 x 1 blocks; give at least 1 x 1 x 1"),
        ((32,), "clusters of 32 x 1 x 1 blocks; loops takes 16 blocks at most"),
    ],
)
def test_clusters_that_a_launch_does_not_take(cluster, why):
    """Sizes that are none, too large, or do not divide the grid are refused in one line."""
    with pytest.raises(LaunchError, match=why):
        launched("loops", (32 if cluster == (32,) else 4,), 32, {}, 1, cluster=cluster)


def test_clusters_that_the_code_says_otherwise():
    """A launch may not have other clusters than `__cluster_dims__` says."""
    with pytest.raises(LaunchError, match=r"clusters of 2 x 1 x 1 blocks; ring has 4 x 1 x 1 \(its __cluster_dims__\)"):
        launched("ring", (8,), 64, {"out": np.zeros(512, np.uint32)}, 1, cluster=(2,))


def test_what_looks_at_one_block_refuses_clusters():
    """Walks that tell of releases alone need each block by itself, and say so."""
    kernel, _ = ring(8, 64, 3)
    with pytest.raises(UserError, match="blocks of a cluster run together, and this looks at one after the other"):
        walk(kernel, (0,), lambda *_: None, released=lambda _: None)
