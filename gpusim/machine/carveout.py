"""What shared memory takes of the memory that it and the L1 have together: a size for each launch.

The sizes are those of the CUDA C++ Programming Guide 13.0 (shared memory of each compute capability). Unless a program
asks for another one, the driver chooses: the smallest that holds the resident blocks, or with `l1.roomy` up to that
size what more of them would need. docs/units/cache.md has what an H200's does.
"""

from __future__ import annotations

import msgspec

from gpusim.machine.machine import Machine
from gpusim.machine.occupancy import occupancy, shared_per_block
from isa.kernel import Kernel

KB = 1024
MORE, MUCH_MORE = 2, 4  # times the resident blocks: with shared memory of their own, without


def carved(kernel: Kernel, machine: Machine) -> Machine:
    """Return the machine whose L1 has the bytes that shared memory leaves it in a launch, one set of lines at least.

    The machine itself where it has no `l1.carveouts`. Raises UserError where no block fits.
    """
    if machine.l1 is None or not machine.l1.carveouts:
        return machine
    of_set = machine.l1.ways * machine.global_memory.line_bytes
    left = max(of_set, (machine.l1.bytes - taken(kernel, machine)) // of_set * of_set)
    return msgspec.structs.replace(machine, l1=msgspec.structs.replace(machine.l1, bytes=left))


def taken(kernel: Kernel, machine: Machine) -> int:
    """Return the bytes that shared memory takes, of the sizes of `l1.carveouts` the smallest that holds all blocks.

    Sizes that leave the L1 nothing, as with `--set l1.bytes`, are left out: 0 if they all do.
    """
    assert machine.l1
    sizes = [size for text in machine.l1.carveouts.split() if (size := KB * int(text)) < machine.l1.bytes]
    resident, each = occupancy(kernel, machine).blocks, shared_per_block(kernel, machine)
    needed = max(resident * each, min(KB * machine.l1.roomy, _wished(kernel, machine, resident) * each))
    return next((size for size in sizes if size >= needed), max(sizes, default=0))


def _wished(kernel: Kernel, machine: Machine, resident: int) -> int:
    """Return for how many blocks the driver would make room: twice as many as are resident, and more if they need none.

    Only blocks of the most threads get room for no others.
    """
    own = kernel.program.own_shared_bytes
    if own and kernel.threads == machine.limits.threads_per_block:
        return resident
    return min(machine.limits.blocks, resident * (MORE if own else MUCH_MORE))
