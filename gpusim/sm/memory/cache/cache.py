"""Caches with tags: what an access finds in the L1 and the L2, the lines that it fills, and when its data arrives.

The lookup happens when the load/store unit serves an access, line by line; a texture fetch and a scalar load look when
they issue. A way holds, for each 32 bytes of its line, the cycle at which they arrive: a hit on data that is still on
its way joins the miss. An L1 miss takes an MSHR and the L2 channel (l2_channel.py), an L2 miss the channel to the DRAM;
the latency counts from the last of these. The L2 does atomics, and the L1 drops their lines. docs/units/cache.md has
the rule.

The lines of each queued access follow the tags (tags.py) in the memory array.
"""

from __future__ import annotations

import numpy as np

from gpusim.sm.jit.on_demand import on_demand
from gpusim.sm.jit.rule import count_bits, lowest_bit, rarely, rule
from gpusim.sm.memory.account import account
from gpusim.sm.memory.cache import next_constants, requests, stores, tags
from gpusim.sm.memory.cache.declaration import (
    CONSTANTS,
    FAR,
    NEAR,
    PARTITION,
    SCALARS,
    TEXTURES,
    WAY_HEAD,
)
from gpusim.sm.memory.cache.requests import PARTLY, UNITS, needed
from gpusim.sm.memory.cache.tags import ARRIVED, DIRTY, TAG, TOUCHED, USED
from gpusim.sm.memory.dram import dram
from gpusim.sm.memory.global_memory import global_memory
from gpusim.sm.memory.l2_atomic import l2_atomic
from gpusim.sm.memory.l2_channel import l2_channel, slices
from gpusim.sm.memory.l2_channel.declaration import STORES
from gpusim.sm.memory.l2_share import l2_share
from gpusim.sm.memory.l2_share.declaration import ITSELF, NOW
from gpusim.sm.memory.lookahead import late_lines
from gpusim.sm.memory.memory_access import generic_address
from gpusim.sm.memory.tag_stage import tag_stage
from gpusim.sm.records import Entry, Memory, Numbers, Row, Sm
from gpusim.sm.unit.capacities import LANES, REQUESTS
from gpusim.sm.unit.opcodes import LOAD, STORE
from isa.program import WORD_BYTES


@on_demand
def ask(sm: Sm, memory: Memory, g: int, group: int, active: int) -> None:
    """Store the lines that a lane group of warp slot g accesses, in the entry that its instruction will take.

    A scalar load has no entry: its first lane group asks the cache now, for all.
    """
    words, instruction = tags.words(sm, memory), sm.program[sm.warps[g].pc]
    if instruction.pipe < 0:
        requests.note(sm, words, instruction, g, group, active)
    elif sm.outcome.requests == 0:
        requests.note_scalar(sm, words, int(np.int64(sm.scratch.address[lowest_bit(active)])), instruction.access_bytes)
        if not sm.trace_driven:
            _read_all(sm, words, instruction, SCALARS, 0)


