"""Tags of a cache: its sets of ways, the lines that these hold, and when each 32 bytes of a line are there.

Tags follow local memory in the memory array, in words of 64 bits.
"""

from __future__ import annotations

import numpy as np

from gpusim.sm.jit.rule import rarely, rule
from gpusim.sm.memory.cache.declaration import FIFO, RANDOM, WAY_HEAD
from gpusim.sm.records import Cache, Memory, Numbers, Sm

TAG, USED, DIRTY = range(WAY_HEAD)  # words of a way: line + 1, number of the use that counts, mask; then arrivals
MIXED = 0x9E3779B1, 0x45D9F3B, 0x2C1B3C6D  # odd numbers that mix the bits of counts, below 2 ** 32 and 2 ** 30
WHOLE = (1 << 32) - 1

ARRIVED, TOUCHED = 1, 2  # cycles at which what was there before the launch arrived, and the same once it is asked for


@rule
def words(sm: Sm, memory: Memory) -> Numbers:
    """Return the data of the caches as words of 64 bits."""
    return memory[sm.launch.cache_word : sm.launch.cache_end].view(np.int64)


@rule
def way(words: Numbers, cache: Cache, line: int) -> int:
    """Return the way of a line; if no way holds it, the one of its set that makes room: an empty one if there is any.

    Until the next use it is the same one.
    """
    first = way = cache.first + 1 + _set(cache, line) * cache.ways * cache.stride
    oldest = way
    for _ in range(cache.ways):
        if words[way + TAG] == line + 1:
            return way
        if words[way + USED] < words[oldest + USED]:
            oldest = way
        way += cache.stride
    if cache.replacement == RANDOM and words[oldest + USED]:
        return first + _drawn(int(words[cache.first]), first - cache.first, int(cache.ways)) * cache.stride
    return oldest


@rule
def _drawn(uses: int, place: int, ways: int) -> int:
    """Return a number below `ways` that looks drawn, by the number of uses of a cache and the place of a set."""
    mixed = ((uses & (WHOLE >> 1)) * MIXED[0] + place * MIXED[1]) & WHOLE
    mixed = ((mixed ^ (mixed >> 15)) * MIXED[2]) & WHOLE
    return ((mixed ^ (mixed >> 12)) * ways) >> 32


@rule
def holds(words: Numbers, cache: Cache, line: int) -> bool:
    """Tell whether some way has a line."""
    return bool(words[way(words, cache, line) + TAG] == line + 1)


@rule
def _set(cache: Cache, line: int) -> int:
    """Return the set of a line: the last digit of its number in base `sets`, or where it is hashed the sum of all."""
    if cache.hashed == 0 or cache.sets == 1:
        return int(line % cache.sets)
    total, rest = line, line // cache.sets
    while rest:
        total, rest = total + rest, rest // cache.sets
    return int(total % cache.sets)


@rule
def there(words: Numbers, cache: Cache, way: int, line: int, units: int) -> int:
    """Return when all the sectors that the way holds have arrived."""
    when = 0
    if words[way + TAG] == line + 1:
        for unit in range(cache.stride - WAY_HEAD):
            if (units >> unit) & 1:
                when = max(when, words[way + WAY_HEAD + unit])
    return when


@rule
def lost(words: Numbers, cache: Cache, way: int, line: int, units: int) -> int:
    """Return the sectors that an access must bring: all that the way lacks of `sector_bytes` with a missing one."""
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
def use(words: Numbers, cache: Cache, way: int) -> None:
    """Count a use of the way, from which on it is the one used last."""
    words[cache.first] += 1
    renew(words, cache, way)


@rule
def renew(words: Numbers, cache: Cache, way: int) -> None:
    """Mark the way as the one used last, or where the first to come is the first to go, a new line's as the last."""
    if cache.replacement != FIFO or words[way + USED] == 0:
        words[way + USED] = words[cache.first]


@rule
def fill(words: Numbers, way: int, units: int, when: int) -> None:
    """Set the arrival of these sectors; sectors that are already there keep theirs."""
    unit = 0
    while units >> unit:
        if (units >> unit) & 1 and words[way + WAY_HEAD + unit] == 0:
            words[way + WAY_HEAD + unit] = when
        unit += 1


@rule
def stored(words: Numbers, way: int, units: int, when: int) -> None:
    """Set the arrival of sectors that are stored; what was there before is replaced."""
    unit = 0
    while units >> unit:
        if (units >> unit) & 1:
            words[way + WAY_HEAD + unit] = when
        unit += 1


@rule
def clear(words: Numbers, cache: Cache, way: int, line: int) -> None:
    """Give the way to this line, and drop the contents of the former one."""
    if words[way + TAG] != line + 1:
        words[way + TAG], words[way + USED], words[way + DIRTY] = line + 1, 0, 0
        for unit in range(cache.stride - WAY_HEAD):
            words[way + WAY_HEAD + unit] = 0


@rarely
def wait_for(sm: Sm, words: Numbers, done: int) -> None:
    """Let a line that comes at `done` take the MSHR that becomes free first.

    The times of MSHRs are a heap: that at place n, from 1 on, is at most those at 2 n and 2 n + 1.
    """
    times, count, at = sm.launch.misses - 1, sm.machine.misses, 1
    sinking = True
    while sinking and 2 * at <= count:
        child = 2 * at
        if child < count and words[times + child + 1] < words[times + child]:
            child += 1
        sinking = words[times + child] < done
        if sinking:
            words[times + at] = words[times + child]
            at = child
    words[times + at] = done
