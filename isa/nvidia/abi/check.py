"""What code and CUDA refuse of a launch, whatever the machine."""

from __future__ import annotations

from math import prod

from isa.architecture import nvidia
from isa.kernel import Dim3
from isa.nvidia.abi.launch import LaunchError, LaunchState, extent
from isa.nvidia.file.cubin import Function
from isa.nvidia.file.names import plain
from isa.support import limits

MOST_GRID = 2**31 - 1, 65535, 65535  # CUDA C++ Programming Guide 13.0, technical specifications
MOST_CLUSTER = 16  # blocks, where a kernel may ask for more than all chips have (the same guide)


def check(state: LaunchState, function: Function | None, architecture: int) -> None:
    """Raise LaunchError for a grid or a block that CUDA refuses; what a machine holds is for the machine to say."""
    for axis, size, most in zip("xyz", state.grid, MOST_GRID, strict=True):
        if not 1 <= size <= most:
            raise LaunchError("grid", f"{size} blocks in {axis}; a grid has 1 to {most}")
    for part, size, most, unit in (
        ("grid", prod(state.grid), limits.MOST_BLOCKS, "blocks"),
        ("block", prod(state.block), limits.MOST_THREADS, "threads"),
        ("shared", state.dynamic_shared, limits.MOST_SHARED_BYTES, "bytes"),
        ("stack", state.stack, limits.MOST_LOCAL_BYTES, "bytes"),
    ):
        if size > most:
            raise LaunchError(part, f"{part}: {size} {unit}; take {most} at most")
    if min(state.block) < 1:
        raise LaunchError("block", f"a block of {' x '.join(map(str, state.block))} threads; give at least 1 x 1 x 1")
    launch, threads = function.launch if function else None, prod(state.block)
    most = launch.most_threads if launch else 0
    if most and threads > most:
        what = f"blocks of {threads} threads; {plain(state.kernel)} takes {most} at most"
        raise LaunchError("block", f"{what} (its __launch_bounds__)")
    _check_cluster(state, function, architecture)
    if launch and launch.exact_threads not in (0, threads):
        raise LaunchError("block", f"blocks of {threads} threads; {plain(state.kernel)} takes {launch.exact_threads}")


def _check_cluster(state: LaunchState, function: Function | None, architecture: int) -> None:
    """Raise LaunchError for clusters that the code does not take, or of which the grid is no whole number."""
    launch, name = function.launch if function else None, plain(state.kernel)
    cluster = cluster_of(state, function)
    told = " x ".join(map(str, cluster))
    most = (launch.most_cluster_blocks if launch else 0) or MOST_CLUSTER
    part = "cluster" if state.cluster else "grid"
    if min(cluster) < 1:
        raise LaunchError(part, f"clusters of {told} blocks; give at least 1 x 1 x 1")
    if function and prod(cluster) > 1 and nvidia(architecture).cluster is None:
        raise LaunchError(part, f"clusters of {told} blocks; sm_{architecture} has none: take code for sm_90 or later")
    if launch and launch.cluster and cluster != extent(launch.cluster):
        own = " x ".join(map(str, launch.cluster))
        raise LaunchError(part, f"clusters of {told} blocks; {name} has {own} (its __cluster_dims__)")
    if prod(cluster) > most:
        raise LaunchError(part, f"clusters of {told} blocks; {name} takes {most} blocks at most")
    if any(size % unit for size, unit in zip(state.grid, cluster, strict=True)):
        raise LaunchError("grid", f"{name} has clusters of {told} blocks; take a grid of whole ones")


def cluster_of(state: LaunchState, function: Function | None) -> Dim3:
    """Return the blocks of a cluster that the launch, or else the code, says."""
    said = function.launch.cluster if function and function.launch else ()
    return state.cluster or extent(said or (1,))
