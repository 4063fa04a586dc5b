"""Generic addresses of machine code: each lane's says whether it is in shared, local or global memory (windows).

The lanes in each memory make an access of that memory: the load/store unit is busy with one after the other, but a
result is there with the slowest of them, as if they had begun together (measured on an H200, docs/sass.md). Where
caches keep tags, local memory asks them with global memory. Atomics on local memory go as its stores (a guess).
"""

from __future__ import annotations

import numpy as np

from gpusim.sm.jit.on_demand import on_demand
from gpusim.sm.jit.rule import rarely, rule
from gpusim.sm.memory import peers
from gpusim.sm.records import LaunchNumbers, Row, Scratch, Sm, Word
from gpusim.sm.unit.capacities import LANES
from gpusim.sm.unit.opcodes import LOCAL_MEMORY, SHARED_MEMORY
from isa.operands.windows import (
    LOCAL_PLACE,
    LOCAL_TOP,
    PEER_BYTES,
    SHARED_PLACE,
    SHARED_TOP,
    WINDOW_BITS,
    WINDOW_BYTES,
)
from isa.program import WORD_BYTES

TOPS = np.uint64(SHARED_TOP), np.uint64(LOCAL_TOP)
BITS, INSIDE = np.uint64(WINDOW_BITS), np.uint64(WINDOW_BYTES - 1)
SHARED, LOCAL = np.uint64(SHARED_PLACE), np.uint64(LOCAL_PLACE)
NEAR_SHARED, NEAR_LOCAL = 1, 2  # in the column `near`


@rarely
def find(scratch: Scratch, lane: int, whole: np.uint64, launch: LaunchNumbers) -> None:
    """Set the place of a lane's address; `flag` is not 0 if it lies in no window.

    The window of shared memory is one for each rank of the cluster.
    """
    top = whole >> BITS
    if top == TOPS[0] + np.uint64(launch.rank):
        scratch.address[lane], scratch.flag[lane] = np.uint32(SHARED | (whole & INSIDE)), np.uint32(0)
    elif TOPS[0] <= top < TOPS[0] + np.uint64(launch.cluster):
        within, first = whole & INSIDE, (top - TOPS[0] + np.uint64(1)) * np.uint64(PEER_BYTES)
        scratch.address[lane] = np.uint32(SHARED | first | (within & (np.uint64(PEER_BYTES - 1))))
        scratch.flag[lane] = np.uint32(within >= PEER_BYTES)
    elif top == TOPS[1]:
        scratch.address[lane], scratch.flag[lane] = np.uint32(LOCAL | (whole & INSIDE)), np.uint32(0)
    elif scratch.address[lane] >= SHARED_PLACE:
        scratch.flag[lane] = np.uint32(1)


@rule
def is_near(instruction: Row, address: Word) -> bool:
    """Tell whether a lane's access is in shared or local memory."""
    return bool(instruction.generic and address >= SHARED_PLACE)


@rule
def within(sm: Sm, start: Word, end: Word) -> bool:
    """Tell whether the places from `start` up to `end` lie in the block's shared, or the thread's local, memory."""
    if start >= LOCAL_PLACE:
        return bool(end <= LOCAL_PLACE + WORD_BYTES * sm.launch.local_words)
    begin = SHARED_PLACE + (start - SHARED_PLACE) // PEER_BYTES * PEER_BYTES if sm.launch.cluster > 1 else SHARED_PLACE
    return bool(end <= begin + WORD_BYTES * sm.launch.shared_words)


@rule
def place(sm: Sm, g: int, group: int, lane: int) -> np.int64:
    """Return the index in the memory array of the first word of a lane's access in shared or local memory."""
    address, launch = np.int64(sm.scratch.address[lane]), sm.launch
    if address >= LOCAL_PLACE:
        return launch.local_word + (group * launch.local_words + (address - LOCAL_PLACE) // WORD_BYTES) * LANES + lane
    if is_peer(sm, address):
        return np.int64(_place_at_peer(sm, g, int(address)))
    return launch.shared_word + sm.warps[g].block * launch.shared_words + (address - SHARED_PLACE) // WORD_BYTES


@on_demand
def _place_at_peer(sm: Sm, g: int, address: int) -> int:
    """Return the same of a place in the shared memory of another block of the cluster."""
    rank, byte = (address - SHARED_PLACE) // PEER_BYTES - 1, (address - SHARED_PLACE) % PEER_BYTES
    return int(peers.shared_word(sm, int(sm.warps[g].block), np.int64(rank)) + byte // WORD_BYTES)


@rule
def is_peer(sm: Sm, address: np.int64) -> bool:
    """Tell whether a place is in the shared memory of another block of the cluster."""
    return bool(sm.launch.cluster > 1 and SHARED_PLACE + PEER_BYTES <= address < LOCAL_PLACE)


@rarely
def peer_lanes(sm: Sm, lanes: int) -> int:
    """Return the mask of those lanes whose places are in the shared memory of other blocks of the cluster."""
    found = 0
    for lane in range(LANES):
        if (lanes >> lane) & 1 and is_peer(sm, np.int64(sm.scratch.address[lane])):
            found |= 1 << lane
    return found


@rule
def lanes_in(scratch: Scratch, kind: int, active: int) -> int:
    """Return the mask of the active lanes whose places lie in that memory."""
    found = 0
    for lane in range(LANES):
        address = scratch.address[lane]
        here = SHARED_MEMORY if SHARED_PLACE <= address < LOCAL_PLACE else LOCAL_MEMORY
        if (active >> lane) & 1 and address >= SHARED_PLACE and here == kind:
            found |= 1 << lane
    return found


@rarely
def done(sm: Sm, instruction: Row, active: int) -> int:
    """Return the mask of the active lanes whose memory does an atomic of this kind."""
    left = active
    if not instruction.near & NEAR_SHARED:
        left &= ~lanes_in(sm.scratch, SHARED_MEMORY, active)
    if not instruction.near & NEAR_LOCAL:
        left &= ~lanes_in(sm.scratch, LOCAL_MEMORY, active)
    return left


@rule
def byte(sm: Sm, group: int, lane: int, offset: int, local: bool) -> int:
    """Return the first byte that a lane accesses; local memory follows global memory, word by word across the lanes."""
    byte = np.int64(sm.scratch.address[lane])
    if local:
        byte -= LOCAL_PLACE if byte >= LOCAL_PLACE else 0
        word = group * sm.launch.local_words + byte // 4 + offset
        return sm.launch.local_base + 4 * int(word * LANES + lane)
    return int(byte)


@rule
def is_local(sm: Sm, instruction: Row, line: int) -> bool:
    """Tell whether a request is of local memory."""
    if instruction.generic:
        return bool(line * sm.machine.line_bytes >= sm.launch.local_base)
    return bool(instruction.memory_kind == LOCAL_MEMORY)
