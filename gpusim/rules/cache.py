"""Caches with tags: what an access finds in the L1 and the L2, the lines that it fills, and when its data arrives.

Each cache has sets of ways with LRU replacement. A way holds a line of global or local memory, and for each 32 bytes of
it the cycle at which they arrive; a miss brings whole sectors. The lookup happens when the load/store unit serves the
access, line by line:

* A hit takes the cache's latency, but data that is still on its way arrives no sooner: the hit joins the miss of that
  line.
* An L1 miss takes the channel to the L2, and an L2 miss the channel to the DRAM, one after the other; a latency counts
  from the last of these. If the L1 already waits for as many lines as it may, the unit waits.
* An SM may be near one part of the L2. Its loads ask this part first, and fill it; other hits take longer, and stores
  bypass it.
* The texture cache is asked when a fetch issues, the scalar cache when a scalar load does, for any number of lines.
  Without a texture cache a fetch goes to the L2.
* Stores write through to the L2, and go to the DRAM when their line is evicted. In Fermi's L1, a global store drops its
  line, and a local store stays until its line is evicted.

Tags follow local memory in the memory array, in words of 64 bits, as do the lines of each queued access.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpusim.jit.kinds import Memory, Sm
from gpusim.jit.on_demand import on_demand
from gpusim.jit.rule import count_bits, lowest_bit, rarely, rule
from gpusim.rules import global_memory, memory_access, queues
from gpusim.units.cache import CONSTANTS, FAR, NEAR, PARTITION, REQUEST_ROW, SCALARS, TEXTURES, WAY_HEAD
from gpusim.units.capacities import LANES
from gpusim.units.global_memory import SEGMENTS
from gpusim.units.opcodes import LOAD, LOCAL_MEMORY
from isa.memory import SECTOR_BYTES

TAG, USED, DIRTY = range(WAY_HEAD)  # words of a way: line + 1, number of its last use, mask; then each unit's arrival


@rule
def _words(sm: Any, memory: Any) -> Any:
    """Return the data of the caches as words of 64 bits."""
    return memory[sm.launch.cache_word : sm.launch.cache_end].view(np.int64)


@rule
def _row(sm: Any, y: int, place: int) -> int:
    """Return where the requests of the entry at that place of queue y lie."""
    return sm.launch.requests + (y * sm.machine.queue + place) * REQUEST_ROW


@on_demand
def ask(sm: Sm, memory: Memory, g: int, group: int, active: int) -> None:
    """Store the lines that a lane group of warp slot g accesses, in the entry that its instruction will take.

    A scalar load has no entry: its first lane group asks the cache now, for all.
    """
    words, instruction = _words(sm, memory), sm.program[sm.warps[g].pc]
    if instruction.pipe < 0:
        _note(sm, words, instruction, g, group, active)
    elif sm.outcome.ready == 0:
        _read_scalar(sm, words, int(np.int64(sm.scratch.address[lowest_bit(active)])), instruction.access_bytes)


@rule
def _note(sm: Any, words: Any, instruction: Any, g: int, group: int, active: int) -> None:
    """Store a lane group's requests, after those of the groups before it."""
    y = queues.number(sm, sm.warps[g].scheduler, instruction.unit)
    row = _row(sm, y, queues.behind(sm, y))
    local = instruction.memory_kind == LOCAL_MEMORY
    size = LANES if local else LANES // 2 if sm.machine.global_rule == SEGMENTS else LANES // instruction.words
    for offset in range(instruction.words if local else 1):
        for first in range(0, LANES, size):
            begin = sm.outcome.requests
            for lane in range(first, first + size):
                if (active >> lane) & 1:
                    _note_byte(sm, words, row, begin, _byte(sm, instruction, group, lane, offset))


