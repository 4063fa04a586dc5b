"""Exact fast-forward: when the SM's state comes back, whole periods are taken at once.

At certain events the state, relative to the clock, is hashed. When a warp goes round a loop and the hash has been seen
before, the state is kept as a candidate for as many events as that lies back; when a block is placed, the last few
states are. When a candidate's hash returns, every word is compared by its role (gpusim/recurrence.py). If it is the
same state, some cycles later, and what the warps will do is the same for several periods to come (their streams tell),
then so is everything that happens, and the state after n periods is

    word + n (word now - word of the candidate)

for each word that is not over and done with: times move by n periods, totals grow by n times what they grew by.
Nothing is estimated; where no period is found, or a loop ends, or a block differs, time goes on cycle by cycle.
"""

from __future__ import annotations

from typing import Any

from gpusim.recurrence import NOTES
from gpusim.rule import NEVER, rarely, rule
from gpusim.rules import stream, wakeup
from gpusim.rules.stream import FACTOR, MASK
from gpusim.stall import DENIALS, OWN
from gpusim.state import DEPTHS, LOG

LOOPS, BLOCKS = 0, 1  # watches: of loops, and from there on of the last placements of blocks
HELD, HASH, SINCE, SEATED, CHANNEL, NEXT, ISSUED, KEPT = range(NOTES)
EAGER = 64  # events that are looked at in any case
REFUSED, BEHIND = OWN, OWN + DENIALS  # what is kept of a warp behind its rungs
ROUND = OWN + 2 * DENIALS
SETTLED, READY_AT, AGE, BLOCK = (ROUND + DEPTHS + i for i in range(4))


@rarely
def skip(sm: Any, memory: Any, r: Any, now: int, limit: int) -> int:
    """After an event: cycles that are taken at once, none later than `limit`; 0 as long as nothing is known."""
    event, sm.event = sm.event, 0
    cycles = 0
    if event & stream.PLACED:
        cycles = _watch_blocks(sm, memory, r, now, limit)
    elif _worth_a_look(sm, r):
        cycles = _watch_loops(sm, memory, r, now, limit)
    sm.skipped += cycles
    return cycles


@rule
def _worth_a_look(sm: Any, r: Any) -> bool:
    """Whether so much has been issued since the last look that another one costs little beside it."""
    issued = 0
    for k in range(sm.machine.schedulers):
        issued += sm.schedulers[k].issued
    notes = r.notes[LOOPS]
    if notes[NEXT] > EAGER and issued - notes[ISSUED] < (r.same.size + r.time.size) // 4:
        return False
    notes[ISSUED] = issued
    return True


@rule
def _watch_blocks(sm: Any, memory: Any, r: Any, now: int, limit: int) -> int:
    """Compare with the states in which the last blocks were placed, and keep the present one beside them."""
    digest, newest = _digest(sm, r, now), r.notes[LOOPS]
    cycles = 0
    for w in range(BLOCKS, r.notes.shape[0]):
        if cycles == 0 and r.notes[w, HELD] and digest == r.notes[w, HASH]:
            cycles = _periods(sm, memory, r, w, now, limit) * (now - r.notes[w, SINCE])
    _keep(sm, r, BLOCKS + newest[KEPT] % (r.notes.shape[0] - BLOCKS), digest, now + cycles, 1)
    newest[KEPT] += 1
    return cycles


@rule
def _watch_loops(sm: Any, memory: Any, r: Any, now: int, limit: int) -> int:
    """Compare with the candidate, and see whether the present state should be one."""
    digest, notes = _digest(sm, r, now), r.notes[LOOPS]
    cycles = 0
    if notes[HELD]:
        notes[HELD] -= 1
        if digest == notes[HASH]:
            cycles = _periods(sm, memory, r, LOOPS, now, limit) * (now - notes[SINCE])
            notes[HELD] = 0
    if not notes[HELD]:
        events = _events_since(r.history, notes[NEXT], digest)
        if events:
            _keep(sm, r, LOOPS, digest, now + cycles, events)
    r.history[notes[NEXT] % r.history.size] = digest
    notes[NEXT] += 1
    return cycles


@rule
def _events_since(history: Any, following: int, digest: int) -> int:
    """How many events ago a hash has been seen last; 0 if that is too long."""
    for back in range(1, history.size + 1):
        if history[(following - back) % history.size] == digest:
            return back
    return 0


@rule
def _ahead(time: int, now: int) -> int:
    """How far ahead a time lies, 0 if it has passed."""
    return NEVER if time >= NEVER else max(0, time - now)


