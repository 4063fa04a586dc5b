"""Which block of the grid has a rank in a cluster; `launch.rank` is the rank of an SM's blocks."""

from __future__ import annotations

from gpusim.sm.jit.on_demand import on_demand
from gpusim.sm.records import Sm


@on_demand
def block_of(sm: Sm, cluster: int) -> int:
    """Return the number in the grid of the SM's block of a cluster."""
    launch, rank = sm.launch, sm.launch.rank
    wide, high = launch.grid[0] // launch.cluster_size[0], launch.grid[1] // launch.cluster_size[1]
    x = cluster % wide * launch.cluster_size[0] + rank % launch.cluster_size[0]
    y = cluster // wide % high * launch.cluster_size[1] + rank // launch.cluster_size[0] % launch.cluster_size[1]
    z = cluster // (wide * high) * launch.cluster_size[2] + rank // (launch.cluster_size[0] * launch.cluster_size[1])
    return int(x + launch.grid[0] * (y + launch.grid[1] * z))
