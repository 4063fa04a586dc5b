"""An SM that stands for others: its part of what the SMs bring to the L2 from the DRAM, and of what they send there.

Where one SM is simulated, or few, nobody else fills the L2 or empties it. So the SM brings its share of each buffer
(buffer / SMs); others bring the rest. They have brought it before, or do so now, in lockstep with the SM, which then
waits as they do (gpusim/launch/caches/lockstep.py). Stores to lines that the L2 does not keep from launch to launch go
on to the DRAM. All SMs have as much local memory as this one; loads of what does not fit the L2 come from the DRAM.
"""

from __future__ import annotations

import numpy as np

from gpusim.sm.jit.rule import count_bits, rarely, rule
from gpusim.sm.memory.account import account
from gpusim.sm.memory.account.declaration import BUFFERS
from gpusim.sm.memory.cache import tags
from gpusim.sm.memory.cache.declaration import FAR, SHARE_PARTS, WAY_HEAD
from gpusim.sm.memory.cache.tags import DIRTY, TAG, USED
from gpusim.sm.memory.dram import dram
from gpusim.sm.memory.l2_share.declaration import AXIS_SETS, BEFORE, ITSELF, NOW, PARTS, SHIFT, SPREADING, UNKNOWN
from gpusim.sm.memory.local_memory import LOCAL_BASE
from gpusim.sm.records import Block, Numbers, Row, Sm
from gpusim.sm.unit.capacities import WAVES
from isa.memory import SECTOR_BYTES

ROOM_PARTS = 1024  # of a line, in which the room taken counts
PART_SHIFT, MOST = 12, 127  # bits of a line's hash that say which of several SMs brings it
HALVES = 27  # and those that say in which halves of the L2 it is


