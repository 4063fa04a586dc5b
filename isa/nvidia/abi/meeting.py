"""Where the blocks of a cooperative launch meet: a word of global memory whose address the driver gives to the code."""

from __future__ import annotations

from isa.architecture import Architecture
from isa.kernel import Kernel
from isa.nvidia.abi.launch import LaunchState
from isa.nvidia.file.dump import Section
from isa.nvidia.lowering.system import meets

MEETING = "grid.barrier"  # the buffer of that word; no argument has a name with a dot
MEETING_BYTES = 8  # a size, which code does not read, and the barrier (cooperative_groups/details/driver_abi.h)


def has_place(section: Section, row: Architecture, state: LaunchState) -> bool:
    """Tell whether the blocks of a launch have a place to meet, and code that takes its address."""
    return state.cooperative and meets((one.text for one in section.instructions), row.meeting)


def synchronises(kernel: Kernel) -> bool:
    """Tell whether the grid of a cooperative launch may be synchronised."""
    return kernel.cooperative and any(one.name == MEETING for one in kernel.buffers)
