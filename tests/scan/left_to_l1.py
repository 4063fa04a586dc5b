"""What shared memory leaves the L1, found anew from the words of the guide."""

from gpusim.machine.machine import Machine
from gpusim.machine.occupancy import occupancy
from isa.kernel import Kernel


def left(machine: Machine, kernel: Kernel) -> int:
    """The bytes that the shared memory of all resident blocks leaves the L1: whole sets, one at least.

    A roomy driver holds room for blocks that will never come, as far as it goes: twice or four times as many.
    """
    if machine.l1 is None:
        return 0
    sizes, least = machine.l1.carveouts.split(), machine.l1.ways * machine.global_memory.line_bytes
    unit = machine.limits.shared_unit
    of_block = kernel.program.shared_bytes - kernel.program.reserved_bytes
    of_block += max(kernel.program.reserved_bytes, machine.limits.shared_reserved)
    blocks, of_block = occupancy(kernel, machine).blocks, -(-of_block // unit) * unit
    shares = kernel.program.shared_bytes > kernel.program.reserved_bytes
    times = 4 if not shares else 1 if kernel.threads == machine.limits.threads_per_block else 2
    roomy = min(1024 * machine.l1.roomy, min(machine.limits.blocks, times * blocks) * of_block)
    held = max(blocks * of_block, roomy)
    allowed = [1024 * int(size) for size in sizes if 1024 * int(size) < machine.l1.bytes]
    enough = [size for size in allowed if size >= held] or allowed[-1:] or [0]
    return max(least, machine.l1.bytes - min(enough))
