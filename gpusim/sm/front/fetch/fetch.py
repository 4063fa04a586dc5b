"""Instruction fetch: a warp enters the next line of its program when the line is in its scheduler's cache.

A missing line is requested from one cache after another: the scheduler's own, two of the SM, and memory. Each cache
that it passes keeps it, with LRU replacement in the line's set. A port passes one line at a time. Entering a line also
requests the lines ahead of it (prefetch); a request for a line that is already on its way waits for that line.
"""

from __future__ import annotations

from gpusim.sm.front.fetch.declaration import OWN_CACHE
from gpusim.sm.jit.rule import rarely, rule
from gpusim.sm.records import InstructionCache, Level, Sm, Warp
from gpusim.sm.unit.dimensions import LEVELS
from gpusim.sm.unit.stall import Stall

NO_INSTRUCTION = int(Stall.NO_INSTRUCTION)
NOWHERE = -2  # before every line, and adjacent to none
PARTS = 64  # of a cycle: the unit of a port's time


@rule
def begin(warp: Warp) -> None:
    """A new warp is in no line."""
    warp.line = NOWHERE


@rule
def commit(sm: Sm, k: int, warp: Warp, now: int) -> None:
    """The warp of scheduler k continues at its pc; on a new line the warp waits until the line is there."""
    line = sm.program[warp.pc].line
    if line != warp.line:
        _enter(sm, k, warp, line, now)


@rarely
def _enter(sm: Sm, k: int, warp: Warp, line: int, now: int) -> None:
    """Request the line and the missing lines ahead of it; if none is missing, request the line after those.

    A warp that comes from the previous line has requested all of them but the last.
    """
    last = line + sm.machine.ahead
    first = max(line + 1, last) if line == warp.line + 1 else line + 1
    warp.line, complete = line, True
    warp.release_at[NO_INSTRUCTION] = _fetch(sm, k, line, now)
    for further in range(first, min(last + 2, sm.lines)):
        if (further <= last or complete) and not _holds(sm, k, further):
            _fetch(sm, k, further, now)
            complete = False


@rule
def _fetch(sm: Sm, k: int, line: int, now: int) -> int:
    """Return when the line is in scheduler k's cache; in each cache that it passes it becomes the last used."""
    asked, level, there = now, OWN_CACHE, -1
    while there < 0:
        needs, cache = sm.machine.levels[level], _cache(sm, k, level)
        if level > OWN_CACHE:
            asked = _pass(cache, needs.parts, asked)
        kept = _take(cache, needs, line) if needs.sets > 0 else 0
        if kept >= 0:
            there = max(kept, asked + needs.latency)
        else:
            level += 1
    for nearer in range(level):
        _cache(sm, k, nearer).there[_first(sm.machine.levels[nearer], line)] = there
    return there


@rule
def _cache(sm: Sm, k: int, level: int) -> InstructionCache:
    """Return scheduler k's own cache, or the SM's cache of a further level."""
    return sm.instruction_caches[LEVELS - 1 + k if level == OWN_CACHE else level - 1]


@rule
def _pass(cache: InstructionCache, parts: int, asked: int) -> int:
    """Return when the cache's port takes the request; the port is occupied for so many parts of a cycle."""
    if cache.free < asked:
        cache.free, cache.owed = asked, 0
    begin = cache.free
    cache.owed += parts
    cache.free += cache.owed // PARTS
    cache.owed %= PARTS
    return int(begin)


@rule
def _first(needs: Level, line: int) -> int:
    """Return where the line's set begins; its lines are in the order of their last use, the latest first."""
    return int(line % needs.sets * needs.ways)


@rule
def _holds(sm: Sm, k: int, line: int) -> bool:
    """Tell whether scheduler k's own cache holds the line."""
    needs, cache = sm.machine.levels[OWN_CACHE], _cache(sm, k, OWN_CACHE)
    first = _first(needs, line)
    for at in range(first, first + needs.ways):  # noqa: SIM110  (compiled)
        if cache.lines[at] == line + 1:
            return True
    return False


@rule
def _take(cache: InstructionCache, needs: Level, line: int) -> int:
    """Return since when the cache holds the line, -1 if it does not; make it the most recently used of its set."""
    first = _first(needs, line)
    last = first + needs.ways - 1
    at = first
    while at < last and cache.lines[at] != line + 1:
        at += 1
    kept = cache.there[at] if cache.lines[at] == line + 1 else -1
    while at > first:
        cache.lines[at], cache.there[at] = cache.lines[at - 1], cache.there[at - 1]
        at -= 1
    cache.lines[first], cache.there[first] = line + 1, kept
    return int(kept)
