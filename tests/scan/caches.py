"""Caches as a scan of every cycle (`every_cycle.py`) sees them: lists of lines, the one used longest ago first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import floor

from neighbours import lifted

from gpusim.machine.machine import Machine
from isa.row import Row, Unit
from scan.dram import Dram, from_memory, sector_parts
from scan.held_stores import HeldStores
from scan.l2_atomic import Slices
from scan.levels import Level, Line
from scan.sliced_stores import SlicedStores, distance
from scan.tag_stage import Stage, turn

UNIT = 32  # bytes: lines are held and moved in such units
Work = dict[int, tuple[int, int, int]]  # of an atomic, by line: scan/requests.py
Request = tuple[int, set[int], set[int]]  # a line's number, the units wanted of it, and those stored to in part


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
    held: HeldStores  # of the L2
    misses: list[int] = field(default_factory=list)  # the cycle at which each was back
    sms: int = 1  # that share the L2; this one stands for all of them
    free: dict[str, int] = field(default_factory=dict)  # 1/64 cycles: when each way and the DRAM's channel are free
    slices: Slices | None = None  # of the L2, that do atomics, and stores to few lines
    crowded: frozenset[int] = frozenset()  # pcs of these stores
    stage: Stage | None = None  # of the L1, where lines are looked up
    asked: dict[str, list[tuple[int, int]]] = field(default_factory=dict)  # of the L2, by way: cycle and 1/64 cycles
    differing: Mapping[int, int] = field(default_factory=dict)  # by pc, of 64 sectors that neighbours ask for
    passes: int = 0  # of 64 lines of buffers, those of which what is stored goes on to the DRAM
    dram: Dram = field(init=False)  # its queue and latency
    sliced: SlicedStores = field(init=False)  # of the L2, that stores fill unevenly
    asking: int = -1  # the pc of the load that is served

    def __post_init__(self) -> None:
        """The DRAM is the machine's, for SMs that have blocks, if they stand for others."""
        stands = (machine := self.machine).l2 and (machine.l2_channel or machine.architecture)
        self.dram = Dram(machine, self.sms if stands else machine.chip.sms)
        self.sliced = SlicedStores(machine, self.sms)

    def asked_by(self, row: Row) -> bool:
        """Whether accesses of this kind look for their lines when they are served."""
        levels = {Unit.LOCAL: self.near, Unit.CONSTANT: self.constants}
        return row.unit is Unit.GLOBAL or levels.get(row.unit) is not None

    def load(
        self, row: Row, requests: list[Request], now: int, cycles: int = 0, *, own: int = 1, parameters: bool = False
    ) -> tuple[int, int]:
        """The cycles at which a load that is served now has its result, and at which its last line is asked for.

        It is served for so many cycles, `own` are its lanes'; `parameters`: a constant load that reads the launch's.
        """
        cache, machine = self.machine.cache, self.machine
        assert cache is not None
        if row.unit is Unit.CONSTANT:
            return self._constants_there(requests, now, parameters=parameters)
        first, late = getattr(cache, f"l1_latency_{row.width}"), cache.l1_late
        if row.unit is Unit.LOCAL:
            first, late = machine.local_memory.latency, 0
        here = self.near if machine.l1 and (row.unit is Unit.LOCAL or machine.l1.global_loads) else None
        now = self.stage.enter(now) if here and self.stage else now
        start, results, waited_for = now, [], []
        for i, (number, units, _) in enumerate(requests):
            beyond = getattr(cache, f"l2_latency_{row.width}") + i * cache.l2_late
            if here is None:
                results.append(self._far(number, units, start, beyond))
                continue
            if lifted(machine, "l1", "holds"):
                results.append(start + first + turn(machine, i, len(requests), cycles, own) * late)
                continue
            lost, line = here.lacking(number, units), here.find(number)
            known = [line.came.get(unit, 0) for unit in units] if line else []
            if row.anew:
                lost, known = units, []
            if lost:
                start = self._admitted(start)
            line, gone = here.use(number)
            self._write_back(gone, start)
            if row.anew:
                self.misses.append(self._far(number, units, start, beyond))
                line.came = dict.fromkeys(units, self.misses[-1]) | line.came
                known = [self.misses[-1]]
            elif lost:
                self.misses.append(max([*known, self._far(number, lost, start, beyond)]))
                line.came |= dict.fromkeys(lost, self.misses[-1])
            elif machine.l1 and machine.l1.joined and max(known) > start + first:  # behind the others that wait for it
                line.came |= dict.fromkeys(units, max(known) + machine.l1.joined)
            known = known if row.anew else [line.came[unit] for unit in units]
            if max(known) > start + first:
                waited_for.append(number)
            results += [*known, start + first + turn(machine, i, len(requests), cycles, own) * late]
        if here and self.stage:
            self.stage.load(row, len(requests), waited_for, now)
        return max(results), start

    def _constants_there(self, asked: list[Request], now: int, *, parameters: bool) -> tuple[int, int]:
        """The cycle at which constants asked for now have come, and that at which the last sector is asked for.

        Those that the next cache has come from there.
        """
        rules, level, results = self.machine.constant_cache, self.constants, [now]
        assert rules
        assert level
        together, start = max(1, rules.next_bytes // self.machine.global_memory.line_bytes), now
        sectors = [
            (i, number, {unit for unit in units if unit // level.sector == sector})
            for i, (number, units, _) in enumerate(asked)
            for sector in sorted({unit // level.sector for unit in units})
        ]
        if not rules.in_series:
            sectors = [(i, number, units) for i, (number, units, _) in enumerate(asked)]
        for i, number, units in sectors:
            now = start  # when the sector before has come
            passed_on = [line for line in level.lines if line.number // together == number // together]
            if rules.next_latency and (parameters or passed_on):
                lost = level.lacking(number, units)
                line, _ = level.use(number)
                there = max([now + rules.next_latency, *(line.came.get(unit, 0) for unit in units)])
                line.came |= dict.fromkeys(lost, there)
                there = max([*(line.came[unit] for unit in units), now + rules.latency])
            else:
                there = self._read(level, rules.latency, [(number, units, set())], now, first=i)
            start = max(start, there - rules.latency) if rules.in_series else start
            results.append(there)
        return max(results), now

    def fetch(self, asked: list[Request], now: int) -> int:
        """The cycle at which a texture fetch that issues now has all its lines, from the L2 if it has no cache."""
        cache, rules = self.machine.cache, self.machine.texture_cache
        assert cache is not None
        if self.textures and rules:
            return self._read(self.textures, rules.latency, asked, now)
        behind = [cache.l2_latency_32 + i * cache.l2_late for i in range(len(asked))]
        there = [self._far(number, units, now, late) for (number, units, _), late in zip(asked, behind, strict=True)]
        return max([now + self.machine.texture.latency, *there])

    def load_scalars(self, byte: int, size: int, now: int) -> int | None:
        """The cycle at which so many bytes from one on, asked for now, have come, if a cache of scalars keeps tags."""
        rules, line = self.machine.scalar_cache, self.machine.global_memory.line_bytes
        asked: dict[int, set[int]] = {}
        for each in range(byte, byte + size):
            asked.setdefault(each // line, set()).add(each % line // UNIT)
        if self.scalars is None or rules is None:
            return None
        every: list[Request] = [(number, units, set()) for number, units in asked.items()]
        return self._read(self.scalars, rules.latency, every, now, self.machine.unit[Unit.SMEM].latency)

    def _read(self, level: Level, latency: int, asked: list[Request], now: int, behind: int = 0, first: int = 0) -> int:
        """The cycle at which a read-only cache has all that is asked for now; `behind`: cycles of hits in the L2.

        `first` requests of the same load have gone before.
        """
        cache, results = self.machine.cache, [now]
        assert cache is not None
        behind = behind or cache.l2_latency_32
        for i, (number, units, _) in enumerate(asked, first):
            lost = level.lacking(number, units)
            line, _ = level.use(number)
            known = [line.came.get(unit, 0) for unit in units]
            if lost:
                there = max([*known, self._far(number, lost, now, behind + i * cache.l2_late)])
                line.came |= dict.fromkeys(lost, there)
            results += [*(line.came[unit] for unit in units), now + latency]
        return max(results)

    def store(self, row: Row, requests: list[Request], now: int, cycles: int = 0) -> tuple[int, int]:
        """When a store served now, for so many cycles, has left the SM, and up to when its service is put off."""
        if self.near and self.stage:
            now = self.stage.enter(now)
            self.stage.store(row, sum(len(units) for _, units, _ in requests), now)
        left, rules, sent, parted = [now], self.machine.l1, [], 0
        wait, self.sliced.apart = self.held.wait(len(requests)), self.sliced.lie_apart([each[0] for each in requests])
        for number, units, partly in requests:
            if self.near and rules and row.unit is Unit.LOCAL and rules.local_stores != "through":
                held, copied = self.near.find(number), rules.local_stores == "copied"
                stays = {unit for unit in units if unit not in partly or (held and unit in held.came)}
                if stays:
                    self._keep(self.near, number, stays, now, stored=set() if copied else stays)
                goes = units if copied else units - stays
                alone = bool(partly) and bool(goes) and number not in self.held.waiting(now)
                parted += alone
                if goes:
                    left.append(self._far_store(number, goes, now, wait, alone))
                    sent.append(goes)
                continue
            fresh, alone = units - self.held.of(number, now), bool(partly) and number not in self.held.waiting(now)
            if self.near and rules and row.unit is Unit.GLOBAL and rules.global_stores == "evict":
                self.near.lines = [line for line in self.near.lines if line.number != number]
            parted, sent = parted + alone, [*sent, units]
            left.append(self._far_store(number, units, now, wait, alone))
            if self.slices and self.asking in self.crowded and fresh:
                self.held.keep(number, self.slices.store(number, len(fresh), left[-1], parted=alone))
        room = self.held.room - cycles if sent and self.asking in self.crowded else now
        return max(left), max(room, self._room_for_stores(parted, now, cycles) if sent else now)

    @property
    def keeps_stores(self) -> bool:
        """Whether stores wait for the L2 on a way of their own; warps don't wait for these."""
        return self.machine.l2_channel is not None and self.far is not None

    @property
    def gone(self) -> int:
        """The cycle at which all of these have left, and the DRAM has them, where the L2 does not keep the buffers."""
        ways = [self.free.get(way, 0) * self.keeps_stores for way in ("stores", "all stores")]
        return -(-max(*ways, self.free.get("dram", 0) * bool(self.passes)) // 64)

    def _keep(self, level: Level, number: int, units: set[int], now: int, stored: set[int]) -> None:
        """Let what is stored in these units stay in a cache."""
        line, gone = level.use(number)
        self._write_back(gone, now)
        line.came = dict.fromkeys(units, now + 1) | line.came
        line.stored |= stored

    def _room_for_stores(self, lines: int, now: int, cycles: int) -> int:
        """The cycle at which a store of so many cycles ends no sooner than the next one has room on its way.

        Of so many lines it writes parts of units, which takes the L2 longer once the store is served.
        """
        channel = self.machine.l2_channel
        if channel is None or self.far is None:
            return now
        if lines:
            self.free["stores"] += lines * channel.store_line_parts
        if lines and channel.store_line_parts:
            self._of_all("stores", lines, now + cycles)
        own = self.free["stores"] // 64 - channel.store_buffer * channel.store_parts // 64
        shared = self.free.get("all stores", 0) // 64 - channel.store_buffer * self._share("stores") // 64
        return max(now, own - cycles, shared - cycles)

    def atomic(
        self, row: Row, requests: list[Request], work: Work, now: int, latency: int, cycles: int, extra: int
    ) -> tuple[int, int, int]:
        """The cycles at which an atomic that is served now has its old values, and at which it has left the SM.

        And that up to which its service is put off, of so many cycles.
        """
        cache, done, left, sliced = self.machine.cache, now, now, now
        assert cache is not None
        for i, (number, units, _) in enumerate(requests):
            if self.near:
                self.near.lines = [line for line in self.near.lines if line.number != number]
            if self.far is None:
                left = max(left, self._moved(len(units), now))
                done = max(done, left + max(latency, from_memory(self.machine)))
                continue
            gone = self._sent("stores", len(units), now)
            left, done = max(left, gone), max(done, self._behind(number, units, gone, latency + i * cache.l2_late))
            held = self.far.find(number)
            if not lifted(self.machine, "l2", "holds"):
                assert held is not None
                held.stored |= units
            if self.slices and number in work:
                sliced = max(sliced, self.slices.update(row, number, work.pop(number), now) + latency)
        done = max(done + extra, sliced)  # slices do its passes one after the other as it is
        if row.is_load:
            return done, left, now
        room = self.slices.room(now) if self.slices else now
        return done, left, max(self._room_for_stores(0, now, cycles), room - cycles)

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
            return self._moved(len(units), now) + from_memory(self.machine)
        now = max(now, self.slices.done) if self.slices else now
        asked, rules = now, self.machine.l2_partition
        now = self._sent("loads", len(units), now)
        if self.asking in self.differing:
            now = max(now, self._of_all("answers", len(units), asked))
        latency += distance(self.machine, number)
        if self.partition is None or rules is None or lifted(self.machine, "l2", "holds"):
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
        if lifted(self.machine, "l2", "holds"):
            return now + latency
        lost = self.far.lacking(number, units)
        alone = self.far.find(number) is None and self.far.find(number ^ 1) is None
        line = self._of_far(number, now)
        times = [line.came.get(unit, 0) for unit in units]
        if lost:
            parts = self.dram.cost(len(lost), alone=alone)
            self.dram.reads(now)
            there = self._taken("dram", parts, now) + self.dram.wait(parts, now) + self.dram.latency(number)
            times.append(max([*times, there]))
            line.came |= dict.fromkeys(lost, max(times[-1], now + latency))  # no sooner than who brought it has it
        return max([now + latency, *times])

    def _far_store(self, number: int, units: set[int], now: int, wait: int = 0, alone: bool | None = None) -> int:
        """The cycle at which units have left the SM, but those that an earlier store of the line still has waiting.

        They wait for so many cycles, at least, for others; `alone`: those of a store do, in part.
        """
        if self.far is None:
            return self._moved(len(units), now)
        asked, fresh = now, units - self.held.of(number, now)
        now = self._sent("stores", len(fresh), now)
        if alone is not None:
            self.sliced.spread(self.free, self.asked, number, len(fresh), alone, asked)
        self.held.add(number, units, asked, max(now, asked + wait))
        if self.dram.passes(number, self.passes):
            held = self.far.find(number)
            self._write(len(units - (held.stored if held else set())), now)
        line = self._of_far(number, now)
        line.came |= dict.fromkeys(fresh if line.came else units, now)
        line.stored |= units
        return now

    def _write(self, units: int, now: int) -> None:
        """Let the DRAM take so many units that the L2 sends."""
        parts = self.dram.written(units, now)
        if parts and not lifted(self.machine, "l2", "holds"):
            self._taken("dram", parts, now)
            self.dram.wait(parts, now)

    def _of_far(self, number: int, now: int) -> Line:
        """The L2's line; the stored units of the line that makes room go to the DRAM."""
        assert self.far is not None
        line, gone = self.far.use(number)
        if gone and gone.stored and not self.dram.passes(gone.number, self.passes):
            self._write(len(gone.stored), now)
        return line

    def _sent(self, way: str, units: int, now: int) -> int:
        """The cycle at which units of a line have gone by the SM's way to the L2, and by the L2 that all SMs share."""
        channel, cache, least = self.machine.l2_channel, self.machine.cache, way == "loads"
        assert cache is not None
        if channel is None:
            return self._taken("port", units * cache.l2_sector_parts, now)
        parts = units * (cache.l2_sector_parts if least else channel.store_parts)
        own = self._taken(way, max(parts, least * channel.load_line_parts), now)
        of_all = self._of_all(way, Fraction(max(units * UNIT, least * channel.load_least_bytes), UNIT), now)
        if least and "stores" in self.asked:  # before the first store nothing takes turns with loads
            return max(own, of_all, self._of_all("looks", Fraction(channel.load_least_bytes, UNIT), now))
        return max(own, of_all)

    def _of_all(self, way: str, units: Fraction | int, now: int) -> int:
        """The cycle at which the L2 has moved so many units for the SM."""
        parts = floor(units * self._share(way))
        if way in ("loads", "looks"):
            parts = parts * self.differing.get(self.asking, 64) // 64
        if parts == 0:
            return 0
        way = "stores" if way == "looks" else way  # which take turns
        before = self.asked.setdefault(way, [])
        before.append((now, parts))
        asked, since = sum(parts for _, parts in before), 64 * (now - before[0][0])
        of_it = parts * asked // max(asked, since, 1)  # less, if the SM has not asked for all of it
        self.sliced.moved(way, of_it)
        return self._taken(f"all {way}", of_it, now)

    def _share(self, way: str) -> int:
        """1/64 cycles for which this SM's share of the L2 is taken by each unit."""
        channel = self.machine.l2_channel
        assert channel is not None
        most = {"stores": channel.store_bytes, "answers": channel.answer_bytes}
        return round(64 * UNIT * self.sms / most.get(way, channel.load_bytes))

    def _moved(self, units: int, now: int) -> int:
        """The cycle at which the DRAM's channel has moved so many units that no cache keeps."""
        return self._taken("dram", units * sector_parts(self.machine), now)

    def _taken(self, way: str, parts: int, now: int) -> int:
        """The cycle at which a way is free again that is taken for so many 1/64 cycles more, now or when it is free."""
        self.free[way] = max(self.free.get(way, 0), 64 * now) + parts
        return -(-self.free[way] // 64)
