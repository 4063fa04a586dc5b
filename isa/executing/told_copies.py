"""The errors of barriers in shared memory and of the copy engine: place, cause, fix, as in isa.executing.faults."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from isa.errors import DeadlockError, ExecutionError
from isa.executing.faults import nearest, sized, waiters, warps
from isa.kernel import Kernel

_OF_MAP = {  # by the numbers of gpusim.sm.memory.copy_engine.tensor_map, and one more
    1: "is of other dimensions than the copy; give a map of as many",
    2: "names a type of elements that there is not; make the map anew",
    3: "has an interleaved layout of less than three dimensions, or with a step along the first one; take another",
    4: "has a box whose rows are no multiple of 16 bytes; take another box",
    5: "has a box whose rows are wider than its swizzle; take a smaller box, or another swizzle",
    6: "has a tensor at an address that is no multiple of 16; align it",
    8: "is of tiles, and the copy is of pixels; make it by cuTensorMapEncodeIm2col",
    9: "is of pixels, and the copy is of tiles; make it by cuTensorMapEncodeTiled",
    10: "has corners of pixels outside the tensor, which a store may not have; take corners from 0 to 0",
    7: "is of a type that the reduction does not have; take another type or operation",
}


@dataclass(frozen=True)
class Phase:
    """A phase of a barrier in shared memory that warps wait for: what it lacks, and (warp, pc) of each."""

    address: int
    parity: int
    arrivals: int
    nbytes: int
    who: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Others:
    """Warps of a block that may be missing at a barrier: those that have exited, and (warp, pc) of those that wait."""

    block: int
    exited: tuple[int, ...]
    waiting: tuple[tuple[int, int], ...]


def deadlock(kernel: Kernel, block: int, phases: Sequence[Phase], others: Sequence[Others]) -> DeadlockError:
    """Return the error if no warp can run, of which some wait for phases of barriers in shared memory."""
    waits = "; ".join(f"{_lacks(one)}: {waiters(kernel, one.who)}" for one in phases)
    missing = "".join(f"; {_told(kernel, one, block)}" for one in others)
    return DeadlockError(
        f"{kernel.name}: block {block} deadlocks: {waits}{missing}; "
        "look for who should arrive or copy, and for the parity that is waited for"
    )


def _told(kernel: Kernel, one: Others, block: int) -> str:
    """Return where the warps of a block are that do not wait for these phases."""
    gone = [f"{warps(one.exited)} {'have' if len(one.exited) > 1 else 'has'} exited"] if one.exited else []
    there = [waiters(kernel, one.waiting)] if one.waiting else []
    return f"{'its' if one.block == block else f'of block {one.block}'} {' and '.join((*gone, *there))}"


def _lacks(phase: Phase) -> str:
    missing = [f"{phase.arrivals} arrival{'s' * (phase.arrivals > 1)}"] if phase.arrivals else []
    missing += [f"{phase.nbytes} bytes"] if phase.nbytes > 0 else []
    what = " and ".join(missing) or "nothing"
    more = f" and has got {-phase.nbytes} bytes that nobody has announced" if phase.nbytes < 0 else ""
    return f"phase {phase.parity} of the barrier at {phase.address:#x} in shared memory lacks {what}{more}"


def surplus(_: Kernel, where: str, address: int, _detail: int) -> ExecutionError:
    """Return the error for more arrivals at a barrier than are still to come in its phase; `where`: the place."""
    return ExecutionError(
        f"{where}: more arrivals at the barrier at {address:#x} in shared memory than "
        "its phase waits for; initialise it with a larger count, or wait for the phase before"
    )


def overflow(_: Kernel, where: str, address: int, _detail: int) -> ExecutionError:
    """Return the error for more bytes than a barrier counts."""
    return ExecutionError(
        f"{where}: the barrier at {address:#x} in shared memory would wait for more "
        "than 1048575 bytes, or have got as many too many; announce what comes in one phase, and in several"
    )


def clustered(kernel: Kernel, where: str, _address: int, _detail: int) -> ExecutionError:
    """Return the error for a copy to blocks that a cluster has not."""
    missing = f"it is for blocks that the cluster of {kernel.cluster_blocks} does not have"
    return ExecutionError(f"{where}: {missing}; name the launch's blocks")


def bad_map(_: Kernel, where: str, address: int, why: int) -> ExecutionError:
    """Return the error for a tensor map that the copy engine does not take."""
    return ExecutionError(f"{where}: the tensor map at {address:#x} {_OF_MAP[why]}")


def misplaced(_: Kernel, where: str, address: int, alignment: int) -> ExecutionError:
    """Return the error for a place in shared memory that is no multiple of what a copy, or a barrier, needs."""
    return ExecutionError(
        f"{where}: address {address:#x} in shared memory is misaligned for {alignment} bytes; "
        f"use a multiple of {alignment}"
    )


def out_of_shared(kernel: Kernel, where: str, address: int, nbytes: int) -> ExecutionError:
    """Return the error for a barrier, or an end of a copy, beyond the block's shared memory."""
    outside = sized(kernel, "shared", kernel.program.shared_bytes)
    return ExecutionError(f"{where}: {nbytes} bytes at {address:#x} in shared memory lie outside {outside}")


def out_of_buffers(kernel: Kernel, where: str, address: int, nbytes: int) -> ExecutionError:
    """Return the error for a copy, or a tensor map, that is not wholly inside a buffer."""
    return ExecutionError(f"{where}: {nbytes} bytes at {address:#x} lie in no buffer; {nearest(kernel, address)}")


def uneven(_: Kernel, where: str, coordinate: int, nbytes: int) -> ExecutionError:
    """Return the error for a box that begins at no multiple of 16 bytes: an H200 calls it an illegal instruction."""
    return ExecutionError(
        f"{where}: a box from coordinate {coordinate} of its innermost dimension, {nbytes} bytes "
        "each; take one at a multiple of 16 bytes"
    )


def bad_begin(_: Kernel, where: str, coordinate: int, dimension: int) -> ExecutionError:
    """Return the error for a store before its tensor, or pixels behind their box: on an H200 an illegal instruction."""
    return ExecutionError(
        f"{where}: it begins at coordinate {coordinate} of dimension {dimension}; a store begins at 0 or above, and "
        "pixels not behind the upper corner of their box"
    )