@rarely
def _digest(sm: Any, r: Any, now: int) -> int:
    """A hash of what is the same in equal states."""
    digest = now % (sm.machine.interval * sm.machine.schedulers)
    for i in range(r.same.size):
        digest = (digest * FACTOR + (r.words[r.same[i]] & MASK)) & MASK
    for i in range(r.time.size):
        digest = (digest * FACTOR + (_ahead(r.words[r.time[i]], now) & MASK)) & MASK
    return digest


@rarely
def _keep(sm: Any, r: Any, w: int, digest: int, now: int, events: int) -> None:
    """Make the present state the candidate for as many events as it took its hash to return."""
    r.notes[w, HELD], r.notes[w, HASH], r.notes[w, SINCE] = events, digest, now
    _copy(r.words, r.same, r.same_seen[w])
    _copy(r.words, r.time, r.time_seen[w])
    _copy(r.words, r.moment, r.moment_seen[w])
    _copy(r.words, r.total, r.total_seen[w])
    _copy(r.words, r.number, r.number_seen[w])
    r.notes[w, SEATED], r.notes[w, CHANNEL] = sm.placed, sm.load_store.channel
    for g in range(sm.warp_slots):
        _keep_warp(sm, sm.schedulers[g % sm.machine.schedulers], sm.warps[g], r.warps_seen[w, g])


@rule
def _keep_warp(sm: Any, scheduler: Any, warp: Any, seen: Any) -> None:
    seen[SETTLED], seen[READY_AT] = warp.since, warp.ready_at
    seen[AGE], seen[BLOCK] = warp.age, sm.blocks[warp.block].id
    for rung in range(OWN):
        seen[rung] = warp.rung[rung]
    for denial in range(DENIALS):
        seen[REFUSED + denial] = warp.refused[denial]
        seen[BEHIND + denial] = scheduler.refused[warp.unit, denial] - warp.refused[denial]
    for depth in range(DEPTHS):
        seen[ROUND + depth] = warp.laps[depth]


@rule
def _copy(words: Any, places: Any, to: Any) -> None:
    for i in range(places.size):
        to[i] = words[places[i]]


@rarely
def _periods(sm: Any, memory: Any, r: Any, w: int, now: int, limit: int) -> int:
    """Whole periods that may be taken at once, and are: 0 if this is not the candidate's state again."""
    period = now - r.notes[w, SINCE]
    if not (_words_agree(sm, r, w, now, period) and _warps_agree(sm, r, w, period)):
        return 0
    n = (limit - now) // period
    for g in range(sm.warp_slots):
        n = min(n, _rounds_left(sm, r, w, g))
    n = _blocks_alike(sm, memory, r, w, n)
    if n > 0:
        _take(sm, r, w, n, period, now)
    return max(n, 0)


@rule
def _words_agree(sm: Any, r: Any, w: int, now: int, period: int) -> bool:
    if period % (sm.machine.interval * sm.machine.schedulers):
        return False
    for i in range(r.same.size):
        if r.words[r.same[i]] != r.same_seen[w, i]:
            return False
    for i in range(r.time.size):
        if _ahead(r.words[r.time[i]], now) != _ahead(r.time_seen[w, i], now - period):
            return False
    channel, seen, parts = sm.load_store.channel, r.notes[w, CHANNEL], sm.machine.channel_parts
    if max(0, channel - now * parts) != max(0, seen - (now - period) * parts):
        return False
    return _moments_agree(sm, r, w, now - period, period) and _numbers_agree(r, w)


@rule
def _moments_agree(sm: Any, r: Any, w: int, before: int, period: int) -> bool:
    """Whether each moment has moved with the clock, or has stayed and was out of sight of other schedulers before."""
    for i in range(r.moment.size):
        seen = r.moment_seen[w, i]
        moved = r.words[r.moment[i]] - seen
        if moved != period and (moved != 0 or seen + sm.machine.interval > before):
            return False
    return True


@rule
def _numbers_agree(r: Any, w: int) -> bool:
    """Whether each number has kept its distance from its total, or has not been taken anew."""
    for i in range(r.number.size):
        change, total, moment = r.words[r.number[i]] - r.number_seen[w, i], r.source[i], r.renewal[i]
        renewed = moment >= 0 and r.words[r.moment[moment]] != r.moment_seen[w, moment]
        stays = change == 0 and not renewed
        if not stays and change != r.words[r.total[total]] - r.total_seen[w, total]:
            return False
    return True


