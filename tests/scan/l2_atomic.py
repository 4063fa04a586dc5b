"""Slices of the L2, which do atomics and stores to few lines, as a scan of every cycle sees them: what waits there."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil, floor

from gpusim.machine.machine import Machine
from isa.row import Row

REAL = "F16", "F32", "F64", "F16x2", "BF16x2"


@dataclass(eq=False)
class Slices:
    """The slices that do atomics of one SM: when each is free, in cycles, and the line that it did the last one to."""

    machine: Machine
    free: dict[int, Fraction] = field(default_factory=dict)
    last: dict[int, int] = field(default_factory=dict)
    sent: Fraction = Fraction(0)  # when the atomics without results have left the SM
    done: int = 0  # when all are done
    waiting: int = 0  # lanes, since none waited
    began: int = 0

    def update(self, row: Row, number: int, work: tuple[int, int, int], now: int) -> int:
        """The cycle at which a line's atomics are done: lanes, passes, and the units of all passes."""
        rules, away = self.machine.l2_atomic, self.machine.global_atomic
        assert rules
        assert away
        lanes, passes, units = work
        parts = row.mnemonic.split(".")
        each = rules.real_parts if any(part in REAL for part in parts) else rules.whole_parts
        operands = row.form.count("a") + row.form.count("b")
        double = (operands == 2 and lanes > passes) or ("F64" in parts and lanes > units)
        at = self._slice(number)
        behind = passes if self.last.get(at) == number else passes - 1
        self.last[at], begin = number, Fraction(now)
        if not row.is_load:
            begin = max(self.sent, begin)
            packets = passes + (units * operands if lanes > passes else 0)
            self.sent, begin = begin + Fraction(packets * away.packet_parts, 64), Fraction(floor(begin))
        own = Fraction(max(units * rules.sector_parts * (1 + double), behind * each), 64)
        self.free[at] = max(self.free.get(at, Fraction(0)), begin) + own
        self._wait(lanes, max(ceil(self.free[at]), floor(self.sent)), now)
        return ceil(self.free[at])

    def store(self, number: int, units: int, now: int, *, parted: bool) -> int:
        """Units of a line, or parts of units, come to their slice; the cycle from which on few enough wait there."""
        assert self.machine.l2_atomic
        at = self._slice(number)
        own = Fraction((units + parted) * self.machine.l2_atomic.sector_parts, 64)
        self.free[at] = max(self.free.get(at, Fraction(0)), Fraction(now)) + own
        self._wait(self.machine.global_memory.line_bytes // 32, ceil(self.free[at]), now)  # a whole line, always
        return self.room(now)

    def _slice(self, number: int) -> int:
        rules = self.machine.l2_atomic
        assert rules
        piece = number // (rules.bytes // self.machine.global_memory.line_bytes)
        return ((piece >> 2 << 1 | piece & 1) * 0x9E3779B1 >> 12) % rules.slices

    def _wait(self, lanes: int, done: int, now: int) -> None:
        if self.done <= now:
            self.waiting, self.began = 0, now
        self.waiting += lanes
        self.done = max(self.done, done)

    def room(self, now: int) -> int:
        """The cycle at which the next atomic without a result, or line of such stores, may leave the SM."""
        assert self.machine.l2_atomic
        most = self.machine.l2_atomic.waiting
        if self.waiting <= most:
            return now
        return self.done - (self.done - self.began) * most // self.waiting
