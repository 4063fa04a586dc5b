"""Requests: the lines that an access asks caches for, and which 32 bytes of each.

Those of each queued access follow the tags (tags.py) in the memory array: two words for each line, its number, and a
mask of its sectors of 32 bytes. The upper half of the mask has, of a store to local memory, the sectors that it writes
in part; of one to global memory all sectors, if it writes fewer bytes than they have; of an atomic the work of the L2's
slices. The upper half of the lower half counts the bytes that lanes access, in each line once.
"""

from __future__ import annotations

import numpy as np

from gpusim.sm.jit.rule import count_bits, rarely, rule
from gpusim.sm.memory import queues
from gpusim.sm.memory.async_copy import async_copy
from gpusim.sm.memory.cache.declaration import REQUEST_ROW
from gpusim.sm.memory.global_memory import global_memory, side_by_side
from gpusim.sm.memory.global_memory.declaration import SEGMENTS
from gpusim.sm.memory.l2_atomic.l2_atomic import OF_LANES, PASSES
from gpusim.sm.memory.memory_access import generic_address
from gpusim.sm.records import Numbers, Row, Sm
from gpusim.sm.unit.capacities import LANES
from gpusim.sm.unit.opcodes import LOCAL_MEMORY, SHARED_MEMORY, STORE
from isa.memory import SECTOR_BYTES
from isa.program import WORD_BYTES

PARTLY = 32  # the first bit of those units
NEEDED = 16  # the first bit of the bytes needed
UNITS = (1 << NEEDED) - 1
WORDS = SECTOR_BYTES // WORD_BYTES  # of a unit: neighbouring lanes' words in local memory


@rule
def row_of(sm: Sm, y: int, place: int) -> int:
    """Return where the requests of the entry at that place of queue y lie."""
    return sm.launch.requests + (y * sm.machine.queue + place) * REQUEST_ROW


@rule
def spare_row(sm: Sm) -> int:
    """Return where the requests of what does not queue lie, and of what is being recorded."""
    return row_of(sm, sm.machine.queues, 0)


@rule
def needed(noted: int) -> int:
    """Return the bytes that lanes access of a request."""
    return noted >> NEEDED & UNITS


@rule
def note(sm: Sm, words: Numbers, instruction: Row, g: int, group: int, active: int) -> None:
    """Store a lane group's requests, after those of the groups before it."""
    y = queues.number(sm, sm.warps[g].scheduler, instruction.unit)
    row = spare_row(sm) if sm.trace_driven else row_of(sm, y, queues.behind(sm, y))
    local, begin = instruction.memory_kind == LOCAL_MEMORY, sm.outcome.requests
    if instruction.generic:
        near = generic_address.lanes_in(sm.scratch, LOCAL_MEMORY, active)
        far = active & ~near & ~generic_address.lanes_in(sm.scratch, SHARED_MEMORY, active)
        _gather(sm, instruction, far)
        _note_lanes(sm, words, row, instruction, group, far, False)
        _note_work(sm, words, row, begin, instruction, far)
        _note_lanes(sm, words, row, instruction, group, near, True)
        return
    active = async_copy.reading(sm, instruction, group, active) if instruction.copies else active
    if not local:
        _gather(sm, instruction, active)
    _note_lanes(sm, words, row, instruction, group, active, local)
    if not local:
        _note_work(sm, words, row, begin, instruction, active)


@rule
def _gather(sm: Sm, instruction: Row, active: int) -> None:
    """Put the lanes' addresses in global memory side by side, if they are taken to be so; nobody reads them behind."""
    if sm.machine.side_by_side and instruction.packets == 0 and instruction.distinct == 0:
        side_by_side.gather(sm, instruction, active)


@rule
def _note_work(sm: Sm, words: Numbers, row: int, begin: int, instruction: Row, active: int) -> None:
    """Note in the requests from `begin` on what an atomic asks of slices, or that a store leaves parts of sectors."""
    if instruction.packets and sm.machine.slices:
        _note_updates(sm, words, row, begin, active)
    elif instruction.action == STORE and instruction.packets == 0 and sm.machine.ways_apart:
        size = int(instruction.access_bytes)
        _note_parts(sm, words, row, begin, global_memory.places(sm, active, size) * size)


