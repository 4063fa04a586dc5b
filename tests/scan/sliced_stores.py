"""Slices of the L2 that stores to lines apart fill unevenly, as a scan of every cycle (`every_cycle.py`) sees them."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from math import ceil, sqrt

from gpusim.machine.machine import Machine

MOST_GROUPS = 8


def distance(machine: Machine, number: int) -> int:
    """Cycles by which a line's slice of the L2 is further than the mean: a parity of bits of its number says it."""
    spread = machine.l2_channel.spread if machine.l2_channel else 0
    return spread if sum(number >> bit & 1 for bit in (0, 1, 3, 6, 10)) % 2 else -spread


@dataclass(eq=False)
class SlicedStores:
    """When each slice would be done, were all stores of the SM shared evenly, and what it has to do beyond that.

    In 1/64 cycles of one slice times the number of slices.
    """

    machine: Machine
    sms: int
    own: dict[int, int] = field(default_factory=dict)
    everyone: int = 0
    last: int = 0  # 1/64 cycles of the last store
    apart: bool = False  # whether the lines of the store that is served lie apart

    @property
    def number(self) -> int:
        """The slices, if the machine tells one that is ahead from others."""
        channel, rules = self.machine.l2_channel, self.machine.l2_atomic
        return rules.slices if channel and rules and channel.slice_ahead else 0

    def moved(self, way: str, parts: int) -> None:
        """Each slice has had its part of a store, or of a load among stores."""
        if way == "stores":
            self.everyone, self.last = self.everyone + parts * self.number, parts

    def lie_apart(self, numbers: list[int]) -> bool:
        """Whether some lines of a store are further from the one before than a slice's four pieces in a row."""
        steps = [abs(after - before) for before, after in pairwise(numbers)]
        return self.number > 0 and max(steps, default=0) > 4 * self._lines

    def spread(
        self, free: dict[str, int], asked: dict[str, list[tuple[int, int]]], line: int, fresh: int, extra: int, now: int
    ) -> None:
        """Let the slice of a line that lies apart have what the L2 has just taken of it, by its ways and their past."""
        if self.apart and fresh:
            late = self.store(line, fresh, extra, free["all stores"], now)
            free["all stores"] += late
            asked["stores"].append((now, late))

    def store(self, number: int, fresh: int, extra: int, mean: int, now: int) -> int:
        """For how many 1/64 cycles longer the L2 takes no store after units of a line, and as many parts of units.

        `mean`: when it would take the next one, in 1/64 cycles.
        """
        assert self.machine.l2_channel
        groups, waits, far = min(MOST_GROUPS, self.sms), 0, 64 * self.machine.l2_channel.slice_ahead
        share = round(64 * self.number / sqrt(self.sms * groups))
        extra *= self.machine.l2_channel.store_line_parts > 0
        more = self.last * (fresh + extra) // fresh * share // 64
        for group in range(groups):
            at, soonest = self.slice_of(number, group), max(mean - far, min(mean, 64 * now))
            done = max(self.own.get(at, 0) + self.everyone, soonest * self.number)
            late = max(0, ceil((done - (mean + far) * self.number) / self.number))
            self.everyone -= more
            self.own[at] = done + (self.number - 1) * more - self.everyone
            waits, mean = waits + late, mean + late
        return waits

    @property
    def _lines(self) -> int:
        assert self.machine.l2_atomic
        return self.machine.l2_atomic.bytes // self.machine.global_memory.line_bytes

    def slice_of(self, number: int, group: int) -> int:
        """The slice in which a line is, or the same line of one of the groups."""
        piece = number // self._lines
        mixed = ((piece >> 2 << 1) + (piece & 1) + 8192 * group) * 0x9E3779B1 % 2**31
        mixed = (mixed ^ mixed >> 15) * 0x9E3779B1 % 2**31
        return (mixed ^ mixed >> 13) % self.number
