"""Bytes that go between the L2 and an SM without its L1: what the copy engine moves."""

from __future__ import annotations

from gpusim.sm.jit.on_demand import on_demand
from gpusim.sm.jit.rule import count_bits, rule
from gpusim.sm.memory.account import account
from gpusim.sm.memory.cache import cache, stores, tags
from gpusim.sm.memory.cache.declaration import FAR
from gpusim.sm.memory.global_memory import global_memory
from gpusim.sm.memory.l2_channel import l2_channel
from gpusim.sm.memory.l2_share import l2_share
from gpusim.sm.memory.l2_share.declaration import UNKNOWN
from gpusim.sm.records import Memory, Numbers, Row, Sm
from isa.memory import SECTOR_BYTES


@on_demand
def fetch(sm: Sm, memory: Memory, instruction: Row, slot: int, low: int, high: int, now: int) -> int:
    """Ask for the bytes from place `low` up to before `high`, for that slot's block; return when they have come."""
    words, size, done = tags.words(sm, memory), sm.machine.line_bytes, now
    l2_share.begin(sm, slot)
    account.begin(sm, instruction)
    sm.load_store.from_others, sm.load_store.differing = UNKNOWN, instruction.differing
    while low < high:
        end = min(high, low - low % size + size)
        units = _sectors(low % size, low % size + end - low)
        account.needed(sm, low // size, end - low)
        done = max(done, _fetch(sm, words, low // size, units, now))
        low = end
    sm.load_store.stands = sm.load_store.differing = 0
    return int(done)


@rule
def _fetch(sm: Sm, words: Numbers, line: int, units: int, now: int) -> int:
    """Ask for sectors of a line; return when they have come."""
    latency = sm.machine.engine_latency
    account.read(sm, line, units)
    if sm.launch.caches[FAR].sets == 0:
        account.from_dram(sm, line, count_bits(units))
        return global_memory.commit_line(sm, line, count_bits(units), now) + sm.machine.memory_latency
    gone = l2_channel.loaded_by_engine(sm, units, now)
    return int(cache.from_l2(sm, words, latency, line, units, gone))


@on_demand
def send(sm: Sm, memory: Memory, instruction: Row, slot: int, low: int, high: int, now: int) -> int:
    """Send the bytes from place `low` up to before `high`, of that slot's block; return when they have left the SM."""
    words, size, done = tags.words(sm, memory), sm.machine.line_bytes, now
    l2_share.begin(sm, slot)
    account.begin(sm, instruction)
    while low < high:
        end = min(high, low - low % size + size)
        account.needed(sm, low // size, end - low)
        done = max(done, stores.far_store(sm, words, low // size, _sectors(low % size, low % size + end - low), now, 0))
        low = end
    sm.load_store.stands = 0
    return int(done)


@rule
def _sectors(low: int, high: int) -> int:
    """Return the sectors of a line that hold its bytes from `low` up to before `high`, as a mask."""
    return int((2 << (high - 1) // SECTOR_BYTES) - (1 << low // SECTOR_BYTES))
