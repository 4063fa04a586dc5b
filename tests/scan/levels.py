"""A cache as a scan of every cycle sees it: its lines, the one used longest ago first."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(eq=False)
class Line:
    """A line that is held: the cycle at which each unit came, and the units that were stored to."""

    number: int
    came: dict[int, int] = field(default_factory=dict)
    stored: set[int] = field(default_factory=set)


@dataclass(eq=False)
class Level:
    """A cache of so many sets and ways; `units` of a line and of a sector."""

    sets: int
    ways: int
    units: int
    sector: int
    hashed: bool = False  # a line's set is the sum of its number's digits in base `sets`, not the last one
    lines: list[Line] = field(default_factory=list)

    def find(self, number: int) -> Line | None:
        """The line, if it is held."""
        return next((line for line in self.lines if line.number == number), None)

    def use(self, number: int) -> tuple[Line, Line | None]:
        """The line, which is now the one used last, and the line that made room for it, if any."""
        line = self.find(number) or Line(number)
        mine = self._set(number)
        others = [other for other in self.lines if self._set(other.number) == mine and other is not line]
        gone = others[0] if len(others) == self.ways else None
        self.lines = [other for other in self.lines if other not in (line, gone)] + [line]
        return line, gone

    def _set(self, number: int) -> int:
        digits = [number]
        while self.hashed and self.sets > 1 and digits[-1] >= self.sets:
            digits.append(digits[-1] // self.sets)
        return sum(digits) % self.sets

    def lacking(self, number: int, wanted: set[int]) -> set[int]:
        """The units that an access to these brings: a sector that lacks one of them brings all that it lacks."""
        line = self.find(number)
        there = set(line.came) if line else set()
        lost = {unit // self.sector for unit in wanted - there}
        return {unit for unit in range(self.units) if unit // self.sector in lost} - there
