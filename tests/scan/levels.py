"""A cache as a scan of every cycle sees it: its lines, the one used longest ago first."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(eq=False)
class Line:
    """A line that is held: the cycle at which each unit came, and the units that were stored to."""

    number: int
    came: dict[int, int] = field(default_factory=dict)
    stored: set[int] = field(default_factory=set)
    way: int = -1


@dataclass(eq=False)
class Level:
    """A cache of so many sets and ways; `units` of a line and of a sector."""

    sets: int
    ways: int
    units: int
    sector: int
    hashed: bool = False  # a line's set is the sum of its number's digits in base `sets`, not the last one
    lines: list[Line] = field(default_factory=list)
    replacement: str = "lru"  # or fifo: the line that came first makes room; or random
    uses: int = 0

    def find(self, number: int) -> Line | None:
        """The line, if it is held."""
        return next((line for line in self.lines if line.number == number), None)

    def use(self, number: int) -> tuple[Line, Line | None]:
        """The line, which is now the one used last, and the line that made room for it, if any."""
        line, mine, gone = self.find(number), self._set(number), None
        if line is None:
            others = {other.way: other for other in self.lines if self._set(other.number) == mine}
            free = [way for way in range(self.ways) if way not in others]
            line = Line(number, way=free[0] if free else self._victim(mine, [*others]))
            gone = others.get(line.way)
            self.lines = [other for other in self.lines if other is not gone] + [line]
        elif self.replacement != "fifo":
            self.lines = [other for other in self.lines if other is not line] + [line]
        self.uses += 1
        return line, gone

    def _victim(self, mine: int, ways: list[int]) -> int:
        """The way of the line in that set that makes room; `ways` are those of its lines, in their order."""
        if self.replacement != "random":
            return ways[0]
        place = 1 + mine * self.ways * (3 + self.units)  # in 64-bit words behind the count of uses
        mixed = (self.uses % 2**31 * 0x9E3779B1 + place * 0x45D9F3B) % 2**32
        mixed = (mixed ^ mixed >> 15) * 0x2C1B3C6D % 2**32
        return (mixed ^ mixed >> 12) * self.ways // 2**32

    def begin(self, replacement: str) -> None:
        """Let lines make room by this policy from now on; those that came last have the first ways of their sets."""
        self.replacement = replacement
        for mine in {self._set(line.number) for line in self.lines}:
            held = [line for line in self.lines if self._set(line.number) == mine]
            for way, line in enumerate(reversed(held)):
                line.way = way

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
