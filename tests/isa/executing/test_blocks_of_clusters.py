"""Clusters of a grid: blocks by cluster and rank."""

from itertools import product

import pytest

from isa.executing.clusters import block_of, grid_of, of_block, of_blocks
from isa.kernel import Kernel
from isa.program import Program


def launch(grid, cluster):
    """Return a launch of nothing."""
    return Kernel("none", Program(()), grid, (32, 1, 1), cluster=cluster)


@pytest.mark.parametrize(
    ("grid", "cluster"),
    [((8, 1, 1), (4, 1, 1)), ((6, 4, 2), (3, 2, 2)), ((4, 6, 3), (1, 3, 1)), ((5, 2, 2), (1, 1, 1))],
)
def test_blocks_of_a_cluster_are_neighbours(grid, cluster):
    """By x, y and z: a block's cluster is its place over the cluster's size, its rank the rest, x fastest in both."""
    kernel = launch(grid, cluster)
    for z, y, x in product(*map(range, reversed(grid))):
        block = x + grid[0] * (y + grid[1] * z)
        number, rank = of_block(kernel, block)
        wide, high, _ = grid_of(kernel)
        assert number == x // cluster[0] + wide * (y // cluster[1] + high * (z // cluster[2]))
        assert rank == x % cluster[0] + cluster[0] * (y % cluster[1] + cluster[1] * (z % cluster[2]))
        assert block_of(kernel, number, rank) == block


def test_clusters_of_blocks_come_once():
    """Blocks of one cluster name it once, where its first one stands."""
    assert list(of_blocks(launch((8, 1, 1), (4, 1, 1)), [7, 1, 5, 0])) == [1, 0]
