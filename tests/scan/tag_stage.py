"""The tag stage of the L1 as a scan of every cycle (`every_cycle.py`) sees it: the moment at which it is free."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from math import floor

from gpusim.machine.machine import Machine
from isa.row import Row

PART = Fraction(1, 64)  # of a cycle


@dataclass(eq=False)
class Stage:
    """When the stage has looked up all that came; a machine without the section has none, and nothing waits."""

    machine: Machine
    free: Fraction = Fraction(0)
    waits: bool = False  # the last load that came waits for a line

    def enter(self, now: int) -> int:
        """The cycle in which an access that is served now is looked up."""
        return max(now, floor(self.free))

    def load(self, row: Row, lines: int, late: list[int], now: int) -> None:
        """Look up so many lines of a load, of which some are late."""
        stage, near = self.machine.tag_stage, self.machine.l1
        self.waits = bool(stage and near and late)
        if stage and near:
            groups = [number for number, _ in groupby(line // stage.late_lines for line in late)]
            at_once = max(1, near.lines_per_cycle)
            again = min(len(groups), stage.late_most)
            words = 0 if late and stage.late_asks else row.words
            self._take(max(words, -(-lines // at_once)) + PART * again * stage.late_parts, now)

    def store(self, row: Row, sectors: int, now: int) -> None:
        """Look up the lines of a store to so many sectors."""
        stage = self.machine.tag_stage
        if stage and self.machine.l1:
            words = stage.store_parts + row.words * stage.store_word_parts
            of_lines = min(sectors, row.words * self.machine.global_memory.line_bytes // 32)
            self._take(PART * max(words, of_lines * stage.store_sector_parts), now)

    def _take(self, cycles: Fraction | int, now: int) -> None:
        self.free = max(self.free, Fraction(now)) + cycles


def turn(machine: Machine, i: int, count: int, cycles: int, own: int) -> int:
    """The turn in which the i-th of a load's lines is looked up: they share its service, but within its own turns."""
    each, several = machine.global_memory.request_cycles, machine.l1 and machine.l1.lines_per_cycle
    return min(i * (cycles // each) // count, own // each - 1) if several else i
