"""Caches that keep tags: what an access finds in the L1 and the L2, what it brings there, and when its data comes.

Each cache is sets of ways, of which the one used longest ago makes room. A way holds a line of global or local memory,
and for each 32 bytes of it when they came, or will come; what is missed comes in parts of a cache's sector. An access
is followed when the load/store unit serves it, line by line:

* Who hits has the cache's latency, but nothing before it is there: a miss of the same line is joined.
* What the L1 misses takes its channel to the L2, what that misses the channel of the DRAM, each in turn; a latency
  counts from the last of these. Where as many lines are on their way as the L1 may wait for, the unit waits.
* Of the L2 an SM may be near a part, which its loads ask first, and fill; other hits take longer, and stores pass it.
* The texture cache is asked when a fetch issues, the scalar cache when a scalar load does, for any number of lines.
* Stores go through to the L2, where they stay until they must make room; then they move to the DRAM. Of the L1, Fermi
  drops a line that is stored to globally, and keeps what is stored locally until it must make room.

Tags lie behind local memory in the memory array, in words of 64 bits, as do the lines of each queued access.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpusim.jit.on_demand import on_demand
from gpusim.jit.rule import count_bits, lowest_bit, rarely, rule
from gpusim.rules import global_memory, memory_access, queues
from gpusim.units.cache import CONSTANTS, FAR, NEAR, PARTITION, REQUEST_ROW, SCALARS, TEXTURES, WAY_HEAD
from gpusim.units.capacities import LANES
from gpusim.units.global_memory import SEGMENTS
from gpusim.units.opcodes import LOAD, LOCAL_SPACE
from isa.memory import SECTOR_BYTES

TAG, USED, DIRTY = range(WAY_HEAD)  # words of a way: line + 1, number of its last use, mask; then when each unit came


@rule
def _words(sm: Any, memory: Any) -> Any:
    """What the caches keep, as words of 64 bits."""
    return memory[sm.launch.cache_word : sm.launch.cache_end].view(np.int64)


@rule
def _row(sm: Any, y: int, place: int) -> int:
    """Where the requests of the entry at that place of queue y lie."""
    return sm.launch.requests + (y * sm.machine.queue + place) * REQUEST_ROW


@on_demand
def ask(sm: Any, memory: Any, g: int, group: int, active: int) -> None:
    """Keep the lines that a lane group of warp slot g accesses, for the entry that will be its instruction's.

    A scalar load has none: the first lane group asks now, for all.
    """
    words, instruction = _words(sm, memory), sm.program[sm.warps[g].pc]
    if instruction.pipe < 0:
        _note(sm, words, instruction, g, group, active)
    elif sm.outcome.ready == 0:
        _read_scalar(sm, words, int(np.int64(sm.scratch.address[lowest_bit(active)])), instruction.access_bytes)


@rule
def _note(sm: Any, words: Any, instruction: Any, g: int, group: int, active: int) -> None:
    """Keep a lane group's requests, beside those of groups before it."""
    y = queues.number(sm, sm.warps[g].scheduler, instruction.unit)
    row = _row(sm, y, queues.behind(sm, y))
    local = instruction.space == LOCAL_SPACE
    size = LANES if local else LANES // 2 if sm.machine.global_rule == SEGMENTS else LANES // instruction.words
    for offset in range(instruction.words if local else 1):
        for first in range(0, LANES, size):
            begin = sm.outcome.requests
            for lane in range(first, first + size):
                if (active >> lane) & 1:
                    _note_byte(sm, words, row, begin, _byte(sm, instruction, group, lane, offset))


