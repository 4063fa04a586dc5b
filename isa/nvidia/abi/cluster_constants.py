"""The constants that tell code the clusters of its launch."""

from __future__ import annotations

import struct
from math import prod

from isa.architecture import Architecture
from isa.kernel import Dim3
from isa.nvidia.abi.launch import LaunchState


def with_clusters(bank: bytes, row: Architecture, state: LaunchState, cluster: Dim3) -> bytes:
    """Return bank 0 with the clusters of the launch; without them each block is one."""
    at, found = row.cluster, bytearray(bank)
    if at is None:
        return bank
    struct.pack_into("<I", found, at.explicit, prod(cluster) > 1)
    struct.pack_into("<3I", found, at.blocks, *cluster)
    struct.pack_into("<3f", found, at.reciprocals, *(1 / unit for unit in cluster))
    struct.pack_into("<3I", found, at.clusters, *(size // unit for size, unit in zip(state.grid, cluster, strict=True)))
    struct.pack_into("<I", found, at.total, prod(cluster))
    return bytes(found)