@rule
def _warps_agree(sm: Any, r: Any, w: int, period: int) -> bool:
    for g in range(sm.warp_slots):
        warp, seen = sm.warps[g], r.warps_seen[w, g]
        scheduler = sm.schedulers[g % sm.machine.schedulers]
        if not _rungs_agree(warp, seen, period):
            return False
        if (scheduler.ready >> (g // sm.machine.schedulers)) & 1 and not _sums_agree(scheduler, warp, seen):
            return False
    return _order_agrees(sm, r, w)


@rule
def _order_agrees(sm: Any, r: Any, w: int) -> bool:
    """Whether the warps placed during the period are younger than those that stayed, as were those in their slots."""
    stayed, replaced = -1, NEVER
    for g in range(sm.warp_slots):
        age, seen = sm.warps[g].age, r.warps_seen[w, g, AGE]
        if age == seen:
            stayed = max(stayed, seen)
        else:
            replaced = min(replaced, seen)
    return stayed < replaced


@rule
def _rungs_agree(warp: Any, seen: Any, period: int) -> bool:
    """Whether each rung has moved with the clock, or was settled both times, or the warp has slept all the while."""
    asleep = warp.since == seen[SETTLED]
    for rung in range(OWN):
        time, before = warp.rung[rung], seen[rung]
        settled = time <= warp.since and before <= seen[SETTLED]
        same = time == before and (asleep or time >= NEVER)
        if not (settled or same or time - before == period):
            return False
    return True


@rule
def _sums_agree(scheduler: Any, warp: Any, seen: Any) -> bool:
    """Whether what a ready warp remembers of its scheduler's sums lies as far behind them, or is still the same."""
    if warp.ready_at == seen[READY_AT]:
        return True
    for denial in range(DENIALS):
        if scheduler.refused[warp.unit, denial] - warp.refused[denial] != seen[BEHIND + denial]:
            return False
    return True


@rule
def _rounds_left(sm: Any, r: Any, w: int, g: int) -> int:
    """How many periods like the last the warp's loops still have in them."""
    warp, seen = sm.warps[g], r.warps_seen[w, g]
    if not warp.live:
        return NEVER
    left = NEVER
    for depth in range(DEPTHS):
        turns = warp.laps[depth] - seen[ROUND + depth]
        if turns != 0:
            if turns < 0 or left < NEVER or sm.blocks[warp.block].id != seen[BLOCK]:
                return 0
            left = (_rounds(sm, warp.cursor, depth) - warp.laps[depth]) // turns
    return left


@rule
def _rounds(sm: Any, cursor: int, depth: int) -> int:
    """Rounds of the loop of that depth around an event."""
    i = cursor
    while sm.events[i].pc != stream.END:
        marker = sm.events[i]
        if marker.pc == stream.MARKER and marker.depth == depth and i - marker.length <= cursor:
            return int(marker.rounds)
        i += 1
    return 0


@rule
def _blocks_alike(sm: Any, memory: Any, r: Any, w: int, n: int) -> int:
    """How many of n periods the blocks to come do what those of the last period did, one by one."""
    before = r.notes[w, SEATED]
    placed = sm.placed - before
    if placed == 0 or n <= 0:
        return n
    if before < sm.launch.resident or placed > LOG:
        return 0
    block, alike = sm.launch.next, 0
    while block < sm.launch.end and alike // placed < n:
        if stream.script_of(sm, memory, 0, block) != sm.log[(before + alike % placed) % LOG]:
            sm.fault.code = 0
            break
        block += sm.launch.stride
        alike += 1
    return min(n, alike // placed)


@rule
def _take(sm: Any, r: Any, w: int, n: int, period: int, now: int) -> None:
    """The state after n more periods. The log lacks their blocks, so that no older candidate may look back."""
    cycles = n * period
    r.notes[:, HELD] = 0
    for i in range(r.time.size):  # those that have passed too: a warp that has not been settled since asks for them
        if r.words[r.time[i]] - r.time_seen[w, i] == period:
            r.words[r.time[i]] += cycles
    _extrapolate(r.words, r.moment, r.moment_seen[w], n)
    _extrapolate(r.words, r.number, r.number_seen[w], n)
    _extrapolate(r.words, r.total, r.total_seen[w], n)
    if sm.load_store.channel > now * sm.machine.channel_parts:
        sm.load_store.channel += cycles * sm.machine.channel_parts
    for k in range(sm.machine.schedulers):
        wakeup.renew(sm.machine, k, sm.schedulers[k], now + cycles)
    for g in range(sm.warp_slots):
        _take_warp(sm.warps[g], r.warps_seen[w, g], n, period)


@rule
def _take_warp(warp: Any, seen: Any, n: int, period: int) -> None:
    for rung in range(OWN):
        if warp.rung[rung] - seen[rung] == period:
            warp.rung[rung] += n * period
    for denial in range(DENIALS):
        warp.refused[denial] += n * (warp.refused[denial] - seen[REFUSED + denial])
    for depth in range(DEPTHS):
        warp.laps[depth] += n * (warp.laps[depth] - seen[ROUND + depth])


@rule
def _extrapolate(words: Any, places: Any, seen: Any, n: int) -> None:
    for i in range(places.size):
        words[places[i]] += n * (words[places[i]] - seen[i])
