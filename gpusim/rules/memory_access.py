"""Memory accesses of a warp: addresses, their check, the data transfer, and the cost for the load/store unit.

The lane groups of a warp follow each other, and their costs add up. A cost depends on the addresses alone, and is
remembered per lane group and instruction. It stays valid while the address register is not written again, and also if
all addresses have moved together by whole lines and rows of banks.

All memory is one array of 32-bit words: global memory first (word w at byte address 4 w), then the resident blocks'
shared memory, then their threads' local memory, word by word across the lanes of a warp.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpusim.jit.kinds import Memory, Row, Sm
from gpusim.jit.on_demand import on_demand
from gpusim.jit.rule import lowest_bit, rarely, rule
from gpusim.rules import global_memory, shared_memory
from gpusim.state.fault import Fault
from gpusim.units.cache import L1, TAGS
from gpusim.units.capacities import LANES
from gpusim.units.opcodes import FETCH, GLOBAL_MEMORY, LOAD, LOCAL_MEMORY, SHARED_MEMORY, STORE, UPDATES
from gpusim.units.what_if import ONE_PASS
from isa.values.semantics import atomic_add

ADD = UPDATES.index(atomic_add)  # the other is compare and swap
MISALIGNED, OUTSIDE = int(Fault.MISALIGNED), int(Fault.OUTSIDE)


@rule
def accesses(instruction: Any) -> bool:
    """Tell whether the instruction accesses memory, so that its addresses determine its time in the load/store unit."""
    return instruction.action == LOAD or instruction.action == STORE  # noqa: PLR1714  (compiles to two compares)


@rule
def new_version(sm: Any, g: int, register: int) -> None:
    """The register has been written: everything remembered of its old value is void."""
    sm.writes += 1
    sm.warps[g].version[register] = sm.writes


@rule
def access(sm: Any, memory: Any, g: int, group: int, active: int) -> bool:
    """Do a lane group's access and add its cost to `sm.outcome`. False: `sm.fault` says which address is bad."""
    instruction = sm.program[sm.warps[g].pc]
    remembered = sm.feed[group, instruction.feed]
    version = sm.warps[g].version[instruction.pointer] if instruction.pointer >= 0 else 1
    known = version > 0 and remembered.version == version and remembered.mask == active and sm.machine.channels == 1
    if instruction.evaluate or not known or instruction.cached:
        _addresses(sm, instruction, group)
    if not known:
        if not _checked(sm, instruction, remembered, g, group, active):
            return False
        if not _recurs(sm, remembered, active) or sm.machine.channels > 1:
            cost(sm, instruction, remembered, active)
        remembered.version, remembered.mask = version, active
    outcome = sm.outcome
    outcome.cycles += remembered.cycles
    outcome.transactions += remembered.transactions
    outcome.extra = extra(sm.machine, instruction, outcome.cycles)
    if instruction.evaluate:
        if instruction.update >= 0 or instruction.access_bytes == 1:
            _each_moved(sm, instruction, memory, g, group, active)
        else:
            _move(sm, instruction, memory, g, group, active)
    return True


@rule
def _addresses(sm: Any, instruction: Any, group: int) -> None:
    for lane in range(LANES):
        base = np.int64(sm.lanes[group].registers[instruction.pointer, lane]) if instruction.pointer >= 0 else 0
        sm.scratch.address[lane] = np.uint32((base + instruction.offset) & 0xFFFFFFFF)


@rule
def _checked(sm: Any, instruction: Any, remembered: Any, g: int, group: int, active: int) -> bool:
    """Tell whether all addresses are good; remember the bytes that they span."""
    low, high, bits = np.int64(1) << 32, np.int64(0), np.int64(0)
    for lane in range(LANES):
        if (active >> lane) & 1:
            address = np.int64(sm.scratch.address[lane])
            low, high, bits = min(low, address), max(high, address), bits | address
    size = instruction.access_bytes
    remembered.low, remembered.high = low, high + size
    if bits % instruction.alignment == 0 and _within(sm, instruction, low, high + size):
        return True
    return _each_checked(sm, instruction, g, group, active)


