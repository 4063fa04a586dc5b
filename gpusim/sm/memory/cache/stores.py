"""Stores as the caches keep them: what goes to the L2 and stays there, and what a line takes along that is evicted."""

from __future__ import annotations

from gpusim.sm.jit.rule import count_bits, rarely, rule
from gpusim.sm.memory.account import account
from gpusim.sm.memory.cache import tags
from gpusim.sm.memory.cache.declaration import BACK, COPIED, FAR, NEAR
from gpusim.sm.memory.cache.requests import PARTLY, UNITS
from gpusim.sm.memory.cache.tags import DIRTY, TAG, USED
from gpusim.sm.memory.global_memory import global_memory
from gpusim.sm.memory.l2_atomic import l2_atomic
from gpusim.sm.memory.l2_channel import held_stores, l2_channel, slices
from gpusim.sm.memory.l2_channel.declaration import STORES
from gpusim.sm.memory.l2_share import l2_share
from gpusim.sm.memory.memory_access import generic_address
from gpusim.sm.records import Numbers, Row, Sm


@rule
def passing(sm: Sm, words: Numbers, instruction: Row, line: int, noted: int) -> int:
    """Return the sectors of a store that the L1 does not keep: of local memory those that it would hold in part."""
    if sm.machine.keeps_stores != BACK or not _stays(sm, instruction, line):
        return noted & UNITS
    near, partly = sm.launch.caches[NEAR], noted >> PARTLY
    return tags.lost(words, near, tags.way(words, near, line), line, partly) & partly


@rule
def _stays(sm: Sm, instruction: Row, line: int) -> bool:
    """Tell whether what is stored in a line stays in the L1."""
    kept = sm.machine.keeps_stores and sm.launch.caches[NEAR].sets > 0
    return bool(kept and generic_address.is_local(sm, instruction, line))


@rule
def keep(sm: Sm, words: Numbers, instruction: Row, line: int, noted: int, goes: int, now: int) -> None:
    """Do a store's request in the L1, of which some sectors go to the L2."""
    units, partly, near = noted & UNITS, noted >> PARTLY, sm.launch.caches[NEAR]
    if near.sets == 0:
        return
    way, kept = tags.way(words, near, line), units & ~goes
    account.held(sm, line, units & ~tags.lost(words, near, way, line, units))
    if sm.machine.keeps_stores == COPIED and _stays(sm, instruction, line):
        kept = units & ~(tags.lost(words, near, way, line, partly) & partly)
    if kept:
        claim(sm, words, way, line, now)
        tags.fill(words, way, kept, now + 1)
        words[way + DIRTY] |= units & ~goes
        tags.use(words, near, way)
    local = generic_address.is_local(sm, instruction, line)
    if words[way + TAG] == line + 1 and sm.machine.drops_stored and not local:
        words[way + TAG] = words[way + USED] = 0


@rule
def send(
    sm: Sm, words: Numbers, instruction: Row, line: int, noted: int, goes: int, wait: int, apart: bool, now: int
) -> tuple[int, bool]:
    """Send the sectors of a store's request that go to the L2, to be joined there; return when they have left.

    And whether the L2 takes longer, as they are parts of sectors which join no others.
    """
    gone = far_store(sm, words, line, goes, now, wait) if goes else now
    alone = goes != 0 and noted >> PARTLY != 0 and sm.load_store.joined == 0
    sent = count_bits(sm.load_store.sent) if goes else 0
    l2_atomic.store(sm, instruction, line, sent, alone, gone)
    if apart:
        slices.store(sm, line, sent, alone, now)
    return gone, alone


@rarely
def far_store(sm: Sm, words: Numbers, line: int, units: int, now: int, wait: int) -> int:
    """Write sectors of a line to the L2, where they stay; return when they have left the SM.

    They wait so many cycles at least for stores that join them.
    """
    cache = sm.launch.caches[FAR]
    if cache.sets == 0:
        account.written(sm, line, units)
        account.to_dram(sm, line, count_bits(units))
        return global_memory.commit_line(sm, line, count_bits(units), now)
    at = held_stores.find(sm, line, now)
    sm.load_store.joined = 0 if at < 0 else 1
    sent = units if at < 0 else units & ~sm.load_store.held_sectors[at]
    sm.load_store.sent = sent
    if sent:
        account.written(sm, line, sent)
        l2_share.keeps(sm)
    gone = l2_channel.ported(sm, count_bits(sent), count_bits(sent), STORES, now)
    held_stores.hold(sm, at, line, units, max(gone, now + wait))
    way = tags.way(words, cache, line)
    l2_share.store(sm, words, way, line, units, gone)
    new = words[way + TAG] != line + 1
    drop(sm, words, way, line, gone)
    tags.stored(words, way, units if new else sent, gone)  # what the L2 has lost since comes again
    words[way + DIRTY] |= units
    l2_share.use(sm, words, way, line, count_bits(units) if new else 0)
    return gone


@rule
def claim(sm: Sm, words: Numbers, way: int, line: int, now: int) -> None:
    """Evict the line in the way of the L1 for this line; stored data of the former line goes to the L2."""
    if words[way + TAG] != line + 1 and words[way + DIRTY]:
        far_store(sm, words, words[way + TAG] - 1, words[way + DIRTY], now, 0)
    tags.clear(words, sm.launch.caches[NEAR], way, line)


@rule
def drop(sm: Sm, words: Numbers, way: int, line: int, now: int) -> None:
    """Evict the line in a way of the L2 likewise; stored data of the former line goes to the DRAM."""
    if words[way + TAG] != line + 1 and words[way + DIRTY] and not l2_share.spilled(sm, words[way + TAG] - 1):
        l2_share.send(sm, words[way + TAG] - 1, count_bits(words[way + DIRTY]), now)
    tags.clear(words, sm.launch.caches[FAR], way, line)
