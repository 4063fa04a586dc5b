"""Stores as the caches keep them: what goes to the L2 and stays there, and what a line takes along that is evicted."""

from __future__ import annotations

from gpusim.sm.jit.rule import count_bits, rarely, rule
from gpusim.sm.memory.account import account
from gpusim.sm.memory.cache import tags
from gpusim.sm.memory.cache.declaration import FAR, NEAR
from gpusim.sm.memory.cache.tags import DIRTY, TAG
from gpusim.sm.memory.global_memory import global_memory
from gpusim.sm.memory.l2_channel import held_stores, l2_channel
from gpusim.sm.memory.l2_channel.declaration import STORES
from gpusim.sm.memory.l2_share import l2_share
from gpusim.sm.records import Numbers, Sm


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
