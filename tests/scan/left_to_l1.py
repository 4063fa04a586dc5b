"""What shared memory leaves the L1, found anew from the words of the guide."""

from gpusim.machine.machine import Machine
from gpusim.machine.occupancy import occupancy
from isa.kernel import Kernel


def left(machine: Machine, kernel: Kernel) -> int:
    """The bytes that the shared memory of all resident blocks leaves the L1: whole sets, one at least."""
    if machine.l1 is None:
        return 0
    sizes, least = machine.l1.carveouts.split(), machine.l1.ways * machine.global_memory.line_bytes
    unit = machine.limits.shared_unit
    held = occupancy(kernel, machine).blocks * (-(-kernel.program.shared_bytes // unit) * unit)
    enough = [int(size) for size in sizes if 1024 * int(size) >= held] or [int(size) for size in sizes[-1:]] or [0]
    return max(least, machine.l1.bytes - 1024 * min(enough))