@rarely
def _each_checked(sm: Any, instruction: Any, g: int, group: int, active: int) -> bool:
    """Do the same check lane by lane, as lanes may access different buffers; the first bad one is the fault."""
    size, alignment = instruction.access_bytes, instruction.alignment
    for lane in range(LANES):
        address = np.int64(sm.scratch.address[lane])
        if (active >> lane) & 1 and (address % alignment or not _within(sm, instruction, address, address + size)):
            fault = sm.fault
            fault.code = MISALIGNED if address % alignment else OUTSIDE
            fault.pc, fault.warp, fault.address = sm.warps[g].pc, g, address
            fault.lane = (group - g * sm.machine.groups) * LANES + lane
            return False
    return True


@rule
def _within(sm: Any, instruction: Any, start: Any, end: Any) -> bool:
    """Tell whether the bytes from `start` up to `end` lie in the instruction's memory, in one buffer of it."""
    if instruction.memory_kind == SHARED_MEMORY:
        return end <= 4 * sm.launch.shared_words
    if instruction.memory_kind == LOCAL_MEMORY:
        return end <= 4 * sm.launch.local_words
    for i in range(sm.launch.buffers):  # noqa: SIM110  (compiled)
        if sm.buffers[i].start <= start and end <= sm.buffers[i].end:
            return True
    return False


@rule
def _recurs(sm: Any, remembered: Any, active: int) -> bool:
    """Tell whether the addresses equal those of the known cost, moved together by whole lines and rows of banks."""
    address = sm.scratch.address
    base = np.int64(address[lowest_bit(active)])
    same = remembered.mask == active and remembered.residue == base % sm.machine.row_bytes
    for lane in range(LANES):
        step = (np.int64(address[lane]) - base) * ((active >> lane) & 1)
        same = same and step == remembered.step[lane]
        remembered.step[lane] = step
    remembered.residue = base % sm.machine.row_bytes
    return same


@rarely
def cost(sm: Any, instruction: Any, into: Any, active: int) -> None:
    """Set the cycles of the load/store unit, and the global transactions, of a lane group's access or fetch.

    Those of shared memory are counted as if no cycle had several passes, because costs of groups add up: see `service`.
    """
    machine, words = sm.machine, instruction.words
    into.cycles = into.transactions = 0
    if instruction.pipe >= 0:
        if instruction.action == FETCH and machine.fetch_cost:
            into.transactions = global_memory.sectors(sm, active)
        return  # a fetch or a scalar load takes another path
    if instruction.distinct:
        into.cycles = global_memory.words(sm, active) * instruction.distinct
    elif instruction.memory_kind == SHARED_MEMORY:
        passes = _passes(sm, instruction, active)
        into.cycles = passes * machine.pass_cycles
    elif instruction.memory_kind == GLOBAL_MEMORY:
        requests, moved = global_memory.transactions(sm, active, words)
        into.cycles = requests * machine.global_request
        still = machine.hits == TAGS or (machine.hits == L1 and instruction.action == LOAD)
        into.transactions = 0 if still else moved
    else:
        into.cycles = words * machine.local_request


@rule
def _passes(sm: Any, instruction: Any, active: int) -> int:
    """Return the passes through shared memory; an atomic may take several for each lane in turn."""
    if instruction.turns and sm.machine.shared_ideal != ONE_PASS:
        return shared_memory.turns(sm, active) * int(instruction.turns)
    return shared_memory.passes(sm, active, instruction.words, instruction.action == LOAD)


@rule
def service(machine: Any, instruction: Any, cycles: int) -> int:
    """Return the whole cycles for which an access of such a cost keeps the unit; one may hold several passes."""
    if instruction.memory_kind == SHARED_MEMORY and machine.passes_per_cycle > 1:
        return (cycles + machine.passes_per_cycle - 1) // machine.passes_per_cycle
    return cycles


