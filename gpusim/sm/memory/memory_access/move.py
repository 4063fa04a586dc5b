"""What memory accesses move: words, parts of words, and the updates of atomics, in program order.

Lanes that access the same word follow each other.
"""

from __future__ import annotations

import numpy as np

from gpusim.sm.jit.lane_functions import pair, put_pair, update_pair, update_word
from gpusim.sm.jit.on_demand import on_demand
from gpusim.sm.jit.rule import rule
from gpusim.sm.memory.memory_access import generic_address
from gpusim.sm.memory.memory_access.declaration import HALF_WORDS
from gpusim.sm.records import Memory, Numbers, Row, Sm, Table, Word
from gpusim.sm.unit.capacities import LANES
from gpusim.sm.unit.opcodes import LOAD, LOCAL_MEMORY, SHARED_MEMORY, UPDATES
from isa.operands.windows import LOCAL_PLACE
from isa.program import WORD_BYTES
from isa.values.atomic import compare_and_swap

LOW_WORD = np.uint64(0xFFFFFFFF)
UPPER = np.uint64(32)
BY_TRUTH = 2  # in `tested`
SWAP = UPDATES.index(compare_and_swap)


@rule
def move(sm: Sm, instruction: Row, memory: Memory, g: int, group: int, active: int) -> None:
    """Move the data of a lane group's access, at the addresses in `scratch`."""
    if instruction.update >= 0:
        update(sm, instruction, memory, g, group, active)
    elif instruction.access_bytes < WORD_BYTES:
        move_parts(sm, instruction, memory, g, group, active)
    else:
        _words(sm, instruction, memory, g, group, active)


@rule
def _words(sm: Sm, instruction: Row, memory: Memory, g: int, group: int, active: int) -> None:
    loads, registers = instruction.action == LOAD, sm.lanes[group].registers
    register = _first(instruction, instruction.destination if loads else instruction.source[0])
    if loads and register < 0 and instruction.words <= HALF_WORDS:
        return
    if instruction.known:
        for offset in range(instruction.words):
            _set_all(registers, register + offset, constant_word(instruction, offset), active)
        return
    _find_places(sm, instruction, g, group, active)
    for offset in range(instruction.words):
        if offset:
            _next_places(sm, instruction)
        if offset == HALF_WORDS:
            register = _first(instruction, instruction.upper) - HALF_WORDS
        if register + offset >= 0 and loads:
            _load(registers, register + offset, memory, sm.scratch.line, active)
        elif register + offset >= 0:
            _store(registers, register + offset, memory, sm.scratch.line, active)
        elif not loads:
            _store_constant(constant_word(instruction, offset % HALF_WORDS), memory, sm.scratch.line, active)


@rule
def _first(instruction: Row, register: int) -> int:
    """Return a register; of none a number so low that those behind it are none either."""
    return int(register) if register >= 0 else -2 * int(instruction.words)


@rule
def _set_all(registers: Table, register: int, word: Word, active: int) -> None:
    for lane in range(LANES):
        if (active >> lane) & 1:
            registers[register, lane] = word


@rule
def _load(registers: Table, register: int, memory: Memory, places: Numbers, active: int) -> None:
    for lane in range(LANES):
        if (active >> lane) & 1:
            registers[register, lane] = memory[places[lane]]


@rule
def _store(registers: Table, register: int, memory: Memory, places: Numbers, active: int) -> None:
    for lane in range(LANES):
        if (active >> lane) & 1:
            memory[places[lane]] = registers[register, lane]


@rule
def _store_constant(word: Word, memory: Memory, places: Numbers, active: int) -> None:
    for lane in range(LANES):
        if (active >> lane) & 1:
            memory[places[lane]] = word


