"""Estimates on request: where no state returns, steady loops and waves of blocks are advanced at their mean cost.

A loop, or a wave of blocks, is watched for a span of rounds; then the SM is advanced by the rounds that all warps have
left: the same state, with times, rounds of loops, block ids and totals moved. Errors add up in `sm.doubt`, in cycles:
the uncertainty of the mean of the span's eight parts, one round, because the SM may be elsewhere in its round, and one
round in those of the span where warps are not equally fast (docs/units/fast-forward.md, "Estimates").
"""

from __future__ import annotations

from math import sqrt

from gpusim.sm.front.warp_scheduler import warp_scheduler
from gpusim.sm.jit.on_demand import on_demand
from gpusim.sm.jit.rule import NEVER, rarely, rule
from gpusim.sm.records import Memory, Sm
from gpusim.sm.replay.fast_forward import moved_memory
from gpusim.sm.replay.fast_forward.moved_state import move_by, put, take
from gpusim.sm.replay.fast_forward.rounds import ROUND, events, rounds_ahead, turned, went
from gpusim.sm.replay.fast_forward.same_state import (
    AGE,
    BROUGHT,
    CURSOR,
    DOUBT,
    LAPS,
    LIVE,
    MOMENT,
    PLACED,
    TIME,
    WHEN,
    ahead,
    channel_ahead,
    word,
)
from gpusim.sm.replay.stream import stream
from gpusim.sm.state.recurrence import Recurrence
from gpusim.sm.unit.capacities import DEPTHS, LOG

LOOPS, BLOCKS = 0, 1  # what is watched: the rows of `r.watch`
# Columns there. LAST: warp slot + 1 and its age, cursor and rounds when it was first seen; or the last wave.
TICKS, SPAN, LAST, SINCE_AGE, PLACE, DEPTH, MISSES, ROUNDS, TIMES, ISSUES = 0, 1, 2, 3, 4, 5, 6, 7, 11, 20
PARTS = 8
FIRST = 2 * PARTS, PARTS  # the first span: rounds, waves
FIRST_TAGGED = 4 * PARTS  # rounds where caches keep tags, so that fewer, longer spans need fewer rounds before them
PATIENCE = 64  # rounds of other loops between two of the watched one, after which another loop is watched
STUDENT = 3.5  # of 7 degrees of freedom, two-sided, 99 %
MILLION = 1_000_000
STEP = 16  # warps are in step if their rounds differ by one in so many at most
SHIFT = 6  # by which these are too fine to multiply totals with
WARM = 8  # rounds in front of the first span that are not watched, where caches keep tags
AT_ONCE = 4  # times as many rounds as are done may be taken at once there


@on_demand
def jump(sm: Sm, memory: Memory, r: Recurrence, event: int, now: int, limit: int) -> int:
    """Return the cycles that are estimated after an event, none later than `limit`; 0 as long as nothing is steady."""
    if event & stream.PLACED:
        restart(r)
        return _waves(sm, memory, r, now, limit) if sm.comparable and sm.launch.gap == 0 else 0
    return _rounds(sm, memory, r, now, limit)


@rule
def restart(r: Recurrence) -> None:
    """Watch another loop from its first round on."""
    r.watch[LOOPS, LAST] = 0


@rule
def _rounds(sm: Sm, memory: Memory, r: Recurrence, now: int, limit: int) -> int:
    """The chosen warp has gone round a loop: return the cycles to estimate."""
    g = sm.marker
    if r.watch[LOOPS, LAST] != g + 1 or r.watch[LOOPS, SINCE_AGE] != sm.warps[g].age:
        _begin(sm, r, 0)
        return 0
    if not _same_place(sm, r):
        r.watch[LOOPS, MISSES] += 1
        if r.watch[LOOPS, MISSES] > PATIENCE:
            _begin(sm, r, 0)
        return 0
    r.watch[LOOPS, MISSES] = 0
    if not _tick(sm, r, LOOPS, now):
        return 0
    return _on_in_loops(sm, memory, r, now, limit)


