"""Blocks that a sample leaves out, and what of the buffers the SM does not bring, since these would.

An SM that stands for others brings its share of each buffer from the DRAM (docs/units/l2-share.md), and finds the rest
in the L2. A sample of its blocks that brought all of the share would wait for the DRAM longer than all blocks do.
"""

from __future__ import annotations

from typing import Any

from gpusim.machine.machine import Machine
from gpusim.sm.memory.cache.declaration import tagged
from isa.kernel import Kernel
from isa.memory import SECTOR_BYTES


def stands(machine: Machine) -> bool:
    """Tell whether one SM brings its share of what all bring to the L2, where there are others."""
    return bool(tagged(machine) and machine.l2 and (machine.l2_channel or machine.architecture))


def leave_out(sm: Any, kernel: Kernel, machine: Machine, simulated: int, share: int, last: int, *, part: bool) -> None:
    """Let an SM simulate so many of its share of the blocks, the `last` ones at the end; bring their `part` only."""
    if last:
        first, apart = int(sm.launch.next), machine.chip.sms
        sm.launch.gap, sm.launch.behind = (simulated - last) * apart + first, (share - last) * apart + first
        sm.launch.end = kernel.blocks
    if part and sm.launch.sharers > 1:
        for place, buffer in enumerate(sm.buffers[: len(kernel.buffers)]):
            sectors = int(buffer.end - buffer.start) // int(sm.launch.sharers) // SECTOR_BYTES
            sm.brought[place] = sectors * (share - simulated) // share
