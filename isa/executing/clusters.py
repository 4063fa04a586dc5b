"""Clusters: blocks that are neighbours in the grid, run together, and reach each other's shared memory by their ranks.

A block's rank is its place in its cluster, with x fastest; clusters are numbered likewise.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from isa.kernel import Dim3, Kernel

PORTABLE, MOST = (
    8,
    16,
)  # blocks of a cluster: on each chip, and where a kernel may ask for more (CUDA C++ Programming Guide)


def grid_of(kernel: Kernel) -> Dim3:
    """Return the clusters of the grid in x, y and z."""
    x, y, z = (size // unit for size, unit in zip(kernel.grid, kernel.cluster, strict=True))
    return x, y, z


def block_of(kernel: Kernel, cluster: int, rank: int) -> int:
    """Return the number in the grid of the block of that rank of a cluster."""
    first, within = _place(cluster, grid_of(kernel)), _place(rank, kernel.cluster)
    x, y, z = (a * unit + b for a, unit, b in zip(first, kernel.cluster, within, strict=True))
    return x + kernel.grid[0] * (y + kernel.grid[1] * z)


def of_block(kernel: Kernel, block: int) -> tuple[int, int]:
    """Return the cluster of a block of the grid, and its rank there."""
    place = _place(block, kernel.grid)
    cluster = tuple(a // unit for a, unit in zip(place, kernel.cluster, strict=True))
    rank = tuple(a % unit for a, unit in zip(place, kernel.cluster, strict=True))
    return _number(cluster, grid_of(kernel)), _number(rank, kernel.cluster)


def of_blocks(kernel: Kernel, blocks: Iterable[int]) -> Iterator[int]:
    """Yield the clusters of some blocks, in the order of their first ones."""
    seen = set[int]()
    for cluster in (of_block(kernel, block)[0] for block in blocks):
        if cluster not in seen:
            seen.add(cluster)
            yield cluster


def _place(number: int, sizes: Dim3) -> Dim3:
    return number % sizes[0], number // sizes[0] % sizes[1], number // (sizes[0] * sizes[1])


def _number(place: tuple[int, ...], sizes: Dim3) -> int:
    return place[0] + sizes[0] * (place[1] + sizes[1] * place[2])


def sm_number(kernel: Kernel, simulated: int, apart: int) -> int:
    """Return the number of a simulated SM: those of a cluster follow each other, clusters lie so many `apart`."""
    size = kernel.cluster_blocks
    return simulated // size * apart * size + simulated % size