@rule
def _begin(sm: Sm, r: Recurrence, depth: int) -> None:
    """Watch the loop of that depth that the chosen warp is in."""
    watch, warp = r.watch, sm.warps[sm.marker]
    watch[LOOPS, SPAN], watch[LOOPS, LAST] = FIRST[LOOPS] if sm.comparable else FIRST_TAGGED, sm.marker + 1
    watch[LOOPS, TICKS] = 0 if sm.comparable else FIRST_TAGGED - WARM
    watch[LOOPS, SINCE_AGE], watch[LOOPS, PLACE] = warp.age, warp.cursor
    watch[LOOPS, DEPTH], watch[LOOPS, MISSES] = depth, 0
    for inner in range(DEPTHS):
        watch[LOOPS, ROUNDS + inner] = warp.laps[inner]


@rule
def _same_place(sm: Sm, r: Recurrence) -> bool:
    """Tell whether the chosen warp is where it was first seen, in that round of all loops inside the watched one."""
    warp = sm.warps[sm.marker]
    same = warp.cursor == r.watch[LOOPS, PLACE]
    for inner in range(DEPTHS):
        same = same and (inner >= r.watch[LOOPS, DEPTH] or warp.laps[inner] == r.watch[LOOPS, ROUNDS + inner])
    return bool(same)


