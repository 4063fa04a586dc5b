"""The requests of recorded accesses, where caches keep tags: which lines of memory each access of a stream asks for.

Rounds of a loop repeat, as events, while their lines move on. So a warp's requests are one list next to its stream, in
order of execution: two words each, as those of a queued access (requests.py), behind the caches in the memory array.
A block that takes another's script asks for the same lines, moved as its addresses are: in global memory by its place
in the grid, in local memory by the distance between the two block slots. Spilled registers have the same lines in each
round, so they are kept once, and events say where.
"""

from __future__ import annotations

from gpusim.sm.front.block_scheduler import block_scheduler
from gpusim.sm.jit.rule import rarely, rule
from gpusim.sm.memory import queues
from gpusim.sm.memory.cache import requests, tags
from gpusim.sm.memory.cache.declaration import TAGS
from gpusim.sm.records import Memory, Numbers, Row, Sm, Warp
from gpusim.sm.unit.capacities import LANES
from gpusim.sm.unit.opcodes import LOCAL_MEMORY
from isa.program import WORD_BYTES

WORDS = 2  # of a request


@rule
def kept(sm: Sm) -> bool:
    """Tell whether streams come with requests."""
    return bool(sm.machine.hits == TAGS)


@rarely
def keep(sm: Sm, memory: Memory, instruction: Row, start: int) -> bool:
    """Append the requests of the access that was just recorded to those of its warp; false: there is no room.

    `start`: where those begin. The same ones of a slot of local memory are not kept again.
    """
    words, row, size = tags.words(sm, memory), requests.spare_row(sm), WORDS * sm.outcome.requests
    first = sm.launch.recorded + sm.requested
    if instruction.spilled:
        before = instruction.kept - 1
        recorded = before >= start and before + size <= sm.requested  # behind those words are none, or old ones
        if recorded and _equal(words, row, sm.launch.recorded + before, size):
            sm.outcome.place = instruction.kept - start
            return True
        instruction.kept = sm.requested + 1
        sm.outcome.place = instruction.kept - start
    if first + size > sm.launch.recorded_end:
        return False
    for i in range(size):
        words[first + i] = words[row + i]
    sm.requested += size
    return True


@rule
def _equal(words: Numbers, one: int, other: int, size: int) -> bool:
    for i in range(size):  # noqa: SIM110  (compiled)
        if words[one + i] != words[other + i]:
            return False
    return True


@rule
def begin(sm: Sm, slot: int) -> None:
    """The slot's block, whose script is known, has been placed: its warps begin at the start of their requests."""
    block, grid = sm.blocks[slot], sm.launch.grid
    script = sm.scripts[block.script]
    block.away[0] = block.id % grid[0] - script.block % grid[0]
    block.away[1] = block.id // grid[0] % grid[1] - script.block // grid[0] % grid[1]
    block.away[2] = block.id // (grid[0] * grid[1]) - script.block // (grid[0] * grid[1])
    for index in range(sm.launch.warps):
        warp = sm.warps[block_scheduler.warp_slot(sm, slot, index)]
        warp.request = sm.launch.recorded + script.requests[index]


@rarely
def again(sm: Sm, memory: Memory, warp: Warp, instruction: Row) -> None:
    """Store the requests of the warp's access in the queue entry that its instruction will take, if it takes one."""
    words, row = tags.words(sm, memory), requests.spare_row(sm)
    first, away = warp.request, moved(sm, warp, instruction)
    if sm.outcome.place:
        script = sm.scripts[sm.blocks[warp.block].script]
        first = sm.launch.recorded + script.requests[warp.index] + sm.outcome.place - 1
    if instruction.pipe < 0:
        y = queues.number(sm, warp.scheduler, instruction.unit)
        row = requests.row_of(sm, y, queues.behind(sm, y))
    for i in range(0, WORDS * sm.outcome.requests, WORDS):
        words[row + i], words[row + i + 1] = words[first + i] + away, words[first + i + 1]
    if first == warp.request:
        warp.request += WORDS * sm.outcome.requests


@rule
def moved(sm: Sm, warp: Warp, instruction: Row) -> int:
    """Return how many lines the block's accesses are away from the recorded ones."""
    block = sm.blocks[warp.block]
    if instruction.memory_kind == LOCAL_MEMORY:
        own = block_scheduler.warp_slot(sm, warp.block, warp.index)
        slots = own - block_scheduler.warp_slot(sm, sm.scripts[block.script].slot, warp.index)
        return int(slots * local_bytes(sm) // sm.machine.line_bytes)
    step, away = sm.block_step[instruction.feed], block.away
    return int(signed(step[0] * away[0] + step[1] * away[1] + step[2] * away[2]) // sm.machine.line_bytes)


@rule
def local_bytes(sm: Sm) -> int:
    """Return the bytes of local memory of a warp."""
    return int(sm.machine.groups * sm.launch.local_words * LANES * WORD_BYTES)


@rule
def signed(distance: int) -> int:
    """Return a distance between 32-bit addresses as a signed number."""
    return ((distance + (1 << 31)) & 0xFFFFFFFF) - (1 << 31)