@rarely
def _note_updates(sm: Sm, words: Numbers, row: int, begin: int, active: int) -> None:
    """Note the passes of an atomic in each request from `begin` on, and their sectors, in place of parts."""
    global_memory.number_passes(sm, active)
    for at in range(begin, sm.outcome.requests):
        passes = sectors = lanes = 0
        for lane in range(LANES if _is_first(words, row, begin, at) else 0):
            mine = np.int64(sm.scratch.address[lane]) // sm.machine.line_bytes == words[row + 2 * at]
            if (active >> lane) & 1 and mine:
                lanes += 1
                if global_memory.begins_pass(sm, active, lane):
                    passes, sectors = passes + 1, sectors + global_memory.pass_size(sm.scratch, active, lane)[1]
        words[row + 2 * at + 1] |= (lanes << OF_LANES | passes << PASSES | sectors) << PARTLY


@rule
def _is_first(words: Numbers, row: int, begin: int, at: int) -> bool:
    """Tell whether no request before, from `begin` on, is for the same line: lanes of wide atomics go in groups."""
    found = begin
    while words[row + 2 * found] != words[row + 2 * at]:
        found += 1
    return bool(found == at)


@rarely
def _note_parts(sm: Sm, words: Numbers, row: int, begin: int, size: int) -> None:
    """Note whether a store of so many bytes fills the sectors of its requests from `begin` on."""
    units = 0
    for at in range(begin, sm.outcome.requests):
        units += count_bits(words[row + 2 * at + 1] & UNITS)
    for at in range(begin, sm.outcome.requests if units * SECTOR_BYTES > size else begin):
        words[row + 2 * at + 1] |= (words[row + 2 * at + 1] & UNITS) << PARTLY


@rule
def _note_lanes(sm: Sm, words: Numbers, row: int, instruction: Row, group: int, active: int, local: bool) -> None:
    of_lane = min(int(instruction.access_bytes), WORD_BYTES) if local else int(instruction.access_bytes)
    size = LANES if local else LANES // 2 if sm.machine.global_rule == SEGMENTS else LANES // instruction.words
    for offset in range(instruction.words if local else 1):
        for first in range(0, LANES, size):
            begin = sm.outcome.requests
            for lane in range(first, first + size):
                if (active >> lane) & 1:
                    byte = generic_address.byte(sm, group, lane, offset, local)
                    partly = local and instruction.action == STORE and _is_part(sm, group, active, lane, offset)
                    note_byte(sm, words, row, begin, byte, of_lane, partly)


@rarely
def _is_part(sm: Sm, group: int, active: int, lane: int, offset: int) -> bool:
    """Tell whether a lane stores to 32 bytes of local memory of which other lanes leave some as they are."""
    first = lane - lane % WORDS
    unit = generic_address.byte(sm, group, lane, offset, True) // SECTOR_BYTES
    for other in range(first, first + WORDS):
        if not (active >> other) & 1 or generic_address.byte(sm, group, other, offset, True) // SECTOR_BYTES != unit:
            return True
    return False


@rule
def note_byte(sm: Sm, words: Numbers, row: int, begin: int, byte: int, size: int, partly: bool) -> None:
    """Add the 32 bytes around `byte` to the request for its line among those from `begin` on, or to a new request.

    `size` bytes from there on are needed; those of several lanes are the same, or apart.
    """
    line, outcome = byte // sm.machine.line_bytes, sm.outcome
    at = begin
    while at < outcome.requests and words[row + 2 * at] != line:
        at += 1
    if at == outcome.requests:
        outcome.requests += 1
        words[row + 2 * at], words[row + 2 * at + 1] = line, 0
        for unit in range(sm.machine.line_bytes // SECTOR_BYTES):
            sm.scratch.touched[at, unit] = 0
    unit = byte % sm.machine.line_bytes // SECTOR_BYTES
    bit, touched = 1 << unit, ((1 << size) - 1) << byte % SECTOR_BYTES
    more = count_bits(touched & ~sm.scratch.touched[at, unit])
    sm.scratch.touched[at, unit] |= touched
    words[row + 2 * at + 1] = (words[row + 2 * at + 1] | bit | bit * partly << PARTLY) + (more << NEEDED)


@rule
def note_scalar(sm: Sm, words: Numbers, byte: int, size: int) -> None:
    """Store the requests of a scalar load of `size` bytes."""
    row = spare_row(sm)
    for unit in range(byte // SECTOR_BYTES, (byte + size - 1) // SECTOR_BYTES + 1):
        first, end = max(byte, unit * SECTOR_BYTES), min(byte + size, (unit + 1) * SECTOR_BYTES)
        note_byte(sm, words, row, 0, first, end - first, False)
