"""Move in time what caches keep, and all that states leave out: only estimates do, where caches keep tags.

Tags stay as they are: the rounds after those taken at once find lines of rounds before, as they would at the start.
"""

from __future__ import annotations

from gpusim.sm.jit.rule import rarely, rule
from gpusim.sm.memory.cache import tags
from gpusim.sm.memory.cache.declaration import CONSTANTS, NEAR, SCALARS, TEXTURES, WAY_HEAD
from gpusim.sm.records import Cache, Memory, Numbers, Sm, Warp
from gpusim.sm.replay.stream import recorded_requests, stream
from gpusim.sm.state.recurrence import Recurrence
from isa.memory import SECTOR_BYTES

OWN = NEAR, TEXTURES, SCALARS, CONSTANTS  # caches of the SM; lines on their way to the L2 count as there


@rarely
def move(sm: Sm, memory: Memory, r: Recurrence, now: int, cycles: int) -> None:
    """Let times that are not compared, those of lines on their way, and the DRAM's windows be so much later."""
    for i in range(len(r.later)):
        r.words[r.later[i, 0]] += cycles * r.later[i, 1]
    if sm.machine.dram_span:
        windows = cycles // sm.machine.dram_span
        sm.load_store.dram_window += windows
        sm.load_store.dram_turns += windows
    words = tags.words(sm, memory)
    for i in range(sm.launch.misses, sm.launch.misses + sm.machine.misses):
        words[i] = _later(words[i], now, cycles)
    for which in OWN:
        _move_lines(words, sm.launch.caches[which], now, cycles)


@rule
def _later(time: int, now: int, cycles: int) -> int:
    return time + cycles if time > now else time


@rule
def _move_lines(words: Numbers, cache: Cache, now: int, cycles: int) -> None:
    for way in range(cache.sets * cache.ways):
        first = cache.first + 1 + way * cache.stride
        for i in range(first + WAY_HEAD, first + cache.stride):
            words[i] = _later(words[i], now, cycles)


@rule
def share(sm: Sm, buffer: int) -> int:
    """Return the sectors of a buffer that the SM brings from the DRAM, if several share it."""
    known = sm.buffers[buffer]
    return int((known.end - known.start) // (sm.launch.sharers * SECTOR_BYTES))


@rule
def pass_requests(sm: Sm, warp: Warp, depth: int, rounds: int) -> None:
    """Let a warp be behind the requests of so many rounds of the loop of that depth around its next event."""
    end = stream.loop_around(sm, warp.cursor, depth)
    if recorded_requests.kept(sm) and sm.events[end].pc == stream.MARKER:
        warp.request += recorded_requests.WORDS * rounds * _requests(sm, end)


@rule
def _requests(sm: Sm, end: int) -> int:
    """Return the requests of a round of the loop that ends at a marker."""
    first, found = end - sm.events[end].length, 0
    for i in range(first, end):
        if sm.events[i].requests and sm.events[i].place == 0:
            times = 1
            for inner in range(i + 1, end):
                marker = sm.events[inner]
                if marker.pc == stream.MARKER and inner - marker.length <= i:
                    times *= marker.rounds + 1
            found += times * sm.events[i].requests
    return int(found)
