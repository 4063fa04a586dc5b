"""Where the blocks of a cooperative launch meet: a word of global memory whose address the driver gives to the code."""

from __future__ import annotations

from isa.architecture import Architecture
from isa.nvidia.abi.launch import LaunchState
from isa.nvidia.file.dump import Section
from isa.nvidia.lowering.system import meets

MEETING_BYTES = 8  # a size, which code does not read, and the barrier (cooperative_groups/details/driver_abi.h)


def has_place(section: Section, row: Architecture, state: LaunchState) -> bool:
    """Tell whether the blocks of a launch have a place to meet, and code that takes its address."""
    return state.cooperative and meets((one.text for one in section.instructions), row.meeting)
