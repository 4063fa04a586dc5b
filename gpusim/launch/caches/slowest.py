"""How far SMs are from the L2: of all that are simulated each, or the one that ends a launch of one wave.

What the L2 and the DRAM send to an SM that is further away comes later. The slowest of n SMs is later by log n / log N
of what the slowest of all N is, as on an H200 (docs/units/l2-channel.md): SMs differ as exponentially distributed
numbers do.

Where SMs that are done get further blocks, all are done at about the same time, and the SM that stands for all is the
mean. A launch whose blocks are all resident at once ends when its slowest SM does: of those with most blocks the one
that is furthest away. There SMs that want more of L2 and DRAM than there is have less of it than the mean one, as few
get more.
"""

from __future__ import annotations

from functools import cache
from math import log
from typing import Any

from gpusim.machine.machine import Machine
from gpusim.machine.occupancy import is_one_wave
from gpusim.machine.simulated_sms import WHOLE
from gpusim.sm.memory.l2_channel.declaration import L2Channel
from isa.kernel import Kernel


def stand(sm: Any, kernel: Kernel, machine: Machine, resident: int, *, alone: bool) -> None:
    """Let an SM be as far away as its number says, or if it stands for all `alone` as the slowest is.

    So many blocks fit on an SM.
    """
    channel, sms = machine.l2_channel, machine.chip.sms
    if channel is None:
        return
    busiest = (kernel.blocks - 1) % sms + 1  # SMs that have as many blocks as any
    slowest = log(busiest) / log(sms) if busiest > 1 and is_one_wave(kernel, machine, resident) else 0
    _move(sm.machine, channel, slowest if alone else distances(sms)[int(sm.launch.index)])
    _take(sm.machine, channel, slowest)


@cache
def distances(sms: int) -> tuple[float, ...]:
    """Return how far each of all SMs is beyond the mean one, the furthest 1; who is nearer counts as the mean.

    Reversed bits of its number say how many SMs are nearer, so that any SMs in a row differ as all do.
    """
    bits, mean = (sms - 1).bit_length(), 1 / log(sms)
    nearest = sorted(range(sms), key=lambda number: f"{number:0{bits}b}"[::-1])
    found = {number: 1 - log(sms - nearer) * mean for nearer, number in enumerate(nearest)}
    return tuple(max(0, found[number] * (1 + mean) - mean) for number in range(sms))


def _move(numbers: Any, channel: L2Channel, part: float) -> None:
    """Let the SM be further away than the mean by so much of what the furthest is."""
    later = round(channel.furthest * part)
    numbers.far_latency[:] += later
    numbers.read_far[:] += later
    numbers.engine_latency += later
    numbers.memory_latency += later


def _take(numbers: Any, channel: L2Channel, part: float) -> None:
    """Let it get as much less of its share of L2 and DRAM."""
    less = (WHOLE - channel.least_share) * part / WHOLE
    numbers.shared_cost[:] = [round(cost / (1 - less)) for cost in numbers.shared_cost]
    for cost in ("line_cost", "written_cost", "written_alone_cost", "dram_least"):
        setattr(numbers, cost, round(getattr(numbers, cost) / (1 - less)))
