"""Lines that were stored to and wait in the SM, as a scan of every cycle (`every_cycle.py`) sees them."""

from __future__ import annotations

from dataclasses import dataclass, field

from gpusim.machine.machine import Machine


@dataclass(eq=False)
class Line:
    """A line's number, the units that wait, and the cycle from which on nothing joins them."""

    number: int
    units: set[int]
    until: int


@dataclass(eq=False)
class HeldStores:
    """The last lines stored to, in the order in which they came; a machine may let none wait."""

    machine: Machine
    lines: list[Line] = field(default_factory=list)

    def wait(self, lines: int) -> int:
        """The cycles for which those of a store to so many lines wait, at least."""
        rules = self.machine.l2_channel
        return max(rules.store_wait, rules.store_line_wait * lines) if rules else 0

    def waiting(self, now: int) -> dict[int, Line]:
        """The lines that wait in a cycle, by their numbers."""
        return {line.number: line for line in self.lines if line.until > now}

    def of(self, number: int, now: int) -> set[int]:
        """The units of a line that wait in a cycle."""
        held = self.waiting(now).get(number)
        return held.units if held else set()

    def add(self, number: int, units: set[int], now: int, until: int) -> None:
        """Let units of a line wait from a cycle on until another, with those that do so already."""
        rules, held = self.machine.l2_channel, self.waiting(now).get(number)
        if held:
            held.units, held.until = held.units | units, max(held.until, until)
        elif rules and rules.store_lines:
            self.lines = [*self.lines, Line(number, units, until)][-rules.store_lines :]

    def keep(self, number: int, until: int) -> None:
        """Let a line, stored to last, wait until a cycle, at least."""
        for line in [line for line in self.lines if line.number == number][-1:]:
            line.until = max(line.until, until)

    @property
    def room(self) -> int:
        """The cycle at which the line that came first makes way for another."""
        rules = self.machine.l2_channel
        return self.lines[0].until if rules and len(self.lines) == rules.store_lines > 0 else 0
