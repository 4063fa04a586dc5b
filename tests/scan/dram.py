"""What a scan of every cycle knows of the way to the DRAM: its latency and its bandwidth."""

from __future__ import annotations

from fractions import Fraction
from math import floor

from gpusim.machine.machine import Machine


def from_memory(machine: Machine) -> int:
    """Cycles of a load that hits no cache; its part beyond the L2 takes the same time at every clock."""
    measured, hit = machine.global_memory.latency, machine.cache.l2_latency_32 if machine.cache else 0
    if machine.memory_clock is None or measured <= hit:
        return measured
    beyond = Fraction(measured - hit, machine.memory_clock.mhz)  # microseconds
    return hit + floor(beyond * machine.chip.shader_mhz)


def arriving(machine: Machine) -> float:
    """The part of the DRAM's bandwidth that arrives, in 10^6 bytes per second."""
    memory = machine.memory
    lost = memory.ecc_cost / 1000 if memory and memory.ecc else 0
    return machine.chip.dram_mbs * (memory.efficiency / 1000 if memory else 1) * (1 - lost)