@on_demand
def serve(sm: Sm, memory: Memory, y: int, place: int, now: int) -> int:
    """Look up the access at that place of queue y; return when a load's result is there, or when a store has left.

    `sm.load_store.waited` says how long the unit has waited for the L1's tag stage, a free MSHR, or room in the channel
    to the L2.
    """
    words, row, entry = tags.words(sm, memory), requests.row_of(sm, y, place), sm.load_store.queues[y].entries[place]
    instruction = sm.program[entry.pc]
    account.serve(sm, instruction, words[row], entry.cycles)
    if instruction.action == STORE:
        return _store_all(sm, words, instruction, row, entry, now)
    near = instruction.packets == 0 and instruction.cached == NEAR + 1
    entered = tag_stage.enter(sm, now) if near else now
    start = done = back = entered
    if instruction.packets == 0:
        l2_share.ask(sm, instruction, sm.warps[entry.warp].block)
    for i in range(entry.requests):
        line, noted = words[row + 2 * i], words[row + 2 * i + 1]
        units = noted & UNITS
        account.ask(sm, line, units, needed(noted))
        if instruction.packets:
            done = max(done, _atomic(sm, words, instruction, i, line, units, now) + entry.extra)
            done = max(done, l2_atomic.update(sm, instruction, line, noted >> PARTLY, now) + int(instruction.latency))
        elif near:
            turn = i * (entry.cycles // sm.machine.global_request) // entry.requests if sm.machine.near_lines else i
            late = min(turn * sm.machine.hit_late, entry.extra)  # shared and local memory delay no line
            start = _load(sm, words, instruction, i, late, line, units, start)
            done = max(done, sm.load_store.arrived)
        elif instruction.cached == CONSTANTS + 1:
            start, there = _constants(sm, words, instruction, i, line, units, max(start, back))
            done = max(done, there + entry.extra)
            back = there - int(instruction.latency) if sm.machine.in_series else now
        else:
            done = max(done, far_load(sm, words, instruction.copies, _behind(sm, instruction, i), line, units, start))
    if near and instruction.copies == 0:
        tag_stage.take_load(sm, instruction, int(entry.requests), entered)
    sm.load_store.waited = start - now
    l2_share.end(sm)
    return done


@rarely
def _store_all(sm: Sm, words: Numbers, instruction: Row, row: int, entry: Entry, now: int) -> int:
    """Do the requests of a store, or of an atomic without a result; return when all have left the SM."""
    asked, now = now, tag_stage.enter(sm, now) if instruction.packets == 0 else now
    done, lines, parted, sectors = now, 0, 0, 0
    wait, apart = l2_channel.wait(sm, int(entry.requests)), slices.apart(sm, words, row, int(entry.requests))
    for i in range(entry.requests):
        line, noted = words[row + 2 * i], words[row + 2 * i + 1]
        account.ask(sm, line, noted & UNITS, needed(noted))
        goes, sectors = stores.passing(sm, words, instruction, line, noted), sectors + count_bits(noted & UNITS)
        lines += goes != 0
        if instruction.packets:
            done = max(done, _atomic(sm, words, instruction, i, line, noted & UNITS, now))
            l2_atomic.update(sm, instruction, line, noted >> PARTLY, now)
        else:
            stores.keep(sm, words, instruction, line, noted, goes, now)
            gone, alone = stores.send(sm, words, instruction, line, noted, goes, wait, apart, now)
            done, parted = max(done, gone), parted + alone
    if instruction.packets == 0:
        tag_stage.take_store(sm, instruction, sectors, now)
    end, room = now + entry.cycles, l2_atomic.room(sm, instruction, now) if lines and sm.machine.slices else now
    waits = lines and sm.machine.ways_apart and sm.launch.caches[FAR].sets
    left = l2_channel.free_for_stores(sm, parted, end) if waits else end
    sm.load_store.waited = max(left, room) - (asked + entry.cycles)
    return done


@rule
def _load(sm: Sm, words: Numbers, instruction: Row, i: int, late: int, line: int, units: int, start: int) -> int:
    """Do the i-th request of a load in the L1, in a cycle of its service; return when it was accepted.

    `arrived` says when its data is there.
    """
    late = 0 if generic_address.is_local(sm, instruction, line) else late
    if sm.machine.near_holds:
        account.held(sm, line, units)
        sm.load_store.arrived = start + instruction.latency + late
        return start
    cache = sm.launch.caches[NEAR]
    way = tags.way(words, cache, line)
    done, lost = tags.there(words, cache, way, line, units), tags.lost(words, cache, way, line, units)
    if instruction.anew:
        done, lost = 0, units
    account.held(sm, line, units & ~lost)
    if lost:
        start = max(start, words[sm.launch.misses])
        stores.claim(sm, words, way, line, start)
        if sm.ahead.postpones:
            done = late_lines.post(sm, words, way, line, units, lost, _behind(sm, instruction, i), start)
        else:
            done = max(done, far_load(sm, words, instruction.copies, _behind(sm, instruction, i), line, lost, start))
        tags.wait_for(sm, words, done)
        tags.fill(words, way, lost, done)
    elif done > start + instruction.latency and (sm.machine.joined or done >= late_lines.TICKET):
        done = late_lines.join(sm, words, way, line, units, done)
        if sm.machine.joined:
            tags.stored(words, way, units, done)
    if done > start + instruction.latency:
        tag_stage.comes_late(sm, line)
    tags.use(words, cache, way)
    sm.load_store.arrived = late_lines.arrived(sm, done, start + instruction.latency + late)
    return start


@rarely
def _atomic(sm: Sm, words: Numbers, instruction: Row, i: int, line: int, units: int, now: int) -> int:
    """Do the i-th request of an atomic in the L2; return when it has left the SM, or when the old values are there.

    The L1 drops the line. The L2 reads what it lacks, and has then been stored to.
    """
    near, cache = sm.launch.caches[NEAR], sm.launch.caches[FAR]
    if near.sets > 0:
        way = tags.way(words, near, line)
        if words[way + TAG] == line + 1:
            words[way + TAG] = words[way + USED] = 0
    loads = instruction.action == LOAD
    account.updated(sm, line, units)
    if cache.sets == 0:
        account.to_dram(sm, line, count_bits(units))
        gone = global_memory.commit_line(sm, line, count_bits(units), now)
        return gone + max(int(instruction.latency), sm.machine.memory_latency) if loads else gone
    gone = l2_channel.ported(sm, count_bits(units), count_bits(units), STORES, now)
    done = _of_far(sm, words, int(instruction.latency) + i * sm.machine.far_late, line, units, gone)
    if not sm.machine.far_holds:
        words[tags.way(words, cache, line) + DIRTY] |= units
    return done if loads else gone


@rule
def _behind(sm: Sm, instruction: Row, i: int) -> int:
    """Return the cycles of the i-th request of a load that hits the L2."""
    return int(sm.machine.far_latency[instruction.far] + i * sm.machine.far_late)


@on_demand
def fetch(sm: Sm, memory: Memory, instruction: Row, active: int) -> None:
    """Texture: find when the elements at a lane group's addresses in `scratch`, and those before them, are there.

    The cycle is in `outcome.ready`.
    """
    words, outcome = tags.words(sm, memory), sm.outcome
    outcome.requests = 0 if outcome.requests + LANES > REQUESTS else outcome.requests  # those before are on their way
    row, begin = requests.spare_row(sm), outcome.requests
    for lane in range(LANES):
        if (active >> lane) & 1:
            requests.note_byte(sm, words, row, begin, int(sm.scratch.address[lane]), WORD_BYTES, False)
    _read_all(sm, words, instruction, TEXTURES, begin)


@rarely
def read_scalar(sm: Sm, memory: Memory, instruction: Row) -> None:
    """Read a recorded scalar load's requests through its cache, now; `outcome.ready` says when the data is there."""
    _read_all(sm, tags.words(sm, memory), instruction, SCALARS, 0)


@rule
def _read_all(sm: Sm, words: Numbers, instruction: Row, which: int, begin: int) -> None:
    """Read the requests since `begin` through a read-only cache; `outcome.ready` says when their data is there."""
    row, outcome = requests.spare_row(sm), sm.outcome
    if begin == 0:
        account.serve(sm, instruction, words[row], 0)
    for i in range(begin, outcome.requests):
        line, units = words[row + 2 * i], words[row + 2 * i + 1] & UNITS
        account.ask(sm, line, units, needed(words[row + 2 * i + 1]))
        outcome.ready = max(outcome.ready, _read(sm, words, which, i, line, units, sm.now, False))


@rarely
def _read(sm: Sm, words: Numbers, which: int, i: int, line: int, units: int, now: int, next_has: bool) -> int:
    """Do the i-th request of a read in a read-only cache, or behind an absent one; return when its data is there.

    `next_has`: what it misses comes from the next cache of constants.
    """
    cache, behind = sm.launch.caches[which], sm.machine.read_far[which] + i * sm.machine.far_late
    if cache.sets == 0:
        return far_load(sm, words, False, behind, line, units, now)
    way = tags.way(words, cache, line)
    done, lost = tags.there(words, cache, way, line, units), tags.lost(words, cache, way, line, units)
    account.held(sm, line, units & ~lost)
    if lost:
        tags.clear(words, cache, way, line)
        came = now + sm.machine.next_constants if next_has else far_load(sm, words, False, behind, line, lost, now)
        done = max(done, came)
        tags.fill(words, way, lost, done)
    tags.use(words, cache, way)
    return max(done, now + sm.machine.read_latency[which])


@rule
def _constants(sm: Sm, words: Numbers, instruction: Row, i: int, line: int, units: int, start: int) -> tuple[int, int]:
    """Read sectors of a line; return when the last of them is asked for, and when it comes.

    In series each sector is asked for when the one before is back; other loads do not wait for the last one.
    """
    cache, asked, there = sm.launch.caches[CONSTANTS], start, start
    step = cache.sector if sm.machine.in_series else cache.stride
    for unit in range(0, cache.stride - WAY_HEAD, step):
        part = units & (((1 << int(step)) - 1) << unit)
        if part:
            asked = max(asked, there - int(instruction.latency)) if sm.machine.in_series else asked
            there = _read(sm, words, CONSTANTS, i, line, part, asked, next_constants.has(sm, words, instruction, line))
    return asked, there


@rarely
def far_load(sm: Sm, words: Numbers, copies: int, latency: int, line: int, units: int, start: int) -> int:
    """Return when these sectors of a line come from the L2, where a hit takes `latency` cycles, or from the DRAM.

    `copies`: they go to shared memory.
    """
    account.read(sm, line, units)
    if sm.launch.caches[FAR].sets == 0:
        account.from_dram(sm, line, count_bits(units))
        return global_memory.commit_line(sm, line, count_bits(units), start) + sm.machine.memory_latency
    gone = l2_channel.loaded(sm, copies, units, max(start, sm.load_store.updated) if sm.machine.slices else start)
    return from_l2(sm, words, latency, line, units, gone)


@rarely
def from_l2(sm: Sm, words: Numbers, latency: int, line: int, units: int, gone: int) -> int:
    """Return the same for sectors that have been asked for at `gone`."""
    away = l2_channel.distance(sm, line)
    latency += away
    account.goes_to(sm, away)
    if sm.launch.caches[PARTITION].sets == 0 or sm.launch.sharers > 1 or sm.machine.far_holds:
        return _of_far(sm, words, latency, line, units, gone)
    return _of_partition(sm, words, latency, line, units, gone)


@rarely
def _of_partition(sm: Sm, words: Numbers, latency: int, line: int, units: int, gone: int) -> int:
    """Return when these sectors, requested at `gone`, come from the part of the L2 near the SM, or from beyond it."""
    cache = sm.launch.caches[PARTITION]
    way = tags.way(words, cache, line)
    done, lost = tags.there(words, cache, way, line, units), tags.lost(words, cache, way, line, units)
    account.beyond(sm, line, units & lost)
    if lost:
        tags.clear(words, cache, way, line)
        done = max(done, _of_far(sm, words, latency + sm.machine.partition_late, line, lost, gone))
        tags.fill(words, way, lost, done)
    elif done == ARRIVED and _is_first(sm, words, line, units):
        done = _found(sm, words, way, line, units, gone + latency)
    tags.use(words, cache, way)
    return max(done, gone + latency)


@rarely
def _is_first(sm: Sm, words: Numbers, line: int, units: int) -> bool:
    """Tell whether no SM has asked the L2 for these sectors in this launch; from now on one has."""
    cache = sm.launch.caches[FAR]
    way = tags.way(words, cache, line)
    first = tags.there(words, cache, way, line, units) == ARRIVED
    if first:
        tags.stored(words, way, units, TOUCHED)
    return bool(first)


@rarely
def _of_far(sm: Sm, words: Numbers, latency: int, line: int, units: int, gone: int) -> int:
    """Return the same for the L2 as a whole, or for the DRAM."""
    if sm.machine.far_holds:
        return gone + latency
    cache = sm.launch.caches[FAR]
    way = tags.way(words, cache, line)
    l2_share.lose(sm, words, way, line, gone)
    done, lost = tags.there(words, cache, way, line, units), tags.lost(words, cache, way, line, units)
    if lost:
        alone = words[way + TAG] != line + 1 and not tags.holds(words, cache, line ^ 1)
        stores.drop(sm, words, way, line, gone)
        who = l2_share.brought(sm, line, count_bits(lost))
        if who == ITSELF:
            account.missed(sm, line, units & lost)
            done = max(done, dram.read(sm, line, count_bits(lost), alone, gone))
        elif who == NOW:
            account.brought_by_others(sm)
            done = max(done, dram.awaited(sm, line, gone))
        tags.fill(words, way, lost, max(done, gone + latency))
    elif done == ARRIVED and sm.launch.sharers > 1 and sm.launch.caches[PARTITION].sets:
        done = _found(sm, words, way, line, units, gone + latency)
    l2_share.use(sm, words, way, line, count_bits(lost))
    return max(done, gone + latency)


@rarely
def _found(sm: Sm, words: Numbers, way: int, line: int, units: int, there: int) -> int:
    """Return when sectors have come that the L2 has kept since before the launch, where those near the SM are `there`.

    The half of the L2 near the SM has them from then on.
    """
    done = TOUCHED
    if l2_share.crosses(sm, line, count_bits(units)):
        account.beyond(sm, line, units)
        done = there + int(sm.machine.partition_late)
    tags.stored(words, way, units, done)
    return int(done)
