"""Caches as a scan of every cycle (`every_cycle.py`) sees them: lists of lines, the one used longest ago first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from math import floor
from typing import Any

from gpusim.machine.machine import Machine
from isa.table import Row, Unit

UNIT = 32  # bytes: lines are held and moved in such units
Request = tuple[int, set[int]]  # a line's number, and the units wanted of it


def from_memory(machine: Machine) -> int:
    """Cycles of a load that hits no cache; its part beyond the L2 takes the same time at every clock."""
    measured, hit = machine.global_memory.latency, machine.cache.l2_latency_32 if machine.cache else 0
    if machine.memory_clock is None or measured <= hit:
        return measured
    beyond = Fraction(measured - hit, machine.memory_clock.mhz)  # microseconds
    return hit + floor(beyond * machine.chip.shader_mhz)


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
    lines: list[Line] = field(default_factory=list)

    def find(self, number: int) -> Line | None:
        """The line, if it is held."""
        return next((line for line in self.lines if line.number == number), None)

    def use(self, number: int) -> tuple[Line, Line | None]:
        """The line, which is now the one used last, and the line that made room for it, if any."""
        line = self.find(number) or Line(number)
        others = [other for other in self.lines if other.number % self.sets == number % self.sets and other is not line]
        gone = others[0] if len(others) == self.ways else None
        self.lines = [other for other in self.lines if other not in (line, gone)] + [line]
        return line, gone

    def lacking(self, number: int, wanted: set[int]) -> set[int]:
        """The units that an access to these brings: a sector that lacks one of them brings all that it lacks."""
        line = self.find(number)
        there = set(line.came) if line else set()
        lost = {unit // self.sector for unit in wanted - there}
        return {unit for unit in range(self.units) if unit // self.sector in lost} - there


@dataclass(eq=False)
class Caches:
    """The caches of a machine whose tags say what hits, the ways to L2 and DRAM, and all misses of the L1."""

    machine: Machine
    near: Level | None
    far: Level | None
    partition: Level | None  # of the L2, near the SM
    textures: Level | None
    scalars: Level | None
    constants: Level | None
    misses: list[int] = field(default_factory=list)  # the cycle at which each was back
    free: dict[str, int] = field(default_factory=dict)  # 1/64 cycles: when the port and the DRAM's channel are free

    def asked_by(self, row: Row) -> bool:
        """Whether accesses of this kind look for their lines when they are served."""
        levels = {Unit.LOCAL: self.near, Unit.CONSTANT: self.constants}
        return row.unit is Unit.GLOBAL or levels.get(row.unit) is not None

    def load(self, row: Row, requests: list[Request], now: int) -> tuple[int, int]:
        """The cycles at which a load that is served now has its result, and at which its last line is asked for."""
        cache, machine = self.machine.cache, self.machine
        assert cache is not None
        if row.unit is Unit.CONSTANT:
            assert self.constants
            assert machine.constant_cache
            return self._read(self.constants, machine.constant_cache.latency, requests, now), now
        first, late = getattr(cache, f"l1_latency_{row.width}"), cache.l1_late
        if row.unit is Unit.LOCAL:
            first, late = machine.local_memory.latency, 0
        here = self.near if machine.l1 and (row.unit is Unit.LOCAL or machine.l1.global_loads) else None
        start, results = now, []
        for i, (number, units) in enumerate(requests):
            beyond = getattr(cache, f"l2_latency_{row.width}") + i * cache.l2_late
            if here is None:
                results.append(self._far(number, units, start, beyond))
                continue
            lost, line = here.lacking(number, units), here.find(number)
            known = [line.came.get(unit, 0) for unit in units] if line else []
            if lost:
                start = self._admitted(start)
            line, gone = here.use(number)
            self._write_back(gone, start)
            if lost:
                self.misses.append(max([*known, self._far(number, lost, start, beyond)]))
                line.came |= dict.fromkeys(lost, self.misses[-1])
            results += [*(line.came[unit] for unit in units), start + first + i * late]
        return max(results), start

    def fetch(self, asked: list[Request], now: int) -> int:
        """The cycle at which a texture fetch that issues now has all its lines, from the L2 if it has no cache."""
        cache, rules = self.machine.cache, self.machine.texture_cache
        assert cache is not None
        if self.textures and rules:
            return self._read(self.textures, rules.latency, asked, now)
        behind = [cache.l2_latency_32 + i * cache.l2_late for i in range(len(asked))]
        there = [self._far(number, units, now, late) for (number, units), late in zip(asked, behind, strict=True)]
        return max([now + self.machine.texture.latency, *there])

    def load_scalars(self, byte: int, size: int, now: int) -> int | None:
        """The cycle at which so many bytes from one on, asked for now, have come, if a cache of scalars keeps tags."""
        rules, line = self.machine.scalar_cache, self.machine.global_memory.line_bytes
        asked: dict[int, set[int]] = {}
        for each in range(byte, byte + size):
            asked.setdefault(each // line, set()).add(each % line // UNIT)
        if self.scalars is None or rules is None:
            return None
        return self._read(self.scalars, rules.latency, list(asked.items()), now, self.machine.unit[Unit.SMEM].latency)

    def _read(self, level: Level, latency: int, asked: list[Request], now: int, behind: int = 0) -> int:
        """The cycle at which a read-only cache has all that is asked for now; `behind`: cycles of hits in the L2."""
        cache, results = self.machine.cache, [now]
        assert cache is not None
        behind = behind or cache.l2_latency_32
        for i, (number, units) in enumerate(asked):
            lost = level.lacking(number, units)
            line, _ = level.use(number)
            known = [line.came.get(unit, 0) for unit in units]
            if lost:
                there = max([*known, self._far(number, lost, now, behind + i * cache.l2_late)])
                line.came |= dict.fromkeys(lost, there)
            results += [*(line.came[unit] for unit in units), now + latency]
        return max(results)

    def store(self, row: Row, requests: list[Request], now: int) -> int:
        """The cycle at which a store that is served now has left the SM."""
        left, rules = [now], self.machine.l1
        for number, units in requests:
            if self.near and rules and row.unit is Unit.LOCAL and rules.local_stores == "back":
                line, gone = self.near.use(number)
                self._write_back(gone, now)
                line.came = dict.fromkeys(units, now + 1) | line.came
                line.stored |= units
                continue
            if self.near and rules and row.unit is Unit.GLOBAL and rules.global_stores == "evict":
                self.near.lines = [line for line in self.near.lines if line.number != number]
            left.append(self._far_store(number, units, now))
        return max(left)

    def _admitted(self, start: int) -> int:
        """The first cycle at which the L1 waits for fewer lines than it may."""
        assert self.machine.l1 is not None
        times = [start, *(back for back in self.misses if back > start)]
        return min(t for t in times if sum(back > t for back in self.misses) < self.machine.l1.misses)

    def _write_back(self, gone: Line | None, now: int) -> None:
        if gone and gone.stored:
            self._far_store(gone.number, gone.stored, now)

    def _far(self, number: int, units: set[int], now: int, latency: int) -> int:
        """The cycle at which units that the L1 does not hold have come."""
        if self.far is None:
            return self._moved("dram", len(units), now) + from_memory(self.machine)
        now, rules = self._moved("port", len(units), now), self.machine.l2_partition
        if self.partition is None or rules is None:
            return self._behind(number, units, now, latency)
        lost = self.partition.lacking(number, units)
        line, _ = self.partition.use(number)
        times = [line.came.get(unit, 0) for unit in units]
        if lost:
            times.append(max([*times, self._behind(number, lost, now, latency + rules.late)]))
            line.came |= dict.fromkeys(lost, times[-1])
        return max([now + latency, *times])

    def _behind(self, number: int, units: set[int], now: int, latency: int) -> int:
        """The cycle at which units that the L2's near partition does not hold have come."""
        assert self.far is not None
        memory, lost = from_memory(self.machine), self.far.lacking(number, units)
        line = self._of_far(number, now)
        times = [line.came.get(unit, 0) for unit in units]
        if lost:
            times.append(max([*times, self._moved("dram", len(lost), now) + memory]))
            line.came |= dict.fromkeys(lost, times[-1])
        return max([now + latency, *times])

    def _far_store(self, number: int, units: set[int], now: int) -> int:
        if self.far is None:
            return self._moved("dram", len(units), now)
        now = self._moved("port", len(units), now)
        line = self._of_far(number, now)
        line.came = dict.fromkeys(units, now) | line.came
        line.stored |= units
        return now

    def _of_far(self, number: int, now: int) -> Line:
        """The L2's line; the stored units of the line that makes room go to the DRAM."""
        assert self.far is not None
        line, gone = self.far.use(number)
        if gone and gone.stored:
            self._moved("dram", len(gone.stored), now)
        return line

    def _moved(self, way: str, units: int, now: int) -> int:
        chip, cache = self.machine.chip, self.machine.cache
        assert cache is not None
        dram = round(64 * UNIT * chip.sms * chip.shader_mhz / arriving(self.machine))
        cost = {"port": cache.l2_sector_parts, "dram": dram}[way]
        self.free[way] = max(self.free.get(way, 0), 64 * now) + units * cost
        return -(-self.free[way] // 64)


def arriving(machine: Machine) -> float:
    """The part of the DRAM's bandwidth that arrives, in 10^6 bytes per second."""
    memory = machine.memory
    lost = memory.ecc_cost / 1000 if memory and memory.ecc else 0
    return machine.chip.dram_mbs * (memory.efficiency / 1000 if memory else 1) * (1 - lost)


def caches(machine: Machine) -> Caches | None:
    """The machine's caches, empty; None where no tags are kept."""
    if machine.cache is None or machine.cache.hits != "tags":
        return None
    line, levels = machine.global_memory.line_bytes, []
    read = machine.texture_cache, machine.scalar_cache, machine.constant_cache
    for cache in (machine.l1, machine.l2, machine.l2_partition, *read):
        sets = cache.bytes // (line * cache.ways) if cache else 0
        levels.append(Level(sets, cache.ways, line // UNIT, cache.sector_bytes // UNIT) if cache else None)
    return Caches(machine, *levels)


def requests(machine: Machine, row: Row, bytes_of_lanes: list[list[int | None]]) -> list[Request]:
    """The lines that an access asks for, given the bytes of each lane, group of 32 lanes by group."""
    line = machine.global_memory.line_bytes
    asked: list[Request] = []
    for where in bytes_of_lanes:
        for group in _resolved(machine, row, where):
            lines: dict[int, set[int]] = {}
            for byte in group:
                lines.setdefault(byte // line, set()).add(byte % line // UNIT)
            asked += lines.items()
    return asked


def _resolved(machine: Machine, row: Row, where: list[int | None]) -> Iterator[Iterable[int]]:
    """The groups of lanes whose bytes are resolved together."""
    halves = machine.global_memory.rule == "gt200"
    size = 32 if row.unit in (Unit.LOCAL, Unit.TEXTURE) else 16 if halves else 32 // row.words
    for i in range(0, 32, size):
        yield [byte for byte in where[i : i + size] if byte is not None]


def places(slot: int, row: Row, addresses: Any, active: Any, local_words: int) -> list[list[int | None]]:
    """The first byte of each lane's access; of local memory that of each word, as words are stored lane by lane."""
    lanes, each = range(32), addresses.reshape(-1, 32)
    on = active.reshape(-1, 32)
    if row.unit is not Unit.LOCAL:
        return [[int(each[h, i]) if on[h, i] else None for i in lanes] for h in range(len(each))]

    def place(h: int, word: int, lane: int) -> int:
        group = slot * len(each) + h
        return (1 << 32) + 4 * ((group * local_words + int(each[h, lane]) // 4 + word) * 32 + lane)

    words = [(h, word) for h in range(len(each)) for word in range(row.words)]
    return [[place(h, word, i) if on[h, i] else None for i in lanes] for h, word in words]
