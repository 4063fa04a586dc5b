"""How far SMs are from the L2: of all that are simulated each, or the one that ends a launch of one wave.

What the L2 and the DRAM send to an SM that is further away comes later, and it gets less of their bandwidth where SMs
want more than there is. The slowest of n SMs is later by log n / log N of what the slowest of all N is, as on an H200
(docs/units/l2-channel.md): SMs differ as exponentially distributed numbers do.

Where one SM stands for all, and SMs that are done get further blocks, all are done at about the same time, and it is
the mean. A launch whose blocks are all resident at once ends when its slowest SM does: of those with most blocks the
one that is furthest away.
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


def stand(sm: Any, kernel: Kernel, machine: Machine, resident: int) -> None:
    """Let the SM that stands for all of a launch of one wave, of so many blocks on an SM, be the slowest of them."""
    channel, sms = machine.l2_channel, machine.chip.sms
    busiest = (kernel.blocks - 1) % sms + 1  # SMs that have as many blocks as any
    if channel and busiest > 1 and is_one_wave(kernel, machine, resident):
        part = log(busiest) / log(sms)
        _move(sm.machine, channel, part)
        _take(sm.machine, channel, part)


def place(sm: Any, machine: Machine) -> None:
    """Let one of all SMs be as far away as SMs with its number are."""
    channel = machine.l2_channel
    if channel:
        part = distances(machine.chip.sms)[int(sm.launch.index)]
        _move(sm.machine, channel, part)
        sm.machine.waits_longer = round((WHOLE * WHOLE / channel.least_share - WHOLE) * part)


@cache
def distances(sms: int) -> tuple[float, ...]:
    """Return how far each of all SMs is beyond the mean one, the furthest 1; who is nearer counts as the mean.

    Reversed bits of its number say how many SMs are nearer, so that any SMs in a row differ as all do.
    """
    bits, few = (sms - 1).bit_length(), 1 / log(sms) if sms > 1 else 0
    nearest = sorted(range(sms), key=lambda number: f"{number:0{bits}b}"[::-1])
    found = {number: 1 - log(sms - nearer) * few for nearer, number in enumerate(nearest)}
    return tuple(max(0, found[number] * (1 + few) - few) for number in range(sms))


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