@rule
def _byte(sm: Any, instruction: Any, group: int, lane: int, offset: int) -> int:
    """The first byte that a lane accesses; local memory lies behind all global, word by word across the lanes."""
    byte = np.int64(sm.scratch.address[lane])
    if instruction.space == LOCAL_SPACE:
        return sm.launch.local_base + 4 * ((group * sm.launch.local_words + byte // 4 + offset) * LANES + lane)
    return int(byte)


@rule
def _note_byte(sm: Any, words: Any, row: int, begin: int, byte: int) -> None:
    """Add the 32 bytes that it lies in to the request for its line among those from `begin` on, or a new request."""
    line, outcome = byte // sm.machine.line_bytes, sm.outcome
    at = begin
    while at < outcome.requests and words[row + 2 * at] != line:
        at += 1
    if at == outcome.requests:
        outcome.requests += 1
        words[row + 2 * at], words[row + 2 * at + 1] = line, 0
    words[row + 2 * at + 1] |= 1 << byte % sm.machine.line_bytes // SECTOR_BYTES


@on_demand
def serve(sm: Any, memory: Any, y: int, place: int, now: int) -> int:
    """Follow the access at that place of queue y; returns when a load's result is there, or a store has left.

    `sm.load_store.waited` says how long the unit has waited for room among the lines on their way.
    """
    words, row, entry = _words(sm, memory), _row(sm, y, place), sm.load_store.queues[y].entries[place]
    instruction = sm.program[entry.pc]
    start = done = now
    for i in range(entry.requests):
        line, units = words[row + 2 * i], words[row + 2 * i + 1]
        if instruction.action != LOAD:
            done = max(done, _store(sm, words, instruction, line, units, now))
        elif instruction.cached == NEAR + 1:
            start = _load(sm, words, instruction, i, line, units, start)
            done = max(done, sm.load_store.arrived)
        elif instruction.cached == CONSTANTS + 1:
            done = max(done, _read(sm, words, CONSTANTS, i, line, units, now) + entry.extra)
        else:
            done = max(done, _far_load(sm, words, _behind(sm, instruction, i), line, units, start))
    sm.load_store.waited = start - now
    return done


@rule
def _load(sm: Any, words: Any, instruction: Any, i: int, line: int, units: int, start: int) -> int:
    """The i-th request of a load, in the L1; returns when it was taken up, `arrived` says when its data is there."""
    cache = sm.launch.caches[NEAR]
    way = _way(words, cache, line)
    done, lost = _there(words, cache, way, line, units), _lost(words, cache, way, line, units)
    if lost:
        slot = _room(sm, words)
        start = max(start, words[slot])
        _claim(sm, words, way, line, start)
        done = max(done, _far_load(sm, words, _behind(sm, instruction, i), line, lost, start))
        words[slot] = done
        _fill(words, way, lost, done)
    _use(words, cache, way)
    late = 0 if instruction.space == LOCAL_SPACE else i * sm.machine.hit_late
    sm.load_store.arrived = max(done, start + instruction.latency + late)
    return start


@rule
def _behind(sm: Any, instruction: Any, i: int) -> int:
    """Cycles of the i-th request of a load that hits the L2."""
    return int(sm.machine.far_latency[instruction.width] + i * sm.machine.far_late)


@on_demand
def fetch(sm: Any, memory: Any, g: int, active: int) -> None:
    """Texture: the elements at the coordinates in `scratch` of a lane group, and those of other groups, are there then.

    The cycle stands in `outcome.ready`.
    """
    words, instruction = _words(sm, memory), sm.program[sm.warps[g].pc]
    row, begin = _row(sm, sm.machine.queues, 0), sm.outcome.requests
    for lane in range(LANES):
        if (active >> lane) & 1:
            _note_byte(sm, words, row, begin, memory_access.texel(sm.scratch, instruction, lane))
    _read_all(sm, words, TEXTURES, begin)


@rule
def _read_scalar(sm: Any, words: Any, byte: int, size: int) -> None:
    """So many bytes from one on are there at `outcome.ready`, from a scalar cache that is asked now."""
    row = _row(sm, sm.machine.queues, 0)
    for unit in range(byte // SECTOR_BYTES, (byte + size - 1) // SECTOR_BYTES + 1):
        _note_byte(sm, words, row, 0, unit * SECTOR_BYTES)
    _read_all(sm, words, SCALARS, 0)


@rule
def _read_all(sm: Any, words: Any, which: int, begin: int) -> None:
    """What is asked for since request `begin` is there at `outcome.ready`, from a cache that is only read."""
    row, outcome = _row(sm, sm.machine.queues, 0), sm.outcome
    for i in range(begin, outcome.requests):
        line, units = words[row + 2 * i], words[row + 2 * i + 1]
        outcome.ready = max(outcome.ready, _read(sm, words, which, i, line, units, sm.now))


@rarely
def _read(sm: Any, words: Any, which: int, i: int, line: int, units: int, now: int) -> int:
    """The i-th request of a read, in a cache that is only read; when its data is there."""
    cache = sm.launch.caches[which]
    way = _way(words, cache, line)
    done, lost = _there(words, cache, way, line, units), _lost(words, cache, way, line, units)
    if lost:
        _clear(words, cache, way, line)
        done = max(done, _far_load(sm, words, sm.machine.read_far[which] + i * sm.machine.far_late, line, lost, now))
        _fill(words, way, lost, done)
    _use(words, cache, way)
    return max(done, now + sm.machine.read_latency[which])


@rarely
def _far_load(sm: Any, words: Any, latency: int, line: int, units: int, start: int) -> int:
    """When these units of a line come from the L2, where a hit takes so long, or from behind it."""
    if sm.launch.caches[FAR].sets == 0:
        return global_memory.commit(sm, count_bits(units), start) + sm.machine.memory_latency
    gone = _ported(sm, count_bits(units), start)
    if sm.launch.caches[PARTITION].sets == 0:
        return _of_far(sm, words, latency, line, units, gone)
    return _of_partition(sm, words, latency, line, units, gone)


@rarely
def _of_partition(sm: Any, words: Any, latency: int, line: int, units: int, gone: int) -> int:
    """When these units come, asked for at `gone`, from the part of the L2 near the SM, or from beyond it."""
    cache = sm.launch.caches[PARTITION]
    way = _way(words, cache, line)
    done, lost = _there(words, cache, way, line, units), _lost(words, cache, way, line, units)
    if lost:
        _clear(words, cache, way, line)
        done = max(done, _of_far(sm, words, latency + sm.machine.partition_late, line, lost, gone))
        _fill(words, way, lost, done)
    _use(words, cache, way)
    return max(done, gone + latency)


@rarely
def _of_far(sm: Any, words: Any, latency: int, line: int, units: int, gone: int) -> int:
    """The same from the L2 as a whole, or from the DRAM."""
    cache, machine = sm.launch.caches[FAR], sm.machine
    way = _way(words, cache, line)
    done, lost = _there(words, cache, way, line, units), _lost(words, cache, way, line, units)
    if lost:
        _drop(sm, words, way, line, gone)
        done = max(done, global_memory.commit(sm, count_bits(lost), gone) + machine.memory_latency)
        _fill(words, way, lost, done)
    _use(words, cache, way)
    return max(done, gone + latency)


@rule
def _store(sm: Any, words: Any, instruction: Any, line: int, units: int, now: int) -> int:
    """A store's request; returns when it has left the SM."""
    near, machine = sm.launch.caches[NEAR], sm.machine
    local = instruction.space == LOCAL_SPACE
    if near.sets > 0:
        way = _way(words, near, line)
        if local and machine.keeps_stores:
            _claim(sm, words, way, line, now)
            _fill(words, way, units, now + 1)
            words[way + DIRTY] |= units
            _use(words, near, way)
            return now
        if words[way + TAG] == line + 1 and machine.drops_stored and not local:
            words[way + TAG] = words[way + USED] = 0
    return _far_store(sm, words, line, units, now)


@rarely
def _far_store(sm: Any, words: Any, line: int, units: int, now: int) -> int:
    """Units of a line go to the L2, where they stay; returns when they have left the SM."""
    cache = sm.launch.caches[FAR]
    if cache.sets == 0:
        return global_memory.commit(sm, count_bits(units), now)
    gone = _ported(sm, count_bits(units), now)
    way = _way(words, cache, line)
    _drop(sm, words, way, line, gone)
    _fill(words, way, units, gone)
    words[way + DIRTY] |= units
    _use(words, cache, way)
    return gone


@rule
def _way(words: Any, cache: Any, line: int) -> int:
    """Where a line is kept; where it is not, the way of its set that was used longest ago."""
    way = cache.first + 1 + line % cache.sets * cache.ways * cache.stride
    oldest = way
    for _ in range(cache.ways):
        if words[way + TAG] == line + 1:
            return way
        if words[way + USED] < words[oldest + USED]:
            oldest = way
        way += cache.stride
    return oldest


@rule
def _there(words: Any, cache: Any, way: int, line: int, units: int) -> int:
    """When the units that the way holds have all come."""
    when = 0
    if words[way + TAG] == line + 1:
        for unit in range(cache.stride - WAY_HEAD):
            if (units >> unit) & 1:
                when = max(when, words[way + WAY_HEAD + unit])
    return when


@rule
def _lost(words: Any, cache: Any, way: int, line: int, units: int) -> int:
    """The units that the way lacks and an access to these brings: all those lacking of each sector that lacks one."""
    lacking, wanted, held = 0, 0, words[way + TAG] == line + 1
    for unit in range(cache.stride - WAY_HEAD):
        if not held or words[way + WAY_HEAD + unit] == 0:
            lacking |= 1 << unit
    for unit in range(0, cache.stride - WAY_HEAD, cache.sector):
        sector = ((1 << int(cache.sector)) - 1) << unit
        if units & lacking & sector:
            wanted |= lacking & sector
    return wanted


@rule
def _use(words: Any, cache: Any, way: int) -> None:
    """The way is the one used last."""
    words[cache.first] += 1
    words[way + USED] = words[cache.first]


@rule
def _fill(words: Any, way: int, units: int, when: int) -> None:
    """These units come then, those that are there stay."""
    unit = 0
    while units >> unit:
        if (units >> unit) & 1 and words[way + WAY_HEAD + unit] == 0:
            words[way + WAY_HEAD + unit] = when
        unit += 1


@rule
def _claim(sm: Any, words: Any, way: int, line: int, now: int) -> None:
    """The way of the L1 is for this line; what was stored in another one's goes to the L2."""
    if words[way + TAG] != line + 1 and words[way + DIRTY]:
        _far_store(sm, words, words[way + TAG] - 1, words[way + DIRTY], now)
    _clear(words, sm.launch.caches[NEAR], way, line)


@rule
def _drop(sm: Any, words: Any, way: int, line: int, now: int) -> None:
    """The same for a way of the L2; what was stored goes to the DRAM."""
    if words[way + TAG] != line + 1 and words[way + DIRTY]:
        global_memory.commit(sm, count_bits(words[way + DIRTY]), now)
    _clear(words, sm.launch.caches[FAR], way, line)


@rule
def _clear(words: Any, cache: Any, way: int, line: int) -> None:
    """The way is for this line; what another one's held is gone."""
    if words[way + TAG] != line + 1:
        words[way + TAG], words[way + DIRTY] = line + 1, 0
        for unit in range(cache.stride - WAY_HEAD):
            words[way + WAY_HEAD + unit] = 0


@rule
def _room(sm: Any, words: Any) -> int:
    """The place among the lines on their way that is free first."""
    first = sm.launch.misses
    for slot in range(first + 1, first + sm.machine.misses):
        if words[slot] < words[first]:
            first = slot
    return first


@rule
def _ported(sm: Any, units: int, now: int) -> int:
    """When the SM's channel to the L2 has moved so many units."""
    unit, parts = sm.load_store, sm.machine.port_parts
    unit.port = max(unit.port, now * parts) + units * sm.machine.port_cost
    return (unit.port + parts - 1) // parts
