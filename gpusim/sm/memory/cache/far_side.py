"""Bytes that go between the L2 and an SM without its L1: what the copy engine moves."""

from __future__ import annotations

from gpusim.sm.jit.on_demand import on_demand
from gpusim.sm.jit.rule import rule
from gpusim.sm.memory.cache import cache, tags
from gpusim.sm.memory.l2_share import l2_share
from gpusim.sm.memory.l2_share.declaration import UNKNOWN
from gpusim.sm.records import Memory, Sm
from isa.memory import SECTOR_BYTES


@on_demand
def fetch(sm: Sm, memory: Memory, slot: int, low: int, high: int, now: int) -> int:
    """Ask for the bytes from place `low` up to before `high`, for that slot's block; return when they have come."""
    words, size, done = tags.words(sm, memory), sm.machine.line_bytes, now
    l2_share.begin(sm, slot)
    sm.load_store.from_others = UNKNOWN
    while low < high:
        end = min(high, low - low % size + size)
        units = _sectors(low % size, low % size + end - low)
        latency = sm.machine.engine_latency
        done = max(done, cache.far_load(sm, words, latency, low // size, units, now))
        low = end
    sm.load_store.stands = 0
    return int(done)


@on_demand
def send(sm: Sm, memory: Memory, slot: int, low: int, high: int, now: int) -> int:
    """Send the bytes from place `low` up to before `high`, of that slot's block; return when they have left the SM."""
    words, size, done = tags.words(sm, memory), sm.machine.line_bytes, now
    l2_share.begin(sm, slot)
    while low < high:
        end = min(high, low - low % size + size)
        done = max(done, cache.far_store(sm, words, low // size, _sectors(low % size, low % size + end - low), now))
        low = end
    sm.load_store.stands = 0
    return int(done)


@rule
def _sectors(low: int, high: int) -> int:
    """Return the sectors of a line that hold its bytes from `low` up to before `high`, as a mask."""
    return int((2 << (high - 1) // SECTOR_BYTES) - (1 << low // SECTOR_BYTES))