@rarely
def place(sm: Sm, block: Block) -> None:
    """Choose along which axes a block just placed runs in lockstep: as often as its wave's blocks do in the mean."""
    wave = min(block.id // (sm.launch.resident * sm.launch.sms), WAVES - 1)
    _count_room(sm, block.id // (sm.launch.resident * sm.launch.sms))
    block.lockstep = 0
    for along in range(AXIS_SETS):
        sm.owed[along] += sm.launch.lockstep[along][wave]
        if 2 * sm.owed[along] >= PARTS:
            sm.owed[along] -= PARTS
            block.lockstep |= 1 << along


@rule
def _count_room(sm: Sm, wave: int) -> None:
    """Note at the first block of a wave what the wave before took of the L2."""
    if wave > sm.wave:
        sm.room_of_wave = (sm.room - sm.room_before) // (wave - sm.wave)
        sm.room_before, sm.wave = sm.room, wave


@rule
def begin(sm: Sm, slot: int) -> None:
    """Note whether the slot's block is of a later wave, and for how many it stands: fewer at the end of the grid."""
    launch, number = sm.launch, sm.blocks[slot].id
    sm.load_store.later = number >= launch.resident * launch.sms
    if launch.sharers > 1:
        blocks = launch.grid[0] * launch.grid[1] * launch.grid[2]
        sm.load_store.stands = min(launch.apart, blocks - (number - number % launch.apart))


@rule
def of_all(sm: Sm, cost: int) -> int:
    """Return the time of the L2 for a request that costs each SM so much of its share, if all have such a block."""
    blocks = sm.load_store.stands
    if blocks == 0:
        return cost
    return int(cost * blocks * (sm.machine.shared_parts // SHARE_PARTS) // sm.launch.sharers)


@rule
def ask(sm: Sm, instruction: Row, slot: int) -> None:
    """Note who else asks for the lines of a load of that slot's block, and when others bring them, if that is known."""
    sm.load_store.differing, sm.load_store.sharers = instruction.differing, instruction.sharers
    sm.load_store.waves_apart = instruction.waves_apart
    if sm.launch.sharers > 1 and instruction.shared_along > 0:
        sm.load_store.from_others = NOW if sm.blocks[slot].lockstep >> (instruction.shared_along - 1) & 1 else BEFORE


@rule
def end(sm: Sm) -> None:
    """Note that nobody is known to ask for the lines that are asked for next."""
    sm.load_store.from_others, sm.load_store.differing, sm.load_store.sharers = UNKNOWN, 0, 1


@rule
def brought(sm: Sm, line: int, units: int) -> int:
    """Return who brings these sectors of a line from the DRAM, which the SM's L2 lacks, or has brought them before.

    What an earlier wave has asked for is there, if the L2 has kept it; else one of those that ask for it now brings it.
    """
    found = sm.load_store.from_others
    if sm.launch.sharers <= 1:
        found = ITSELF
    elif found != BEFORE:
        found = ITSELF if _in_its_part(sm, line * sm.machine.line_bytes, units) else found
    elif is_lost(sm, line):
        found = ITSELF if (line * SPREADING >> PART_SHIFT & MOST) * sm.load_store.sharers <= MOST else NOW
    if found == ITSELF:
        account.from_dram(sm, line, units)
    return int(found)


@rarely
def crosses(sm: Sm, line: int, units: int) -> bool:
    """Tell whether the SM asks for a line that only the other half of the L2 has kept since the launches before.

    A line is in the half where it has its place, in that of the SM which stored it, and in that of the SM which asked
    for it in the launch before, if it has not been stored to since. Each is the other half as often as not; a block of
    the first wave is on the SM on which it was before. Others that are not simulated may have asked for unknown
    addresses in this launch.
    """
    unit, place = sm.load_store, int(sm.load_store.placed) - BUFFERS
    if unit.later == 0 or unit.from_others == BEFORE or place < 0:
        return False
    alone = sm.launch.sharers > 1 and unit.from_others == UNKNOWN
    if alone and not _in_its_part(sm, line * sm.machine.line_bytes, units):
        return False
    return bool((line * SPREADING >> HALVES ^ -int(sm.launch.side)) & 7 < (2 if sm.stored[place] else 1))


@rule
def keeps(sm: Sm) -> None:
    """Note that the launch stores to the buffer whose sectors were counted last."""
    if sm.load_store.placed >= BUFFERS:
        sm.stored[sm.load_store.placed - BUFFERS] = 1


@rarely
def is_lost(sm: Sm, line: int) -> bool:
    """Tell whether the L2 has lost a line since an earlier wave asked for it: all SMs have used more than it keeps."""
    launch = sm.launch
    used = sm.room_of_wave * stood_for(sm) // ROOM_PARTS * sm.load_store.waves_apart // PARTS
    return bool(used > launch.keeps and place_of(line) * (launch.loses - launch.keeps) < PARTS * (used - launch.keeps))


@rarely
def _in_its_part(sm: Sm, byte: int, units: int) -> bool:
    """Tell whether the SM has brought less than its share of the buffer at that byte."""
    i = account.buffer_of(sm, byte)
    if i < 0:
        return True
    buffer = sm.buffers[i]
    sm.brought[i] += units
    share = (buffer.end - buffer.start) // sm.launch.sharers
    return bool(sm.brought[i] * SECTOR_BYTES < share + sm.machine.line_bytes)


@rule
def stood_for(sm: Sm) -> int:
    """Return for how many SMs each simulated SM stands, itself included."""
    return max(1, int(sm.launch.sharers * sm.launch.apart // sm.launch.sms))


@rule
def _is_local(sm: Sm, line: int) -> bool:
    return bool(line * sm.machine.line_bytes >= LOCAL_BASE)


@rule
def use(sm: Sm, words: Numbers, way: int, line: int, new: int) -> None:
    """Mark a way of the L2 as the one used last, where so many of its sectors are new.

    Where the SM stands for others, only uses that take room count: those of a new line, and of local memory.
    """
    cache = sm.launch.caches[FAR]
    if new and sm.load_store.sharers:
        sm.room += new * SECTOR_BYTES * ROOM_PARTS // int(sm.machine.line_bytes * sm.load_store.sharers)
    if new or not sm.launch.passes_on or _is_local(sm, line):
        tags.use(words, cache, way)
    else:
        tags.renew(words, cache, way)


@rule
def _parts_since(sm: Sm, words: Numbers, way: int) -> int:
    """Return how much of the L2 all SMs have used since the way was used last, in 1/64 of its bytes."""
    cache = sm.launch.caches[FAR]
    used = (words[cache.first] - words[way + USED]) * stood_for(sm)  # the simulated SMs count together
    return int(used * PARTS // (cache.sets * cache.ways))


@rule
def _may_lose(sm: Sm, words: Numbers, way: int, line: int) -> bool:
    """Tell whether a way has that line, and the line is of local memory and may make room for that of other SMs."""
    return bool(sm.launch.passes_on and _is_local(sm, line) and words[way + TAG] == line + 1)


@rule
def lose(sm: Sm, words: Numbers, way: int, line: int, now: int) -> None:
    """Empty the way of a line of local memory if all SMs have used more of the L2 since than it holds.

    The L2 keeps as many of these lines as it holds, evenly spread (docs/units/l2-share.md); the others are lost.
    """
    if _may_lose(sm, words, way, line):
        since = _parts_since(sm, words, way)
        if since > PARTS and place_of(line) * since < PARTS * (since - PARTS):
            _write(sm, words, way, line, now)
            for unit in range(WAY_HEAD, sm.launch.caches[FAR].stride):
                words[way + unit] = 0


@rule
def store(sm: Sm, words: Numbers, way: int, line: int, units: int, now: int) -> None:
    """Send to the DRAM the sectors of a store to a buffer's line that the L2 does not keep.

    Of a line of local memory, its former content goes, with a probability that grows with the use of the L2 since.
    """
    if spilled(sm, line):
        before = words[way + DIRTY] if words[way + TAG] == line + 1 else 0
        send(sm, line, count_bits(units & ~before), now)
    elif _may_lose(sm, words, way, line) and place_of(line) < _parts_since(sm, words, way):
        _write(sm, words, way, line, now)


@rule
def _write(sm: Sm, words: Numbers, way: int, line: int, now: int) -> None:
    """Write to the DRAM what was stored in a way's line."""
    send(sm, line, count_bits(words[way + DIRTY]), now)
    words[way + DIRTY] = 0


@rarely
def send(sm: Sm, line: int, units: int, now: int) -> None:
    """Send so many sectors of a line to the DRAM, if anything goes there."""
    if sm.machine.far_holds:
        return
    account.to_dram(sm, line, units)
    dram.write(sm, line, units, now)


@rule
def spilled(sm: Sm, line: int) -> bool:
    """Tell whether what is stored in that line of a buffer goes on to the DRAM at once."""
    return bool(sm.launch.passes and place_of(line) < sm.launch.passes and not _is_local(sm, line))


@rule
def passed_on(sm: Sm) -> int:
    """Return when the DRAM has moved all that the SMs bring and pass on, where the L2 does not keep it.

    What a launch leaves there to be written the next one finds, so each has time for as much as it stores.
    """
    if sm.launch.passes == 0:
        return 0
    return int((sm.load_store.channel + sm.machine.channel_parts - 1) // sm.machine.channel_parts)


@rule
def place_of(line: int) -> np.int64:
    """Return a number below 64 for a line, so that each has a 64th of many lines."""
    return (np.int64(line) * SPREADING >> SHIFT) & (PARTS - 1)