@rule
def _byte(sm: Any, instruction: Any, group: int, lane: int, offset: int) -> int:
    """Return the first byte that a lane accesses; local memory follows global memory, word by word across the lanes."""
    byte = np.int64(sm.scratch.address[lane])
    if instruction.memory_kind == LOCAL_MEMORY:
        return sm.launch.local_base + 4 * ((group * sm.launch.local_words + byte // 4 + offset) * LANES + lane)
    return int(byte)


@rule
def _note_byte(sm: Any, words: Any, row: int, begin: int, byte: int) -> None:
    """Add the 32 bytes around `byte` to the request for its line among those from `begin` on, or to a new request."""
    line, outcome = byte // sm.machine.line_bytes, sm.outcome
    at = begin
    while at < outcome.requests and words[row + 2 * at] != line:
        at += 1
    if at == outcome.requests:
        outcome.requests += 1
        words[row + 2 * at], words[row + 2 * at + 1] = line, 0
    words[row + 2 * at + 1] |= 1 << byte % sm.machine.line_bytes // SECTOR_BYTES


@on_demand
def serve(sm: Sm, memory: Memory, y: int, place: int, now: int) -> int:
    """Look up the access at that place of queue y; return when a load's result is there, or when a store has left.

    `sm.load_store.waited` says how long the unit has waited for room among the outstanding lines.
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
    """Do the i-th request of a load in the L1; return when it was accepted; `arrived` says when its data is there."""
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
    late = 0 if instruction.memory_kind == LOCAL_MEMORY else i * sm.machine.hit_late
    sm.load_store.arrived = max(done, start + instruction.latency + late)
    return start


@rule
def _behind(sm: Any, instruction: Any, i: int) -> int:
    """Return the cycles of the i-th request of a load that hits the L2."""
    return int(sm.machine.far_latency[instruction.width] + i * sm.machine.far_late)


@on_demand
def fetch(sm: Sm, memory: Memory, g: int, active: int) -> None:
    """Texture: find when the elements at a lane group's coordinates in `scratch`, and those of other groups, are there.

    The cycle is in `outcome.ready`.
    """
    words, instruction = _words(sm, memory), sm.program[sm.warps[g].pc]
    row, begin = _row(sm, sm.machine.queues, 0), sm.outcome.requests
    for lane in range(LANES):
        if (active >> lane) & 1:
            _note_byte(sm, words, row, begin, memory_access.texel(sm.scratch, instruction, lane))
    _read_all(sm, words, TEXTURES, begin)


@rule
def _read_scalar(sm: Any, words: Any, byte: int, size: int) -> None:
    """Read `size` bytes through a scalar cache that is asked now; `outcome.ready` says when they are there."""
    row = _row(sm, sm.machine.queues, 0)
    for unit in range(byte // SECTOR_BYTES, (byte + size - 1) // SECTOR_BYTES + 1):
        _note_byte(sm, words, row, 0, unit * SECTOR_BYTES)
    _read_all(sm, words, SCALARS, 0)


@rule
def _read_all(sm: Any, words: Any, which: int, begin: int) -> None:
    """Read the requests since `begin` through a read-only cache; `outcome.ready` says when their data is there."""
    row, outcome = _row(sm, sm.machine.queues, 0), sm.outcome
    for i in range(begin, outcome.requests):
        line, units = words[row + 2 * i], words[row + 2 * i + 1]
        outcome.ready = max(outcome.ready, _read(sm, words, which, i, line, units, sm.now))


@rarely
def _read(sm: Any, words: Any, which: int, i: int, line: int, units: int, now: int) -> int:
    """Do the i-th request of a read in a read-only cache, or behind an absent one; return when its data is there."""
    cache, behind = sm.launch.caches[which], sm.machine.read_far[which] + i * sm.machine.far_late
    if cache.sets == 0:
        return _far_load(sm, words, behind, line, units, now)
    way = _way(words, cache, line)
    done, lost = _there(words, cache, way, line, units), _lost(words, cache, way, line, units)
    if lost:
        _clear(words, cache, way, line)
        done = max(done, _far_load(sm, words, behind, line, lost, now))
        _fill(words, way, lost, done)
    _use(words, cache, way)
    return max(done, now + sm.machine.read_latency[which])


@rarely
def _far_load(sm: Any, words: Any, latency: int, line: int, units: int, start: int) -> int:
    """Return when these units of a line come from the L2, where a hit takes `latency` cycles, or from the DRAM."""
    if sm.launch.caches[FAR].sets == 0:
        return global_memory.commit_line(sm, line, count_bits(units), start) + sm.machine.memory_latency
    gone = _ported(sm, count_bits(units), start)
    if sm.launch.caches[PARTITION].sets == 0:
        return _of_far(sm, words, latency, line, units, gone)
    return _of_partition(sm, words, latency, line, units, gone)


@rarely
def _of_partition(sm: Any, words: Any, latency: int, line: int, units: int, gone: int) -> int:
    """Return when these units, requested at `gone`, come from the part of the L2 near the SM, or from beyond it."""
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
    """Return the same for the L2 as a whole, or for the DRAM."""
    cache, machine = sm.launch.caches[FAR], sm.machine
    way = _way(words, cache, line)
    done, lost = _there(words, cache, way, line, units), _lost(words, cache, way, line, units)
    if lost:
        _drop(sm, words, way, line, gone)
        done = max(done, global_memory.commit_line(sm, line, count_bits(lost), gone) + machine.memory_latency)
        _fill(words, way, lost, done)
    _use(words, cache, way)
    return max(done, gone + latency)


@rule
def _store(sm: Any, words: Any, instruction: Any, line: int, units: int, now: int) -> int:
    """Do a store's request; return when it has left the SM."""
    near, machine = sm.launch.caches[NEAR], sm.machine
    local = instruction.memory_kind == LOCAL_MEMORY
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
    """Write units of a line to the L2, where they stay; return when they have left the SM."""
    cache = sm.launch.caches[FAR]
    if cache.sets == 0:
        return global_memory.commit_line(sm, line, count_bits(units), now)
    gone = _ported(sm, count_bits(units), now)
    way = _way(words, cache, line)
    _drop(sm, words, way, line, gone)
    _fill(words, way, units, gone)
    words[way + DIRTY] |= units
    _use(words, cache, way)
    return gone


@rule
def _way(words: Any, cache: Any, line: int) -> int:
    """Return the way of a line; if no way holds it, the least recently used way of its set."""
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
    """Return when all the units that the way holds have arrived."""
    when = 0
    if words[way + TAG] == line + 1:
        for unit in range(cache.stride - WAY_HEAD):
            if (units >> unit) & 1:
                when = max(when, words[way + WAY_HEAD + unit])
    return when


@rule
def _lost(words: Any, cache: Any, way: int, line: int, units: int) -> int:
    """Return the units that an access must bring: all that the way lacks of each sector with a missing one."""
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
    """Mark the way as the one used last."""
    words[cache.first] += 1
    words[way + USED] = words[cache.first]


@rule
def _fill(words: Any, way: int, units: int, when: int) -> None:
    """Set the arrival of these units; units that are already there keep theirs."""
    unit = 0
    while units >> unit:
        if (units >> unit) & 1 and words[way + WAY_HEAD + unit] == 0:
            words[way + WAY_HEAD + unit] = when
        unit += 1


@rule
def _claim(sm: Any, words: Any, way: int, line: int, now: int) -> None:
    """Take the way of the L1 for this line; stored data of the line before goes to the L2."""
    if words[way + TAG] != line + 1 and words[way + DIRTY]:
        _far_store(sm, words, words[way + TAG] - 1, words[way + DIRTY], now)
    _clear(words, sm.launch.caches[NEAR], way, line)


@rule
def _drop(sm: Any, words: Any, way: int, line: int, now: int) -> None:
    """Take a way of the L2 in the same manner; stored data of the line before goes to the DRAM."""
    if words[way + TAG] != line + 1 and words[way + DIRTY]:
        global_memory.commit_line(sm, words[way + TAG] - 1, count_bits(words[way + DIRTY]), now)
    _clear(words, sm.launch.caches[FAR], way, line)


@rule
def _clear(words: Any, cache: Any, way: int, line: int) -> None:
    """Take the way for this line, and drop the contents of the line before."""
    if words[way + TAG] != line + 1:
        words[way + TAG], words[way + DIRTY] = line + 1, 0
        for unit in range(cache.stride - WAY_HEAD):
            words[way + WAY_HEAD + unit] = 0


@rule
def _room(sm: Any, words: Any) -> int:
    """Return the place among the outstanding lines that becomes free first."""
    first = sm.launch.misses
    for slot in range(first + 1, first + sm.machine.misses):
        if words[slot] < words[first]:
            first = slot
    return first


@rule
def _ported(sm: Any, units: int, now: int) -> int:
    """Return when the SM's channel to the L2 has moved so many units."""
    unit, parts = sm.load_store, sm.machine.port_parts
    unit.port = max(unit.port, now * parts) + units * sm.machine.port_cost
    return (unit.port + parts - 1) // parts