@on_demand
def move_parts(sm: Sm, instruction: Row, memory: Memory, g: int, group: int, active: int) -> None:
    """Load or store a byte or half a word in each lane."""
    registers, bits = sm.lanes[group].registers, 8 * np.int64(instruction.access_bytes)
    mask = (np.int64(1) << bits) - 1
    for lane in range(LANES):
        if (active >> lane) & 1:
            word = place(sm, instruction, g, group, lane)
            left = 8 * (np.int64(sm.scratch.address[lane]) % WORD_BYTES)
            if instruction.action != LOAD:
                part = np.int64(_of_lane(sm, instruction, group, 0, lane)) & mask
                memory[word] = np.uint32((np.int64(memory[word]) & ~(mask << left)) | (part << left))
            elif instruction.destination >= 0:
                held = np.int64(constant_word(instruction, 0)) if instruction.known else np.int64(memory[word]) >> left
                part = held & mask
                if instruction.signed_load and part >> (bits - 1):
                    part |= 0xFFFFFFFF ^ mask
                registers[instruction.destination, lane] = np.uint32(part)


@on_demand
def update(sm: Sm, instruction: Row, memory: Memory, g: int, group: int, active: int) -> None:
    """Let each lane in turn update a word, or two of them; lanes whose memory can't do it leave all as it is."""
    able = generic_address.done(sm, instruction, active) if instruction.generic else active
    swapped = 0
    for lane in range(LANES):
        if (able >> lane) & 1:
            sm.scratch.lane = lane
            word = place(sm, instruction, g, group, lane)
            if instruction.words == 1:
                swapped |= _update_word(sm, instruction, memory, group, word) << lane
            elif instruction.words == 2 or _is_expected(sm, instruction, memory, group, word):
                for half in range(instruction.words // 2):
                    swapped |= _update_pair(sm, instruction, memory, group, word, half) << lane
            else:
                _keep(sm, instruction, memory, group, word)
    if instruction.predicate >= 0:  # the memory has done it, or swapped
        held = sm.lanes[group].predicates[instruction.predicate]
        told = swapped if instruction.tested & BY_TRUTH else able
        sm.lanes[group].predicates[instruction.predicate] = (held & ~active) | told


@rule
def _update_word(sm: Sm, instruction: Row, memory: Memory, group: int, word: int) -> int:
    """Update a word; return whether it was what a swap expects."""
    scratch, lane = sm.scratch, sm.scratch.lane
    scratch.a[0, lane] = _of_lane(sm, instruction, group, 0, lane)
    scratch.b[0, lane] = _of_lane(sm, instruction, group, 1, lane)
    scratch.c[0, lane] = memory[word]
    update_word(instruction.update, sm)
    memory[word] = scratch.d[0, lane]
    swapped = 1 if scratch.c[0, lane] == scratch.a[0, lane] else 0
    if instruction.destination >= 0:
        old = np.uint32(swapped) if instruction.tested else scratch.c[0, lane]
        sm.lanes[group].registers[instruction.destination, lane] = old
    return swapped


@rule
def _update_pair(sm: Sm, instruction: Row, memory: Memory, group: int, first: int, half: int) -> int:
    """Update two words; return whether they were what a swap expects."""
    scratch, lane, word = sm.scratch, sm.scratch.lane, first + 2 * half
    put_pair(scratch.a, lane, _pair_of_lane(sm, instruction, group, 0, lane, half))
    put_pair(scratch.b, lane, _pair_of_lane(sm, instruction, group, 1, lane, half))
    scratch.c[0, lane], scratch.c[1, lane] = memory[word], memory[word + 1]
    update_pair(instruction.update, sm)
    memory[word], memory[word + 1] = scratch.d[0, lane], scratch.d[1, lane]
    swapped = 1 if pair(scratch.c, lane) == pair(scratch.a, lane) else 0
    if instruction.destination >= 0:
        old = np.uint64(swapped) if instruction.tested else pair(scratch.c, lane)
        registers = sm.lanes[group].registers
        registers[instruction.destination + 2 * half, lane] = np.uint32(old & LOW_WORD)
        registers[instruction.destination + 2 * half + 1, lane] = np.uint32(old >> UPPER)
    return swapped


@rule
def _is_expected(sm: Sm, instruction: Row, memory: Memory, group: int, word: int) -> bool:
    """Tell whether an atomic of 128 bits changes them: a swap does where all are those that it expects."""
    if instruction.update != SWAP:
        return True
    same = True
    for half in range(2):
        held = np.uint64(memory[word + 2 * half]) | np.uint64(memory[word + 2 * half + 1]) << UPPER
        same = same and held == _pair_of_lane(sm, instruction, group, 0, sm.scratch.lane, half)
    return same


@rule
def _keep(sm: Sm, instruction: Row, memory: Memory, group: int, word: int) -> None:
    """Hand a lane the 128 bits that its swap leaves alone."""
    if instruction.destination >= 0:
        for offset in range(instruction.words):
            sm.lanes[group].registers[instruction.destination + offset, sm.scratch.lane] = memory[word + offset]


@rule
def _of_lane(sm: Sm, instruction: Row, group: int, position: int, lane: int) -> Word:
    """Return the source at that position in one lane."""
    source = instruction.source[position]
    return sm.lanes[group].registers[source, lane] if source >= 0 else np.uint32(instruction.constant[position])


@rule
def _pair_of_lane(sm: Sm, instruction: Row, group: int, position: int, lane: int, half: int) -> np.uint64:
    """Return the source at that position in one lane, of 64 bits, or a half of one of 128."""
    source, registers = instruction.source[position], sm.lanes[group].registers
    if source < 0:
        return np.uint64(instruction.constant[position])
    source += 2 * half
    return np.uint64(registers[source, lane]) | np.uint64(registers[source + 1, lane]) << UPPER


@rule
def constant_word(instruction: Row, offset: int) -> np.uint32:
    """Return a word of what the instruction stores, where that is a constant."""
    return np.uint32((instruction.constant[offset >> 1] >> np.uint64(32 * (offset & 1))) & LOW_WORD)


@rule
def _find_places(sm: Sm, instruction: Row, g: int, group: int, active: int) -> None:
    """Set `sm.scratch.line` to the places of the active lanes' first words."""
    if instruction.generic:
        for lane in range(LANES):
            if (active >> lane) & 1:
                sm.scratch.line[lane] = place(sm, instruction, g, group, lane)
        return
    begin, local = _begin(sm, instruction, g, group), instruction.memory_kind == LOCAL_MEMORY
    for lane in range(LANES):
        sm.scratch.line[lane] = _behind(begin, local, sm.scratch.address[lane], lane)


@rule
def _next_places(sm: Sm, instruction: Row) -> None:
    """Move `sm.scratch.line` on to the lanes' next words: those of local memory lie a word of each lane apart."""
    if instruction.generic:
        for lane in range(LANES):
            sm.scratch.line[lane] += LANES if sm.scratch.address[lane] >= LOCAL_PLACE else 1
        return
    step = LANES if instruction.memory_kind == LOCAL_MEMORY else 1
    for lane in range(LANES):
        sm.scratch.line[lane] += step


@rule
def place(sm: Sm, instruction: Row, g: int, group: int, lane: int) -> int:
    """Return the index in the memory array of the first word that a lane accesses."""
    address = sm.scratch.address[lane]
    if generic_address.is_near(instruction, address):
        return int(generic_address.place(sm, g, group, lane))
    return int(_behind(_begin(sm, instruction, g, group), instruction.memory_kind == LOCAL_MEMORY, address, lane))


@rule
def _begin(sm: Sm, instruction: Row, g: int, group: int) -> int:
    """Return the index in the memory array at which the memory of the lane group's access begins."""
    launch = sm.launch
    if instruction.memory_kind == SHARED_MEMORY:
        return int(launch.shared_word + sm.warps[g].block * launch.shared_words)
    if instruction.memory_kind == LOCAL_MEMORY:
        return int(launch.local_word + group * launch.local_words * LANES)
    return 0


@rule
def _behind(begin: int, local: bool, address: Word, lane: int) -> np.int64:
    """Return the index of a lane's word in a memory that begins there."""
    word = np.int64(address) // WORD_BYTES
    return begin + word * LANES + lane if local else begin + word
