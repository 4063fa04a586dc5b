"""The SM that ends a launch of one wave: of those with most blocks the one that is furthest from the L2.

Where an SM that is done gets another block, all are done at about the same time, and the SM that stands for all is the
mean. A launch whose blocks are all resident at once ends when its slowest SM does. What the L2 and the DRAM send to
that one comes later, and it gets less of their bandwidth where SMs want more than there is. The slowest of n SMs is
later by log n / log N of what the slowest of all N is, as on an H200 (docs/units/l2-channel.md).
"""

from __future__ import annotations

from math import log
from typing import Any

from gpusim.machine.machine import Machine
from gpusim.machine.occupancy import is_one_wave
from gpusim.machine.simulated_sms import WHOLE
from isa.kernel import Kernel


def stand(sm: Any, kernel: Kernel, machine: Machine, resident: int) -> None:
    """Let the SM that stands for all of a launch of one wave, of so many blocks on an SM, be the slowest of them."""
    channel, sms = machine.l2_channel, machine.chip.sms
    busiest = (kernel.blocks - 1) % sms + 1  # SMs that have as many blocks as any
    if channel is None or busiest == 1 or not is_one_wave(kernel, machine, resident):
        return
    numbers, part = sm.machine, log(busiest) / log(sms)
    later = round(channel.furthest * part)
    numbers.far_latency[:] += later
    numbers.read_far[:] += later
    numbers.engine_latency += later
    numbers.memory_latency += later
    less = (WHOLE - channel.least_share) * part / WHOLE
    numbers.shared_cost[:] = [round(cost / (1 - less)) for cost in numbers.shared_cost]
    for cost in ("line_cost", "written_cost", "written_alone_cost", "dram_least"):
        setattr(numbers, cost, round(getattr(numbers, cost) / (1 - less)))
