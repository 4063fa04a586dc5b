"""Acts of an SM that others may feel: of its block scheduler, services of global accesses, scalar loads that miss.

Everything else is an SM's own. So where no values go from SM to SM, each acts alone (a stretch) up to its next such
act, which waits for its turn.
"""

from __future__ import annotations

from gpusim.sm.front.wakeup import wakeup
from gpusim.sm.jit.rule import lowest_bit, rarely
from gpusim.sm.memory.cache import tags
from gpusim.sm.memory.cache.declaration import SCALARS
from gpusim.sm.memory.lookahead import late_lines
from gpusim.sm.pipes.load_store import load_store
from gpusim.sm.records import Memory, Row, Sm, Warp
from gpusim.sm.replay.stream import recorded_requests
from gpusim.sm.unit.opcodes import LOAD


@rarely
def may_go_far(sm: Sm) -> bool:
    """Tell whether the access that is served next, the head of any queue, asks caches or channels."""
    for y in range(sm.machine.queues):
        queue = sm.load_store.queues[y]
        entry = queue.entries[queue.head]
        if queue.count > 0 and (entry.requests > 0 or entry.transactions > 0):
            return True
    return False


@rarely
def asks_now(sm: Sm, memory: Memory, now: int) -> bool:
    """Tell whether the access that is served now needs the answer of caches or channels at once."""
    y = load_store.next_in_turn(sm, now)
    if y == sm.machine.queues:
        return False
    queue = sm.load_store.queues[y]
    entry = queue.entries[queue.head]
    return bool(entry.transactions > 0 or (entry.requests > 0 and not late_lines.may_wait(sm, memory, y, now)))


@rarely
def may_ask(sm: Sm, memory: Memory, k: int, now: int) -> bool:
    """Tell whether a warp that scheduler k may issue now loads scalars that its SM's cache has not."""
    scheduler = sm.schedulers[k]
    page = wakeup.page_of(sm.machine, k, now)
    warps = scheduler.ready | scheduler.calendar[page] | (scheduler.later if scheduler.later_due <= now else 0)
    while warps:
        j = lowest_bit(warps)
        warps &= warps - 1
        warp = sm.warps[j * sm.machine.schedulers + k]
        instruction = sm.program[warp.pc]
        if instruction.action == LOAD and instruction.pipe >= 0 and _goes_far(sm, memory, warp, instruction):
            return True
    return False


@rarely
def _goes_far(sm: Sm, memory: Memory, warp: Warp, instruction: Row) -> bool:
    """Tell whether the cache of scalars lacks some of what the warp's load asks for; unknown addresses may be far."""
    cache = sm.launch.caches[SCALARS]
    if not sm.trace_driven or cache.sets == 0:
        return True
    words, first, away = tags.words(sm, memory), warp.request, recorded_requests.moved(sm, warp, instruction)
    for i in range(sm.events[warp.cursor].requests):
        line, units = words[first + 2 * i] + away, words[first + 2 * i + 1]
        if tags.lost(words, cache, tags.way(words, cache, line), line, units):
            return True
    return False
