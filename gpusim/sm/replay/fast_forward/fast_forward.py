"""Exact fast-forward: when a state of the SM recurs, the simulator repeats the known continuation at once.

At certain events (one chosen warp begins a loop round, a block is placed) the state is hashed, stored and compared with
earlier ones (docs/units/fast-forward.md). If a state returns and the streams repeat, first whole periods are taken at
once, then the part of the next period up to the last state stored within it. With n = 1 for such a part, and the
present state as the one reached for n whole periods, every word that has changed meanwhile becomes

    word reached + n (word now - word in the earlier state)

Nothing is estimated; if no state recurs, or a loop ends, or a block differs, simulation goes on cycle by cycle.
"""

from __future__ import annotations

from gpusim.sm.front.warp_scheduler import warp_scheduler
from gpusim.sm.jit.on_demand import on_demand
from gpusim.sm.jit.rule import NEVER, rarely, rule
from gpusim.sm.records import Memory, Sm
from gpusim.sm.replay.fast_forward import estimate, same_state
from gpusim.sm.replay.fast_forward.moved_state import move as _move
from gpusim.sm.replay.fast_forward.moved_state import put, take
from gpusim.sm.replay.fast_forward.same_state import AGE, CURSOR, EVENT, HASH, LAPS, LIVE, NEXT, PLACED, WHEN, word
from gpusim.sm.replay.stream import stream
from gpusim.sm.state.recurrence import RECENT, Recurrence
from gpusim.sm.unit.capacities import DEPTHS, LOG

COUNT, EVENTS, STRIDE, LOOKED = range(4)  # states stored, events seen, one in how many stays, issued at the last one
EAGER = 64  # events that are always examined
WORTH = 4  # words stored for each instruction simulated since the last look, at a few percent of its cost
TRIES = 4  # states of the same hash that are compared


@on_demand
def skip(sm: Sm, memory: Memory, r: Recurrence, now: int, limit: int) -> int:
    """Return the cycles to skip after an event, none later than `limit`; 0 as long as nothing is known."""
    event, sm.event = sm.event, 0
    cycles = _exactly(sm, memory, r, event, now, limit) if sm.comparable else 0
    sm.skipped += cycles
    if sm.tolerance and cycles:
        estimate.restart(r)
    elif sm.tolerance:
        cycles = estimate.jump(sm, memory, r, event, now, limit)
    return cycles


@rule
def _exactly(sm: Sm, memory: Memory, r: Recurrence, event: int, now: int, limit: int) -> int:
    """Return the cycles of whole periods that have been taken; 0 if no state has come back."""
    if not _worth_a_look(sm, r, event):
        return 0
    here = _keep(sm, r, now)
    cycles, tries, at = 0, TRIES, r.counts[COUNT] - 2
    while cycles == 0 and tries > 0 and at >= 0:
        if r.notes[r.order[at], HASH] == r.notes[here, HASH]:
            tries -= 1
            cycles = _follow(sm, memory, r, at, here, limit)
        at -= 1
    return cycles


@rule
def _worth_a_look(sm: Sm, r: Recurrence, event: int) -> bool:
    """Tell whether enough has been issued since the last look that another look costs little in comparison."""
    issued = warp_scheduler.issued(sm)
    soon = issued - r.counts[LOOKED] < r.places.size // WORTH
    if soon and r.counts[EVENTS] > EAGER and not event & stream.PLACED:
        return False
    r.counts[LOOKED] = issued
    return True


@rarely
def _keep(sm: Sm, r: Recurrence, now: int) -> int:
    """Store the present state; return its row."""
    counts = r.counts
    while counts[COUNT] == r.order.size:
        _thin(r)
    row = r.order[counts[COUNT]]
    counts[COUNT] += 1
    counts[EVENTS] += 1
    take(sm, r, row, now)
    r.notes[row, EVENT] = counts[EVENTS]
    r.notes[row, HASH] = same_state.digest(sm, r, row, now)
    return int(row)


@rarely
def _thin(r: Recurrence) -> None:
    """Make room: of older states keep one in so many, and one in twice as many if that frees nothing."""
    kept, stride = 0, max(1, r.counts[STRIDE])
    for at in range(r.counts[COUNT]):
        row = r.order[at]
        if at >= r.counts[COUNT] - RECENT or r.notes[row, EVENT] % stride == 0:
            r.order[at], r.order[kept] = r.order[kept], row
            kept += 1
    if kept == r.counts[COUNT]:
        r.counts[STRIDE] = 2 * stride
    r.counts[COUNT] = kept


@rarely
def _follow(sm: Sm, memory: Memory, r: Recurrence, at: int, here: int, limit: int) -> int:
    """Return the cycles to skip by repeating the run since the state stored at this place; 0 if the states differ."""
    before, later, last = r.order[at], r.order.size, r.order.size + 1
    if not same_state.agree(sm, r, before, here):
        return 0
    now, reached = here, here
    n = _periods(sm, memory, r, before, here, limit)
    if n > 0:
        _move(sm, r, before, here, here, n, later)
        now = reached = later
    way = _furthest(sm, memory, r, at, here, now, limit)
    if way != before:
        _move(sm, r, before, now, way, 1, last)
        reached = last
    if reached != here:
        put(sm, r, before, here, reached)
    return int(r.notes[reached, WHEN] - r.notes[here, WHEN])


