"""Texture fetches: when a fetch issues, the sectors that hold its elements move through the memory channel.

A transaction of the texture path is a sector of 32 bytes. The lanes of a group that fetch from one sector share it. A
fetch goes past the load/store unit, so its sectors follow the transactions of all accesses that were served before it
issued. What a cache has is not moved: sm/memory/cache/cache.py asks tags, if there are any.
"""

from __future__ import annotations

from gpusim.sm.jit.rule import rarely, rule
from gpusim.sm.memory.account import account
from gpusim.sm.memory.cache import cache
from gpusim.sm.memory.global_memory import global_memory
from gpusim.sm.memory.texture import texel
from gpusim.sm.records import Memory, Row, Sm
from gpusim.sm.unit.capacities import LANES


@rarely
def ask(sm: Sm, memory: Memory, instruction: Row, active: int) -> None:
    """Count the sectors that a lane group fetches, at its coordinates in `scratch`, or ask the tags that there are."""
    if not instruction.cached and not sm.machine.fetch_cost:
        return
    for lane in range(LANES):
        sm.scratch.address[lane] = texel.texel(sm.scratch, instruction, lane)
    if instruction.cached:
        cache.fetch(sm, memory, instruction, active)
    else:
        sm.outcome.transactions += global_memory.sectors(sm, active)


@rule
def commit(sm: Sm, instruction: Row, now: int) -> int:
    """The channel moves the sectors of the fetch that issues; return the cycle at which the last has left."""
    if not instruction.cached:
        account.alone(sm, instruction, sm.outcome, 0)
    return global_memory.commit_each(sm, sm.outcome, sm.machine.fetch_cost, now)
