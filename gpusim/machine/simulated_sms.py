"""Which SMs of a chip are simulated: one, all, or every n-th as a sample; and the blocks that these have.

A cluster takes as many SMs as it has blocks, all of one GPC. SMs that are left over there have none of its launch; they
count as absent (`clustered`). The others are numbered through their clusters.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec.structs import replace

from gpusim.machine.machine import Machine
from isa.errors import UserError
from isa.executing import clusters
from isa.kernel import Kernel
from isa.operands.windows import PEER_BYTES

Sms = int | Literal["all"]
WHOLE = 1000  # thousandths of an equal share of L2 and DRAM


def mean(machine: Machine) -> Machine:
    """Return the machine whose SMs are all as far from the L2 as the mean one, with equal shares."""
    channel = machine.l2_channel
    return replace(machine, l2_channel=channel and replace(channel, furthest=0, least_share=WHOLE))


def count(machine: Machine, asked: Sms, kernel: Kernel | None = None) -> int:
    """Return how many SMs are simulated; raises UserError unless the chip has that many, evenly apart.

    Of a launch with clusters one SM brings those of its cluster.
    """
    if kernel is not None and kernel.cluster_blocks > 1:
        return _count_of_clusters(kernel, machine, asked)
    sms = machine.chip.sms
    if asked == "all":
        return sms
    if not isinstance(asked, int) or isinstance(asked, bool) or asked < 1 or sms % asked:
        parts = ", ".join(str(n) for n in range(2, sms) if sms % n == 0)
        others = f", or a divisor of the {sms} SMs of {machine.key}: {parts}" if parts else ""
        raise UserError(f"--sms {asked}: give 1, all{others}")
    return asked


def _count_of_clusters(kernel: Kernel, machine: Machine, asked: Sms) -> int:
    """Return the same for clusters: 1 stands for the SMs of one cluster."""
    sms, size = clustered(kernel, machine).chip.sms, kernel.cluster_blocks
    if asked in ("all", 1) and not isinstance(asked, bool):
        return sms if asked == "all" else size
    if not isinstance(asked, int) or isinstance(asked, bool) or asked < 1 or asked % size or sms % asked:
        parts = ", ".join(str(n) for n in range(size, sms, size) if sms % n == 0)
        raise UserError(f"--sms {asked}: for clusters of {size} blocks give 1, all, or one of {parts}")
    return asked


def neighbours(kernel: Kernel, machine: Machine, sm: int) -> tuple[int, ...]:
    """Return the first blocks of the SMs of a GPC, by number the SM's own: the chip's SMs in turn, evenly divided."""
    size, sms = kernel.cluster_blocks, machine.chip.sms
    gpcs = len(machine.cluster.gpcs.split()) or 1 if machine.cluster else 1
    found = [other for other in range(min(sms, kernel.blocks)) if other * gpcs // sms == sm * gpcs // sms]
    return tuple(found if size == 1 else (clusters.block_of(kernel, sm // size, sm % size) for sm in found))


def clustered(kernel: Kernel, machine: Machine) -> Machine:
    """Return the machine with those SMs alone on which the launch's clusters run; the same where it has none.

    Raises UserError where the machine has no room for them.
    """
    size = kernel.cluster_blocks
    if size == 1:
        return machine
    if machine.cluster is None:
        raise UserError(
            f"{kernel.name}: has clusters of {size} blocks; {machine.key} has none: its file has no [cluster]"
        )
    if kernel.program.shared_bytes > PEER_BYTES:
        raise UserError(f"{kernel.name}: blocks of clusters may have {PEER_BYTES} bytes of shared memory; take fewer")
    gpcs = [int(sms) for sms in machine.cluster.gpcs.split()] or [machine.chip.sms]
    groups = sum(sms // size for sms in gpcs)
    if groups == 0:
        raise UserError(f"{kernel.name}: clusters of {size} blocks; {machine.key} has GPCs of {max(gpcs)} SMs at most")
    return replace(machine, chip=replace(machine.chip, sms=groups * size))


def blocks_of(kernel: Kernel, machine: Machine, sms: int, first: int = 0) -> range:
    """Return the blocks of a grid without clusters that so many simulated SMs run; the first has that number."""
    return range(first, kernel.blocks, machine.chip.sms // sms)


def simulated_blocks(kernel: Kernel, machine: Machine, sms: int, first: int = 0) -> Sequence[int]:
    """Return the blocks of any grid that run on so many simulated SMs, of which the first has that number."""
    size = kernel.cluster_blocks
    if size == 1:
        return blocks_of(kernel, machine, sms, first)
    taken = range(0, kernel.blocks // size, clustered(kernel, machine).chip.sms // sms)
    return [clusters.block_of(kernel, cluster, rank) for cluster in taken for rank in range(size)]