@rule
def _tick(sm: Sm, r: Recurrence, of: int, now: int) -> bool:
    """Count a round or a wave; note the time where a part of the span ends. Return whether the span is over."""
    watch = r.watch
    watch[of, TICKS] += 1
    span = watch[of, SPAN]
    past, part = watch[of, TICKS] - span, span // PARTS
    if past == 0:
        take(sm, r, _anchor(r, of), now)
    if past >= 0 and past % part == 0:
        watch[of, TIMES + past // part], watch[of, ISSUES + past // part] = now, warp_scheduler.issued(sm)
    return bool(past == span)


@rule
def _anchor(r: Recurrence, of: int) -> int:
    """Return the row of the state at the beginning of the span."""
    return int(r.order.size + 2 + of)


@rule
def _longer(sm: Sm, r: Recurrence, of: int, now: int) -> int:
    """Watch for twice as long, from now on; return that nothing is estimated."""
    r.watch[of, SPAN] *= 2
    r.watch[of, TIMES], r.watch[of, ISSUES] = now, warp_scheduler.issued(sm)
    take(sm, r, _anchor(r, of), now)
    return 0


@rule
def _spread(r: Recurrence, of: int) -> int:
    """Return by how many parts in a million the mean of the parts' cycles for each instruction may be wrong."""
    first = r.watch[of, TIMES]
    mean = (r.watch[of, TIMES + PARTS] - first) / max(1, r.watch[of, ISSUES + PARTS] - r.watch[of, ISSUES])
    squares = 0.0
    for part in range(PARTS):
        issued = max(1, r.watch[of, ISSUES + part + 1] - r.watch[of, ISSUES + part])
        off = (r.watch[of, TIMES + part + 1] - r.watch[of, TIMES + part]) / issued - mean
        squares += off * off
    return int(STUDENT * sqrt(squares / (PARTS - 1) / PARTS) / mean * MILLION) + 1


@rarely
def _on_in_loops(sm: Sm, memory: Memory, r: Recurrence, now: int, limit: int) -> int:
    """Take the rounds that all warps have left, if the span was steady; return their cycles."""
    before, here = _anchor(r, LOOPS), r.order.size + 1
    take(sm, r, here, now)
    depth = turned(r, before, here, sm.marker)
    if depth > r.watch[LOOPS, DEPTH]:  # the outer loop went on: watch it at the same round of the inner ones
        _begin(sm, r, depth)
        return 0
    n, way, uneven = _rounds_left(sm, r, before, here)
    period = now - r.notes[before, WHEN]
    n = min(n, (limit - now) // period * way)
    if sm.comparable == 0:
        n = _as_known(sm, r, before, here, n, way)
        if n * PARTS < way:
            restart(r)
            return 0
    added, gone = _work(sm, r, before, here, n, way)
    cycles = _whole(sm, period * added // gone)
    doubt = (
        cycles * (_spread(r, LOOPS) + uneven + _drift(sm, r, before, here)) // MILLION + period // r.watch[LOOPS, SPAN]
    )
    if not _tolerable(sm, now, cycles, doubt):
        return _longer(sm, r, LOOPS, now)
    move_by(sm, r, before, here, here, added, gone, cycles, r.order.size)
    for g in range(sm.warp_slots):
        _move_rounds(sm, r, before, here, g, n, way)
    _arrive(sm, r, before, here, cycles, doubt)
    if sm.comparable == 0:
        moved_memory.move(sm, memory, r, r.notes[here, WHEN], cycles)
    restart(r)
    return int(cycles)


@rule
def _as_known(sm: Sm, r: Recurrence, before: int, here: int, n: int, way: int) -> int:
    """Return how far to go where caches keep tags, at most n: not beyond what the rounds done so far tell.

    Nor beyond the SM's share of a buffer, behind which others bring it from the DRAM.
    """
    depth, g = r.watch[LOOPS, DEPTH], sm.marker
    done = word(r, here, LAPS, g * DEPTHS + depth)
    n = min(n, AT_ONCE * done * way // max(1, r.watch[LOOPS, SPAN]))
    for i in range(sm.brought.size if sm.launch.sharers > 1 else 0):
        first, now = word(r, before, BROUGHT, i), word(r, here, BROUGHT, i)
        share = moved_memory.share(sm, i)
        if first < share and now > first:
            n = min(n, max(0, share - now) * way // (now - first))
    return int(n)


@rule
def _work(sm: Sm, r: Recurrence, before: int, here: int, n: int, way: int) -> tuple[int, int]:
    """Return the rounds of all warps that are taken at once, and those between two states, in parts of a round."""
    added, gone = 0, 0
    for g in range(sm.warp_slots):
        if word(r, here, LIVE, g):
            own = went(sm, r, before, here, g)
            added += own * n // way // ROUND
            gone += own
    return added * ROUND >> SHIFT, max(1, gone >> SHIFT)


@rule
def _move_rounds(sm: Sm, r: Recurrence, before: int, here: int, g: int, n: int, way: int) -> None:
    """Let a warp have gone n / way times as far as between two states, in whole rounds of its loop, where it is."""
    depth, first, to = turned(r, before, here, g), r.columns[LAPS] + g * DEPTHS, r.order.size
    for inner in range(DEPTHS):
        r.kept[to, first + inner] = r.kept[here, first + inner]
    if depth >= 0 and word(r, here, LIVE, g):
        rounds = went(sm, r, before, here, g) * n // way // ROUND
        r.kept[to, first + depth] += rounds
        if sm.comparable == 0:
            moved_memory.pass_requests(sm, sm.warps[g], depth, rounds)


@rule
def _drift(sm: Sm, r: Recurrence, before: int, here: int) -> int:
    """Return in parts in a million of the span how much further ahead any time lies at its end than at its start.

    Such a time is that up to which a channel is occupied, if it is asked for more than it can move. Where caches keep
    tags loads come late by chance, and only that channel is looked at.
    """
    start, end = r.notes[before, WHEN], r.notes[here, WHEN]
    parts = sm.machine.channel_parts
    most = abs(channel_ahead(sm, r, here) - channel_ahead(sm, r, before)) // parts
    for i in range(r.roles[TIME], r.roles[MOMENT] if sm.comparable else r.roles[TIME]):
        first, last = ahead(r.kept[before, i], start), ahead(r.kept[here, i], end)
        if first < NEVER and last < NEVER:
            most = max(most, abs(last - first))
    return int(most * MILLION // (end - start))


@rule
def _tolerable(sm: Sm, now: int, cycles: int, doubt: int) -> bool:
    """Tell whether these cycles may be estimated with that doubt: it and all doubt so far are few enough of them."""
    return bool(cycles > 0 and (sm.doubt + doubt) * MILLION <= (now + cycles) * sm.tolerance)


@rule
def _whole(sm: Sm, cycles: int) -> int:
    """Return the cycles rounded down so that the order of the schedulers is the same after them."""
    return int(cycles - cycles % (sm.machine.interval * sm.machine.schedulers))


@rule
def _arrive(sm: Sm, r: Recurrence, before: int, here: int, cycles: int, doubt: int) -> None:
    put(sm, r, before, here, r.order.size)
    sm.estimated += cycles
    sm.doubt += doubt


@rule
def _rounds_left(sm: Sm, r: Recurrence, before: int, here: int) -> tuple[int, int, int]:
    """Return n, way and how uneven: all warps can go n / way times as far as between two states; n 0: nowhere.

    Each warp must be in the loop in which it was, and as fast as the chosen one: one that starves would not forever.
    Uneven is, in parts in a million, what is not known of how far a warp went, if it is elsewhere in its round than it
    was.
    """
    n, way, uneven, usual = 0, 0, 0, went(sm, r, before, here, sm.marker)
    for g in range(sm.warp_slots):
        live = word(r, here, LIVE, g)
        if live != word(r, before, LIVE, g) or (live and word(r, here, AGE, g) != word(r, before, AGE, g)):
            return 0, 1, 0
        if live:
            depth, same = turned(r, before, here, g), word(r, here, CURSOR, g) == word(r, before, CURSOR, g)
            own = went(sm, r, before, here, g)
            lockstep = sm.comparable == 0 or abs(own - usual) * STEP <= usual
            left = rounds_ahead(sm, r, before, here, g, depth) * ROUND if own > 0 and lockstep else 0
            if left <= 0:
                return 0, 1, 0
            if not same:
                uneven = max(uneven, ROUND // events(sm, r, here, g, depth) * MILLION // own)
            if way == 0 or left * way < n * own:
                n, way = left, own
    return n, max(1, way), uneven


@rule
def _waves(sm: Sm, memory: Memory, r: Recurrence, now: int, limit: int) -> int:
    """A block has been placed: return the cycles to estimate."""
    wave, last = sm.placed // sm.launch.resident, r.watch[BLOCKS, LAST]
    if wave == last:
        return 0
    r.watch[BLOCKS, LAST] = wave
    if wave != last + 1 or r.watch[BLOCKS, SPAN] == 0:  # periods of waves were taken at once, or these are the first
        r.watch[BLOCKS, TICKS], r.watch[BLOCKS, SPAN] = 0, FIRST[BLOCKS]
        return 0
    if not _tick(sm, r, BLOCKS, now):
        return 0
    return _on_in_blocks(sm, memory, r, now, limit)


@rarely
def _on_in_blocks(sm: Sm, memory: Memory, r: Recurrence, now: int, limit: int) -> int:
    """Take the blocks that are still to come, if the span was steady and they do the same; return their cycles."""
    before, here, to = _anchor(r, BLOCKS), r.order.size + 1, r.order.size
    take(sm, r, here, now)
    period = now - r.notes[before, WHEN]
    placed = word(r, here, PLACED, 0) - word(r, before, PLACED, 0)
    n = _blocks_alike(sm, memory, r, before, here, (limit - now) // period * placed)
    cycles = _whole(sm, period * n // placed)
    within = (sm.doubt - r.kept[before, r.columns[DOUBT]]) * n // placed
    doubt = cycles * (_spread(r, BLOCKS) + _drift(sm, r, before, here)) // MILLION + period // r.watch[BLOCKS, SPAN]
    if not _tolerable(sm, now, cycles, doubt + within):
        return _longer(sm, r, BLOCKS, now)
    move_by(sm, r, before, here, here, n, placed, cycles, to)
    for i in range(r.columns[LAPS], r.columns[LAPS] + sm.warp_slots * DEPTHS):
        r.kept[to, i] = r.kept[here, i]
    _arrive(sm, r, before, here, cycles, doubt)
    sm.waves_estimated = 1
    for i in range(LOG):
        sm.log[i] = sm.blocks[0].script
    return int(cycles)


@rule
def _blocks_alike(sm: Sm, memory: Memory, r: Recurrence, before: int, here: int, most: int) -> int:
    """Return how many of the next blocks do what all resident ones do, which were all placed since a state."""
    for g in range(sm.warp_slots):
        if word(r, here, AGE, g) == word(r, before, AGE, g):
            return 0
    script = sm.blocks[0].script
    for slot in range(sm.launch.resident):
        if sm.blocks[slot].script != script:
            return 0
    block, alike = sm.launch.next, 0
    while block < sm.launch.end and alike < most:
        if stream.script_of(sm, memory, 0, block) != script:
            sm.fault.code = 0
            break
        block += sm.launch.stride
        alike += 1
    return alike
