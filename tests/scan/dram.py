"""What a scan of every cycle knows of the way to the DRAM: its latency, its bandwidth and its queue."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
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


def sector_parts(machine: Machine) -> int:
    """1/64 cycles in which this SM's share of the DRAM's bandwidth moves 32 bytes."""
    return round(64 * 32 * machine.chip.sms * machine.chip.shader_mhz / arriving(machine))


@dataclass(eq=False)
class Dram:
    """The queue in front of the DRAM, and how late its places are."""

    machine: Machine
    sms: int  # that have blocks, and share its bandwidth
    asked: Counter[int] = field(default_factory=Counter)  # 1/64 cycles of its time, by spans of its window
    read: set[int] = field(default_factory=set)  # spans in which it was read

    def passes(self, number: int, passing: int) -> bool:
        """Whether a line is one of so many of 64 of the buffers whose stores go on at once."""
        buffers = number < (1 << 32) // self.machine.global_memory.line_bytes
        return buffers and (number * 0x9E3779B1 >> 20) % 64 < passing

    def cost(self, units: int, *, alone: bool) -> int:
        """1/64 cycles for which a read of so many units of a line keeps the DRAM; of one of which nothing is near."""
        one, rules = sector_parts(self.machine), self.machine.dram
        return self.shared(max(units * one, round(one * rules.least_bytes / 32) if rules and alone else 0))

    def reads(self, now: int) -> None:
        """Note that it is read now."""
        if self.machine.dram:
            self.read.add(now // self.machine.dram.window)

    def written(self, units: int, now: int) -> int:
        """1/64 cycles for which a write of so many units keeps it, longer if it was read within a window or two."""
        memory, rules = self.machine.memory, self.machine.dram
        slower = memory.written if memory else 1000
        if rules and rules.written_alone and not any(now // rules.window - 1 <= span for span in self.read):
            slower = rules.written_alone
        return self.shared(units * round(sector_parts(self.machine) * slower / 1000))

    def shared(self, parts: int) -> int:
        """The same for what takes an equal share of all SMs so long."""
        return -(-parts * self.sms // self.machine.chip.sms) if self.machine.dram else parts

    def latency(self, number: int) -> int:
        """Cycles until a line is there: the mean, and as many more or fewer as a hash of its place says.

        Trailing zeros of 8 bits, and a fraction of 6 bits, are halvings of an exponential distribution.
        """
        mean, rules = from_memory(self.machine), self.machine.dram
        if rules is None or rules.varies == 0:
            return mean
        place = number // max(1, rules.together_bytes // self.machine.global_memory.line_bytes)
        once = (place % 2**31) * 0x9E3779B1 % 2**31
        again = ((once ^ (once // 2**16)) * 0x9E3779B1 // 2**12) % 2**31
        bits = f"1{again // 64 % 256:08b}"
        halvings = Fraction(len(bits) - len(bits.rstrip("0"))) + Fraction(again % 64, 64)
        return max(0, mean + floor(rules.varies * (64 * halvings - 95) * 11 / 1024))

    def wait(self, parts: int, now: int) -> int:
        """Cycles for which a request waits that asks at `now` for so many 1/64 cycles, and note it."""
        rules = self.machine.dram
        if rules is None or rules.queue == 0:
            return 0
        window = rules.window
        span = max(now // window, *self.asked, 0)
        behind = min(window, max(0, now - window * span))
        seen = self.asked[span] + self.asked[span - 1] * (window - behind) // window
        self.asked[span] += parts
        used = min(rules.most_used, seen * 64 // (window * 64))
        return rules.queue * used // (2 * (64 - used))