@rule
def _periods(sm: Sm, memory: Memory, r: Recurrence, before: int, here: int, limit: int) -> int:
    """Return how many whole periods repeat the last one."""
    n = (limit - r.notes[here, WHEN]) // (r.notes[here, WHEN] - r.notes[before, WHEN])
    for g in range(sm.warp_slots):
        n = min(n, _rounds_left(sm, r, before, here, g))
    placed = word(r, here, PLACED, 0) - word(r, before, PLACED, 0)
    if placed == 0 or n <= 0:
        return max(0, n)
    return _blocks_alike(sm, memory, r, before, here, here, n * placed) // placed


@rule
def _rounds_left(sm: Sm, r: Recurrence, before: int, here: int, g: int) -> int:
    """Return how many further periods like the last one the warp's loops still contain."""
    left = NEVER
    for depth in range(DEPTHS):
        laps = word(r, here, LAPS, g * DEPTHS + depth)
        turns = laps - word(r, before, LAPS, g * DEPTHS + depth)
        if turns != 0 and word(r, here, LIVE, g):
            if turns < 0 or left < NEVER or word(r, here, AGE, g) != word(r, before, AGE, g):
                return 0
            left = (sm.events[stream.loop_around(sm, word(r, here, CURSOR, g), depth)].rounds - laps) // turns
    return left


@rarely
def _blocks_alike(sm: Sm, memory: Memory, r: Recurrence, before: int, here: int, now: int, most: int) -> int:
    """Return how many of the next blocks, up to `most`, do the same as those placed between two states, one by one."""
    first = word(r, before, PLACED, 0)
    placed = word(r, here, PLACED, 0) - first
    if first < sm.launch.resident or placed > LOG or not _in_a_row(sm, r, before, here, placed):
        return 0
    block, alike = word(r, now, NEXT, 0), 0
    end = sm.launch.gap if block <= sm.launch.gap else sm.launch.end
    while block < end and alike < most:
        if stream.script_of(sm, memory, 0, block) != sm.log[(first + alike % placed) % LOG]:
            sm.fault.code = 0
            break
        block += sm.launch.stride
        alike += 1
    return alike


@rule
def _in_a_row(sm: Sm, r: Recurrence, before: int, here: int, placed: int) -> bool:
    """Tell whether no block was left out among so many that were placed between two states."""
    return bool(word(r, here, NEXT, 0) - word(r, before, NEXT, 0) == placed * sm.launch.stride)


@rule
def _furthest(sm: Sm, memory: Memory, r: Recurrence, at: int, here: int, now: int, limit: int) -> int:
    """Return the last stored state, from the one at this place up to `here`, that the run from now on also reaches."""
    before = r.order[at]
    placed = word(r, here, PLACED, 0) - word(r, before, PLACED, 0)
    blocks = _blocks_alike(sm, memory, r, before, here, now, placed) if placed else 0
    low, high = at, r.counts[COUNT] - 1
    while low < high:
        middle = (low + high + 1) // 2
        way = r.order[middle]
        fits = word(r, way, PLACED, 0) - word(r, before, PLACED, 0) <= blocks
        fits = fits and r.notes[way, WHEN] - r.notes[before, WHEN] <= limit - r.notes[now, WHEN]
        for g in range(sm.warp_slots):
            fits = fits and _keeps_step(sm, r, before, now, way, g)
        low, high = (middle, high) if fits else (low, middle - 1)
    return int(r.order[low])


@rule
def _keeps_step(sm: Sm, r: Recurrence, before: int, now: int, way: int, g: int) -> bool:
    """Tell whether a warp continues as it did before, up to a later stored state.

    It does if it has done as many rounds of its loops. Otherwise it must stay in the innermost of the loops that
    differ.
    """
    for depth in range(DEPTHS):
        i = g * DEPTHS + depth
        done = word(r, now, LAPS, i) - word(r, before, LAPS, i)
        if done != 0 and word(r, now, LIVE, g):
            loop = stream.loop_around(sm, word(r, before, CURSOR, g), depth)
            turns = word(r, way, LAPS, i) - word(r, before, LAPS, i)
            stays = turns >= 0 and word(r, now, LAPS, i) + turns <= sm.events[loop].rounds
            stays = stays and word(r, way, AGE, g) == word(r, before, AGE, g)
            stays = stays and loop == stream.loop_around(sm, word(r, way, CURSOR, g), depth)
            return stays and _same_laps(r, before, way, g, depth + 1)
    return True


@rule
def _same_laps(r: Recurrence, before: int, way: int, g: int, depth: int) -> bool:
    """Tell whether a warp has done as many rounds of its loops, from that depth outwards."""
    for i in range(g * DEPTHS + depth, (g + 1) * DEPTHS):  # noqa: SIM110  (compiled)
        if word(r, way, LAPS, i) != word(r, before, LAPS, i):
            return False
    return True
