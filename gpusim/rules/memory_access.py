"""Memory accesses of a warp: addresses, their check, the data moved, and what they cost the load/store unit.

The cost depends on the addresses alone. While the address register has not been written again it is remembered per
warp and instruction, so that a loop whose pointers stand still never computes it twice.

All memory is one array of 32-bit words: global memory first (word w at byte address 4 w), then the resident blocks'
shared memory, then their threads' local memory, word by word across the lanes of a warp.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpusim.decode import GLOBAL_SPACE, LOAD, LOCAL_SPACE, SHARED_SPACE
from gpusim.rule import rule
from gpusim.rules import global_memory, shared_memory
from gpusim.state import LANES

MISALIGNED, OUTSIDE_GLOBAL, OUTSIDE_SHARED, OUTSIDE_LOCAL = range(2, 6)


@rule
def new_version(sm: Any, g: int, register: int) -> None:
    """The register has been written: whatever was remembered of its old value is void."""
    sm.writes += 1
    sm.warps[g].version[register] = sm.writes


@rule
def access(sm: Any, memory: Any, g: int, active: int) -> bool:
    """Carry out a load or store; the cost goes to `sm.outcome`. False: an address is bad, and `sm.fault` says which."""
    instruction = sm.program[sm.warps[g].pc]
    remembered = sm.feed[g, instruction.feed]
    version = sm.warps[g].version[instruction.pointer] if instruction.pointer >= 0 else 1
    known = version > 0 and remembered.version == version and remembered.mask == active
    if instruction.evaluate or not known:
        _addresses(sm, instruction, g)
        if not _checked(sm, instruction, g, active):
            return False
    if not known:
        cost(sm, instruction, remembered, active)
        remembered.version, remembered.mask = version, active
    outcome = sm.outcome
    outcome.cycles, outcome.extra = remembered.cycles, remembered.extra
    outcome.transactions = remembered.transactions
    if instruction.evaluate:
        _move(sm, instruction, memory, g, active)
    return True


@rule
def _addresses(sm: Any, instruction: Any, g: int) -> None:
    for lane in range(LANES):
        base = np.int64(sm.lanes[g].registers[instruction.pointer, lane]) if instruction.pointer >= 0 else 0
        sm.scratch.address[lane] = np.uint32((base + instruction.offset) & 0xFFFFFFFF)


@rule
def _checked(sm: Any, instruction: Any, g: int, active: int) -> bool:
    for lane in range(LANES):
        if (active >> lane) & 1:
            address = np.int64(sm.scratch.address[lane])
            code = _wrong(sm, instruction, address)
            if code:
                fault = sm.fault
                fault.code, fault.pc, fault.warp, fault.lane = code, sm.warps[g].pc, g, lane
                fault.address = address
                return False
    return True


@rule
def _wrong(sm: Any, instruction: Any, address: Any) -> int:
    """The fault code of an access at `address`, or 0."""
    size = 4 * instruction.words
    if address % size:
        return MISALIGNED
    if instruction.space == SHARED_SPACE:
        return OUTSIDE_SHARED if address + size > 4 * sm.launch.shared_words else 0
    if instruction.space == LOCAL_SPACE:
        return OUTSIDE_LOCAL if address + size > 4 * sm.launch.local_words else 0
    for i in range(sm.launch.buffers):
        if sm.buffers[i].start <= address and address + size <= sm.buffers[i].end:
            return 0
    return OUTSIDE_GLOBAL


@rule
def cost(sm: Any, instruction: Any, into: Any, active: int) -> None:
    """Cycles of the load/store unit, cycles on top of the latency, and global transactions."""
    machine, words = sm.machine, instruction.words
    into.extra = into.transactions = 0
    if instruction.space == SHARED_SPACE:
        passes = shared_memory.passes(sm, active, words)
        into.cycles = passes * machine.pass_cycles
        into.extra = max(0, passes - machine.free_passes[instruction.width]) * machine.pass_cycles
    elif instruction.space == GLOBAL_SPACE:
        into.transactions = global_memory.transactions(sm, active, words)
        into.cycles = into.transactions * machine.global_request
    else:
        into.cycles = words * machine.local_request


@rule
def _move(sm: Any, instruction: Any, memory: Any, g: int, active: int) -> None:
    registers = sm.lanes[g].registers
    for offset in range(instruction.words):
        register = instruction.destination if instruction.action == LOAD else instruction.source[0]
        if instruction.action == LOAD and register < 0:
            return
        for lane in range(LANES):
            if (active >> lane) & 1:
                word = _word(sm, instruction, g, lane) + offset * (LANES if instruction.space == LOCAL_SPACE else 1)
                if instruction.action == LOAD:
                    registers[register + offset, lane] = memory[word]
                elif register >= 0:
                    memory[word] = registers[register + offset, lane]
                else:
                    memory[word] = _constant_word(instruction, offset)
        if instruction.action == LOAD:
            new_version(sm, g, register + offset)


@rule
def _constant_word(instruction: Any, offset: int) -> Any:
    return np.uint32((instruction.constant[0] >> np.uint64(32 * (offset & 1))) & np.uint64(0xFFFFFFFF))


@rule
def _word(sm: Any, instruction: Any, g: int, lane: int) -> Any:
    """Index into the memory array of the first word that a lane accesses."""
    word, launch = np.int64(sm.scratch.address[lane]) // 4, sm.launch
    if instruction.space == SHARED_SPACE:
        return launch.shared_word + sm.warps[g].block * launch.shared_words + word
    if instruction.space == LOCAL_SPACE:
        return launch.local_word + (g * launch.local_words + word) * LANES + lane
    return word


@rule
def fetch(sm: Any, instruction: Any, memory: Any) -> None:
    """Texture: the element whose index stands in `scratch.a`, clamped to the buffer, into `scratch.d`."""
    for lane in range(LANES):
        index = np.int64(np.int32(sm.scratch.a[lane]))
        clamped = min(max(index, np.int64(0)), instruction.limit - 1)
        sm.scratch.d[lane] = memory[instruction.offset // 4 + clamped]