@rule
def extra(machine: Any, instruction: Any, cycles: int) -> int:
    """Return the cycles that an access of such a cost adds to the latency."""
    if instruction.memory_kind == SHARED_MEMORY:
        beyond = cycles // machine.pass_cycles - machine.free_passes[instruction.width]
        if beyond < 0:
            return -machine.early[instruction.width]
        return (beyond + machine.late_passes - 1) // machine.late_passes * machine.late_cycles
    if instruction.distinct:
        return cycles - instruction.distinct
    if instruction.memory_kind == GLOBAL_MEMORY and instruction.action == LOAD:
        return (cycles // machine.global_request - 1) * machine.hit_late
    return 0


@rule
def _move(sm: Any, instruction: Any, memory: Any, g: int, group: int, active: int) -> None:
    registers = sm.lanes[group].registers
    for offset in range(instruction.words):
        register = instruction.destination if instruction.action == LOAD else instruction.source[0]
        if instruction.action == LOAD and register < 0:
            return
        for lane in range(LANES):
            if (active >> lane) & 1:
                word = _word(sm, instruction, g, group, lane) + offset * (
                    LANES if instruction.memory_kind == LOCAL_MEMORY else 1
                )
                if instruction.action == LOAD:
                    registers[register + offset, lane] = memory[word]
                elif register >= 0:
                    memory[word] = registers[register + offset, lane]
                else:
                    memory[word] = _constant_word(instruction, offset)
        if instruction.action == LOAD:
            new_version(sm, g, register + offset)


@on_demand
def _each_moved(sm: Sm, instruction: Row, memory: Memory, g: int, group: int, active: int) -> None:
    """Load a byte in each lane, or update a word: lanes that access the same word follow each other."""
    for lane in range(LANES):
        if (active >> lane) & 1:
            word = _word(sm, instruction, g, group, lane)
            old = memory[word]
            if instruction.update >= 0:
                a, b = _of_lane(sm, instruction, group, 0, lane), _of_lane(sm, instruction, group, 1, lane)
                swapped = b if old == a else old
                memory[word] = (np.int64(old) + a) & 0xFFFFFFFF if instruction.update == ADD else swapped
            else:
                old = (old >> (8 * (sm.scratch.address[lane] & 3))) & 0xFF
            if instruction.destination >= 0:
                sm.lanes[group].registers[instruction.destination, lane] = old
    if instruction.destination >= 0:
        new_version(sm, g, instruction.destination)


@rule
def _of_lane(sm: Any, instruction: Any, group: int, position: int, lane: int) -> Any:
    """Return the source at that position in one lane."""
    source = instruction.source[position]
    return sm.lanes[group].registers[source, lane] if source >= 0 else np.uint32(instruction.constant[position])


@rule
def _constant_word(instruction: Any, offset: int) -> Any:
    return np.uint32((instruction.constant[0] >> np.uint64(32 * (offset & 1))) & np.uint64(0xFFFFFFFF))


@rule
def _word(sm: Any, instruction: Any, g: int, group: int, lane: int) -> Any:
    """Return the index in the memory array of the first word that a lane accesses."""
    word, launch = np.int64(sm.scratch.address[lane]) // 4, sm.launch
    if instruction.memory_kind == SHARED_MEMORY:
        return launch.shared_word + sm.warps[g].block * launch.shared_words + word
    if instruction.memory_kind == LOCAL_MEMORY:
        return launch.local_word + (group * launch.local_words + word) * LANES + lane
    return word


@rule
def texel(scratch: Any, instruction: Any, lane: int) -> int:
    """Return the byte address of a texture's element in column `a`, row `b` of rows of `c` elements, both clamped."""
    pitch, lines = rows(scratch, instruction, lane)
    column, line = _clamped(scratch.a[lane], pitch), _clamped(scratch.b[lane], lines)
    return int(instruction.offset + instruction.access_bytes * min(line * pitch + column, instruction.limit - 1))


@rule
def rows(scratch: Any, instruction: Any, lane: int) -> tuple[Any, Any]:
    """Return the elements in a row of a texture, and how many rows there are."""
    pitch = max(np.int64(scratch.c[lane]), np.int64(1))
    return pitch, max(np.int64(instruction.limit) // pitch, np.int64(1))


@rule
def _clamped(coordinate: Any, end: Any) -> Any:
    return min(max(np.int64(np.int32(coordinate)), np.int64(0)), end - 1)


@rule
def fetch(sm: Any, instruction: Any, memory: Any, word: int) -> None:
    """Texture: load a word of each lane's element into `scratch.d`."""
    for lane in range(LANES):
        sm.scratch.d[lane] = memory[texel(sm.scratch, instruction, lane) // 4 + word]
