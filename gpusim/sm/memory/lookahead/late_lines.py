"""Lines that the L1 lacks of an SM which runs ahead: the chip asks the L2 for them later, in the order of all SMs.

Until a line comes, a ticket stands for the cycle in which it does, in the tags and the MSHRs of the L1: a number later
than every cycle. Nothing may depend on it before the earliest such cycle, a hit in the L2. The SM stops before that,
and before an access whose cost does depend on it.
"""

from __future__ import annotations

from gpusim.sm.jit.rule import rarely, rule
from gpusim.sm.memory.cache import requests, tags
from gpusim.sm.memory.cache.declaration import CONSTANTS, NEAR, SHARE_PARTS, WAY_HEAD
from gpusim.sm.memory.cache.tags import TAG
from gpusim.sm.records import Entry, LateLine, Memory, Numbers, Question, Row, Sm
from gpusim.sm.unit.capacities import LATE_LINES, NEVER, QUESTIONS, RETURNS
from gpusim.sm.unit.opcodes import LOAD

TICKET = 2 * NEVER  # of the first line


@rule
def numbered(sm: Sm, number: int) -> LateLine:
    """Return the late line of that number."""
    return sm.ahead.lines[number & (LATE_LINES - 1)]


@rule
def begin(sm: Sm) -> None:
    """An access is looked up: no line of it is late yet."""
    sm.ahead.first, sm.ahead.known, sm.ahead.least = sm.ahead.posted, 0, 0


@rule
def arrived(sm: Sm, done: int, hit: int) -> int:
    """Return when a line of the access is there, not before a `hit` would be; note it if it is known."""
    sm.ahead.known = max(sm.ahead.known, hit if done >= TICKET else max(done, hit))
    return int(max(done, hit))


@rule
def join(sm: Sm, words: Numbers, way: int, line: int, units: int, done: int) -> int:
    """Return when an access gets sectors that come at `done`: accesses that wait for them get them one by one."""
    return post(sm, words, way, line, units, 0, 0, 0) if done >= TICKET else done + int(sm.machine.joined)


@rarely
def post(sm: Sm, words: Numbers, way: int, line: int, units: int, lost: int, latency: int, start: int) -> int:
    """Ask later for the lost ones of these sectors, at `start`; return a ticket for when all are there."""
    late = numbered(sm, sm.ahead.posted)
    late.line, late.units, late.way, late.start, late.latency = line, lost, way, start, latency
    late.joined = 0 if lost else sm.machine.joined
    late.known, late.least = 0, start + latency - sm.machine.slice_spread if lost else 0
    for unit in range(sm.launch.caches[NEAR].stride - WAY_HEAD):
        when = words[way + WAY_HEAD + unit] if (units & ~lost) >> unit & 1 else 0
        late.after[unit] = when if when >= TICKET else 0
        if when >= TICKET:
            late.least = max(late.least, numbered(sm, when - TICKET).least)
        else:
            late.known = max(late.known, when)
    late.least = max(late.least, late.known) + late.joined
    sm.ahead.least = max(sm.ahead.least, late.least)
    sm.ahead.posted += 1
    return int(TICKET + sm.ahead.posted - 1)


@rarely
def may_wait(sm: Sm, memory: Memory, y: int, now: int) -> bool:
    """Tell whether the head of queue y can be served now, though the lines that it lacks are asked for later.

    A load through the L1 can if enough MSHRs are free, and if what it finds on its way comes too late for a hit.
    """
    queue = sm.load_store.queues[y]
    entry = queue.entries[queue.head]
    instruction = sm.program[entry.pc]
    words, row = tags.words(sm, memory), requests.row_of(sm, y, queue.head)
    entered, posted = max(now, int(sm.load_store.tagged) // SHARE_PARTS), sm.ahead.posted - sm.ahead.come
    if posted + entry.requests >= LATE_LINES // 2 or instruction.packets:
        return False
    if instruction.cached == CONSTANTS + 1:
        return bool(instruction.parameters and sm.machine.next_constants)  # none of these go to the L2
    if instruction.action != LOAD or instruction.cached != NEAR + 1 or instruction.anew:
        return False
    return _has_room(sm, words, entry, entered) and (posted == 0 or _come_late(sm, words, row, entry, entered))


@rule
def _has_room(sm: Sm, words: Numbers, entry: Entry, entered: int) -> bool:
    """Tell whether there are MSHRs for all lines of an access, and room for it when they come."""
    free = 0
    for i in range(sm.machine.misses):
        free += words[sm.launch.misses + i] <= entered
    return bool(free >= entry.requests and sm.load_store.returns < RETURNS - QUESTIONS)


@rule
def _come_late(sm: Sm, words: Numbers, row: int, entry: Entry, entered: int) -> bool:
    """Tell whether what an access finds on its way can't be there for a hit."""
    cache, hit = sm.launch.caches[NEAR], entered + sm.program[entry.pc].latency
    for i in range(entry.requests):
        line, units = words[row + 2 * i], words[row + 2 * i + 1] & requests.UNITS
        way = tags.way(words, cache, line)
        for unit in range(cache.stride - WAY_HEAD if words[way + TAG] == line + 1 else 0):
            when = words[way + WAY_HEAD + unit]
            if (units >> unit) & 1 and when >= TICKET and numbered(sm, when - TICKET).least <= hit:
                return False
    return True


@rarely
def describe(sm: Sm, question: Question, known: int, waits: bool, instruction: Row) -> None:
    """Complete the question of an access that has just been looked up; `waits`: the unit serves it again."""
    ahead = sm.ahead
    question.first, question.lines = ahead.first, ahead.posted - ahead.first
    question.known, question.waits, question.later = max(ahead.known, known), waits, sm.load_store.later
    if waits:
        question.felt = max(ahead.least, question.known) - instruction.latency
        ahead.until = min(ahead.until, question.felt)


@rarely
def answer(sm: Sm, number: int, done: int) -> int:
    """Its sectors come from the L2 at `done`; return when the line of that number comes."""
    late = numbered(sm, number)
    done = max(done, late.known)
    for unit in range(sm.launch.caches[NEAR].stride - WAY_HEAD):
        if late.after[unit]:
            done = max(done, numbered(sm, late.after[unit] - TICKET).done)
    late.done = done + late.joined
    return int(late.done)


@rarely
def take(sm: Sm, memory: Memory, question: Question) -> None:
    """Let the L1 know when the lines of a question come."""
    words, units = tags.words(sm, memory), sm.launch.caches[NEAR].stride - WAY_HEAD
    sm.ahead.come += question.lines
    for number in range(question.first, question.first + question.lines):
        late = numbered(sm, number)
        for unit in range(units):
            if words[late.way + WAY_HEAD + unit] == TICKET + number:
                words[late.way + WAY_HEAD + unit] = late.done
        if late.units:
            _free(sm, words, late.done)


@rule
def _free(sm: Sm, words: Numbers, done: int) -> None:
    """Let an MSHR, one of those that wait for a line asked for later, be free at `done`; all are a heap (tags.py)."""
    times, at = sm.launch.misses - 1, int(sm.machine.misses)
    while words[times + at] < TICKET:
        at -= 1
    while at > 1 and words[times + at // 2] > done:
        words[times + at] = words[times + at // 2]
        at //= 2
    words[times + at] = done
