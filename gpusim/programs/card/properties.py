"""What programs ask of a device: the numbers of the chosen machine."""

from __future__ import annotations

from gpusim.machine.architecture import number
from gpusim.machine.machine import Machine
from isa.nvidia.abi.check import MOST_GRID
from isa.operands.windows import SHARED_PLACE

KHZ, MEGA = 1000, 10**6
BUS_BITS = 4096  # of which, with the clock, programs make the DRAM's bandwidth
DEFAULT_SHARED = 48 * 1024  # bytes of a block that doesn't ask for more (CUDA C++ Programming Guide 13.0)
CONSTANT_BYTES = 64 * 1024
L2_BYTES = 0  # where the machine has no L2
PITCH_BYTES, TEXTURE_BYTES, TEXTURE_PITCH = (1 << 31) - 1, 512, 32  # of an H100's device properties
CALLERS, RESETS = 1, 2  # a launch says who calls whom; a device may be reset
ENGINES, SLOWER_DOUBLES = (
    3,
    2,
)  # of an H100's device properties, too


def properties(machine: Machine) -> list[int]:
    """Return the numbers in the order in which the program's side reads them."""
    chip, limits, sm = machine.chip, machine.limits, number(machine)
    l2 = machine.l2.bytes if machine.l2 else L2_BYTES
    memory_khz = round(chip.dram_mbs * KHZ * 8 / BUS_BITS / 2)  # two transfers a clock
    major, minor = divmod(sm, 10)
    return [
        major,
        minor,
        chip.sms,
        SHARED_PLACE,
        min(DEFAULT_SHARED, limits.shared_per_block),
        limits.shared_per_block,
        limits.shared_bytes,
        limits.shared_reserved,
        limits.registers,
        limits.registers,
        limits.warp_size,
        limits.threads_per_block,
        limits.threads,
        limits.blocks,
        limits.threads_per_block,
        limits.threads_per_block,
        limits.block_z,
        *MOST_GRID,
        CONSTANT_BYTES,
        chip.shader_mhz * KHZ,
        memory_khz,
        BUS_BITS,
        l2,
        0,
        ENGINES,
        SLOWER_DOUBLES,
        1,
        int(sm >= 90),
        PITCH_BYTES,
        TEXTURE_BYTES,
        TEXTURE_PITCH,
        CALLERS | RESETS,
    ]
