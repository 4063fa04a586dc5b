"""How many of each thing a launch has: the sizes of its state."""

from __future__ import annotations

from typing import Any

from gpusim.launch import scalar_registers
from gpusim.launch.feed import Moves
from gpusim.machine.machine import Machine
from gpusim.sm.memory.cache.declaration import tagged
from gpusim.sm.state.room import DIMENSIONS, Sizes
from gpusim.sm.unit.declare import Extent
from isa.kernel import Kernel
from isa.row import JOINS


def sizes_of(
    kernel: Kernel,
    machine: Machine,
    numbers: Any,
    decoded: Any,
    resident: int,
    moves: Moves | None,
    *,
    traces: bool,
    defers: bool,
    ahead: bool,
) -> Sizes:
    """Return the sizes, by dimension, for so many resident blocks; `numbers` are the machine's, `decoded` the rows.

    `moves` says what changes from block to block, where streams are recorded. `traces`: records are kept; `defers`:
    results are, until they are ready; SMs run `ahead` of each other.
    """
    accesses = accesses_of(decoded)
    extent = Extent(
        machine=numbers,
        pipes=len(machine.pipe),
        warps=resident * kernel.warps,
        warp_size=kernel.warp_size,
        blocks=resident,
        grid=kernel.blocks,
        rows=len(decoded),
        registers=scalar_registers.places(kernel.program),
        buffers=len(kernel.buffers),
        textures=len(kernel.textures) + 1,
        accesses=accesses,
        accounted=int(decoded["accounted"].max(initial=0)),
        ranges=moves.ranges(accesses) if moves else 0,
        diverges=diverges(kernel, decoded),
        independent=kernel.program.has_independent_lanes,
        traces=traces,
        defers=defers,
        ahead=ahead,
        grouped=grouped(decoded),
        multiplies=multiplies(decoded),
        replays=moves is not None,
        signals=signals(decoded),
        bulk=bulk(decoded),
        tagged=tagged(machine),
    )
    return tuple((size, size.used(extent)) for size in DIMENSIONS)


def accesses_of(decoded: Any) -> int:
    """Return how many instructions of a program access memory."""
    return int(decoded["feed"].max(initial=-1)) + 1


def diverges(kernel: Kernel, decoded: Any) -> bool:
    """Tell whether the lanes of a warp may part."""
    return bool((decoded["reconvergence"] >= 0).any()) or kernel.program.has_independent_lanes


def signals(decoded: Any) -> bool:
    """Tell whether there are barriers in shared memory."""
    return bool(decoded["signal"].any())


def bulk(decoded: Any) -> bool:
    """Tell whether there are bulk or tensor copies."""
    return bool(decoded["bulk"].any())


def multiplies(decoded: Any) -> bool:
    """Tell whether there are matrix instructions of warpgroups."""
    return bool((decoded["columns"] > 0).any())


def grouped(decoded: Any) -> bool:
    """Tell whether there is work that goes on in groups, for which a program waits."""
    return bool((decoded["grouping"] & JOINS).any())
