"""What a piece of a copy does when it arrives: it writes its bytes, and tells its barrier how many they are.

Global memory is read when a load's piece arrives, shared memory when a store's does.
"""

from __future__ import annotations

import numpy as np

from gpusim.sm.account.stopping import stop
from gpusim.sm.effects import mbarrier, waiting
from gpusim.sm.jit.rule import rarely, rule
from gpusim.sm.memory.copy_engine import box, commands, updates
from gpusim.sm.memory.copy_engine.box import FINE
from gpusim.sm.memory.copy_engine.commands import LOAD, NEARBY, PREFETCH, STORE
from gpusim.sm.memory.copy_engine.tensor_map import TF32
from gpusim.sm.memory.lookahead import word_owner
from gpusim.sm.records import Copy, Memory, Sm
from gpusim.sm.state.fault import Fault
from isa.nvidia.rows.copies.bulk import UPDATES_NEARBY
from isa.program import WORD_BYTES

BYTE, BITS = 0xFF, 8
CONTESTED, OUT_OF_BUFFERS = int(Fault.CONTESTED), int(Fault.OUT_OF_BUFFERS)


@rarely
def land(sm: Sm, memory: Memory, copy: Copy, at: int, size: int) -> None:
    """Let so many bytes of a copy from `at` on arrive; `sm.fault` tells if they can't."""
    if copy.bulk == NEARBY and copy.code & UPDATES_NEARBY:
        updates.reduce_nearby(sm, memory, copy, at, size)
    elif copy.bulk == NEARBY:
        begin, own = box.unmixed(copy, at), copy.own_word + (copy.source + at) // WORD_BYTES
        for word in range(0, size, WORD_BYTES):
            memory[_word(copy, begin + word)] = memory[own + word // WORD_BYTES]
    elif copy.bulk != PREFETCH:
        box.find(copy, at, sm.engine)
        if copy.bulk != LOAD:
            _widen(sm)
        if not _far_bytes_are_good(sm, memory, copy, at, size):
            return
        if copy.bulk == LOAD and copy.blocks:
            _load_each(sm, memory, copy, at, size)
        elif copy.bulk == LOAD:
            _load(sm, memory, copy, at, size)
        elif copy.bulk == STORE:
            _store(sm, memory, copy, at, size)
        else:
            updates.reduce(sm, memory, copy, at, size)
    copy.landed += size
    if copy.barrier >= 0 and copy.blocks:
        _signal_each(sm, memory, copy, size)
    elif copy.barrier >= 0:
        _signal(sm, memory, copy, size)


@rarely
def _load_each(sm: Sm, memory: Memory, copy: Copy, at: int, size: int) -> None:
    """Write words at the same place of the shared memory of several blocks of the cluster."""
    own = copy.block_word
    for rank in range(sm.launch.cluster):
        if copy.blocks >> rank & 1:
            copy.block_word = own + (rank - sm.launch.rank) * sm.launch.peer
            _load(sm, memory, copy, at, size)
    copy.block_word = own


@rarely
def _signal_each(sm: Sm, memory: Memory, copy: Copy, size: int) -> None:
    """Tell the barriers at the same place of these blocks."""
    own = copy.barrier
    for rank in range(sm.launch.cluster):
        if copy.blocks >> rank & 1 and sm.fault.code == 0:
            copy.barrier = own + (rank - sm.launch.rank) * sm.launch.peer
            _signal(sm, memory, copy, size)
    copy.barrier = own


@rule
def _widen(sm: Sm) -> None:
    """Let a store write the last 16 bytes of a row of the tensor whole (seen on an H200), if its buffer has them."""
    engine = sm.engine
    high = engine.low + -(-(engine.high - engine.low) // FINE) * FINE
    if high > engine.high and commands.held(sm, engine.low, high - engine.low):
        engine.high = high


@rarely
def _signal(sm: Sm, memory: Memory, copy: Copy, size: int) -> None:
    """Tell the barrier of a copy that so many bytes have come."""
    found = mbarrier.signal(memory, copy.barrier, 0, size)
    if found == mbarrier.ENDS:
        waiting.ended(sm, memory, copy.warp, copy.pc, copy.barrier)
    elif found > mbarrier.ENDS:
        address = (copy.barrier - copy.block_word) * WORD_BYTES
        stop(sm, mbarrier.refusal(found), copy.warp, copy.pc, -1, address)


@rule
def _far_bytes_are_good(sm: Sm, memory: Memory, copy: Copy, at: int, size: int) -> bool:
    """Tell whether what a piece, whose row was found, accesses in global memory is in a buffer, and no other SM's."""
    low, high = max(sm.engine.low, sm.engine.row + at), min(sm.engine.high, sm.engine.row + at + size)
    if low >= high:
        return True
    if low < 0 or not commands.held(sm, low, high - low):
        return stop(sm, OUT_OF_BUFFERS, copy.warp, copy.pc, -1, low + sm.launch.window, high - low)
    if sm.ahead.owners and not word_owner.take_range(sm, memory, low, high, copy.bulk != LOAD):
        return stop(sm, CONTESTED, copy.warp, copy.pc)
    return True


@rule
def _word(copy: Copy, address: int) -> int:
    """Return the place in the memory array of a word of shared memory, from its address without a swizzle."""
    return int(copy.block_word + box.swizzled(address, copy.swizzle) // WORD_BYTES)


@rule
def _load(sm: Sm, memory: Memory, copy: Copy, at: int, size: int) -> None:
    """Write words of shared memory; what is beyond the tensor is filled. A piece lies in one row of the box."""
    begin, end = box.unmixed(copy, at), at + size
    low, high = sm.engine.low, sm.engine.high - FINE
    for first in range(at, end, FINE):
        place, to = sm.engine.row + first, _word(copy, begin + first - at)
        if place % WORD_BYTES == 0 and low <= place <= high and first + FINE <= end:
            _load_words(memory, to, place // WORD_BYTES, copy.type >= TF32)
        else:
            for word in range(first, min(first + FINE, end), WORD_BYTES):
                _load_bytes(sm, memory, copy, to + (word - first) // WORD_BYTES, word)


@rule
def _load_words(memory: Memory, to: int, place: int, rounds: bool) -> None:
    """Move four words; singles are rounded."""
    one, two = np.uint32(memory[place]), np.uint32(memory[place + 1])
    three, four = np.uint32(memory[place + 2]), np.uint32(memory[place + 3])
    memory[to] = rounded(one) if rounds else one
    memory[to + 1] = rounded(two) if rounds else two
    memory[to + 2] = rounded(three) if rounds else three
    memory[to + 3] = rounded(four) if rounds else four


@rarely
def _load_bytes(sm: Sm, memory: Memory, copy: Copy, to: int, at: int) -> None:
    """Write the word at `to` from the bytes from `at` on, of which the tensor may not have all."""
    low, high, place = sm.engine.low, sm.engine.high, sm.engine.row + at
    if place % WORD_BYTES == 0 and low <= place and place + WORD_BYTES <= high:
        held = memory[place // WORD_BYTES]
        memory[to] = rounded(np.uint32(held)) if copy.type >= TF32 else held
    else:
        found = 0
        for byte in range(WORD_BYTES):
            inside = low <= place + byte < high
            held_byte = byte_at(memory, place + byte) if inside else _fill(copy, at + byte)
            found |= held_byte << BITS * byte
        memory[to] = np.uint32(found)


@rule
def rounded(word: np.uint32) -> np.uint32:
    """Return a single as the nearest one with ten bits of fraction; of a NaN, 0x7fffe000 (seen on an H200)."""
    if np.uint32(word & np.uint32(0x7FFFFFFF)) > np.uint32(0x7F800000):
        return np.uint32(0x7FFFE000)
    return np.uint32((np.int64(word) + 0xFFF + (np.int64(word) >> 13 & 1)) & 0xFFFFE000)


@rule
def _fill(copy: Copy, at: int) -> int:
    """Return the byte that stands for one beyond the tensor: zero, or one of 0x7ff7 (seen on an H200)."""
    return (0x7F if at & 1 else 0xF7) if copy.fills else 0


@rule
def byte_at(memory: Memory, place: int) -> int:
    """Return a byte of memory."""
    return int(np.int64(memory[place // WORD_BYTES]) >> BITS * (place % WORD_BYTES) & BYTE)


@rule
def put_byte(memory: Memory, place: int, byte: int) -> None:
    """Set a byte of memory."""
    left, word = BITS * (place % WORD_BYTES), np.int64(memory[place // WORD_BYTES])
    memory[place // WORD_BYTES] = np.uint32(word & ~(BYTE << left) | byte << left)


@rule
def _store(sm: Sm, memory: Memory, copy: Copy, at: int, size: int) -> None:
    """Write words of global memory; what is beyond the tensor is left out."""
    low, high, begin = sm.engine.low, sm.engine.high, box.unmixed(copy, at)
    for word in range(at, at + size, WORD_BYTES):
        place, held = sm.engine.row + word, memory[_word(copy, begin + word - at)]
        if place % WORD_BYTES == 0 and low <= place and place + WORD_BYTES <= high:
            memory[place // WORD_BYTES] = held
        else:
            for byte in range(WORD_BYTES):
                if low <= place + byte < high:
                    put_byte(memory, place + byte, int(np.int64(held) >> BITS * byte & BYTE))
