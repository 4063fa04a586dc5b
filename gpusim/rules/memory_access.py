"""Memory accesses of a warp: addresses, their check, and the cost for the load/store unit.

The lane groups of a warp follow each other, and their costs add up. A cost depends on the addresses alone, and is
remembered per lane group and instruction. It stays valid while the address register is not written again, and also if
all addresses have moved together by whole lines and rows of banks.

All memory is one array of 32-bit words: global memory first (word w at byte address 4 w), then the resident blocks'
shared memory, then their threads' local memory, word by word across the lanes of a warp.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpusim.jit.rule import lowest_bit, rarely, rule
from gpusim.rules import generic_address, global_memory, move, shared_memory, tag_stage, word_owner
from gpusim.state.fault import Fault
from gpusim.units.cache import L1, SHARE_PARTS, TAGS
from gpusim.units.capacities import LANES, REMEMBERED, REMEMBERED_BITS
from gpusim.units.opcodes import FETCH, GLOBAL_MEMORY, LOAD, LOCAL_MEMORY, SHARED_MEMORY, STORE
from gpusim.units.what_if import ONE_PASS
from isa.windows import WINDOW_BYTES

FAR = 1 << 31  # bytes between lanes that are not remembered

MISALIGNED, OUTSIDE = int(Fault.MISALIGNED), int(Fault.OUTSIDE)


@rule
def accesses(instruction: Any) -> bool:
    """Tell whether the instruction accesses memory, so that its addresses determine its time in the load/store unit."""
    return instruction.action == LOAD or instruction.action == STORE  # noqa: PLR1714  (compiles to two compares)


@rule
def loads_shared(instruction: Any) -> bool:
    """Tell whether the instruction loads from shared memory."""
    return bool(instruction.action == LOAD and instruction.memory_kind == SHARED_MEMORY)


@rule
def new_version(sm: Any, g: int, register: int) -> None:
    """The register has been written: everything remembered of its old value is void."""
    sm.writes += 1
    sm.warps[g].version[register] = sm.writes


@rule
def access(sm: Any, memory: Any, g: int, group: int, active: int) -> bool:
    """Do a lane group's access and add its cost to `sm.outcome`. False: `sm.fault` says which address is bad."""
    instruction = sm.program[sm.warps[g].pc]
    remembered, version = sm.feed[group, place(instruction)], _version(sm.warps[g], instruction)
    mask = active | np.int64(instruction.feed) >> REMEMBERED_BITS << LANES
    known = version > 0 and remembered.version == version and remembered.mask == mask and sm.machine.channels == 1
    if not known or instruction.located:
        _addresses(sm, instruction, group)
        if instruction.wide_address and not _in_window(sm, g, group, active):
            return False
    seen = sm.beyond.loads
    if not known:
        if not _checked(sm, instruction, remembered, g, group, active):
            return False
        if not _recurs(sm, remembered, active, mask, instruction.generic) or sm.machine.channels > 1:
            if instruction.generic:
                generic_cost(sm, instruction, remembered, active)
            else:
                cost(sm, instruction, remembered, active)
        again = sm.beyond.loads != seen  # such loads are counted each time
        remembered.version, remembered.mask = 0 if again else version, mask
    outcome = sm.outcome
    outcome.cycles += remembered.cycles
    outcome.transactions += remembered.transactions
    outcome.extra = extra(sm.machine, instruction, outcome.cycles)
    if instruction.generic:
        outcome.extra, outcome.near = remembered.extra, remembered.near
    if instruction.evaluate:
        if sm.ahead.owners and instruction.memory_kind == GLOBAL_MEMORY and not word_owner.take(sm, memory, g, active):
            return False
        move.move(sm, instruction, memory, g, group, active)
        for i in range(instruction.writes):
            new_version(sm, g, int(instruction.write[i]))
    return True


@rule
def place(instruction: Any) -> Any:
    """Return where the cost of the instruction's accesses is remembered, as may be that of other instructions."""
    return instruction.feed & (REMEMBERED - 1)


@rule
def _version(warp: Any, instruction: Any) -> Any:
    """Return the number of the last write of a register that the address depends on; 1 if it is fixed."""
    version = warp.version[instruction.pointer] if instruction.pointer >= 0 else np.int64(1)
    if instruction.wide_address or instruction.uniform_base >= 0:
        if instruction.pointer_pair:
            version = max(version, warp.version[instruction.pointer + 1])
        if instruction.uniform_base >= 0:
            version = max(version, warp.version[instruction.uniform_base])
        if instruction.base_pair:
            version = max(version, warp.version[instruction.uniform_base + 1])
    return version


@rule
def _addresses(sm: Any, instruction: Any, group: int) -> None:
    if instruction.wide_address or instruction.uniform_base >= 0 or instruction.scale > 1:
        _sums(sm, instruction, group)
        return
    for lane in range(LANES):
        base = np.int64(sm.lanes[group].registers[instruction.pointer, lane]) if instruction.pointer >= 0 else 0
        sm.scratch.address[lane] = np.uint32((base + instruction.offset) & 0xFFFFFFFF)


@rarely
def _sums(sm: Any, instruction: Any, group: int) -> None:
    """Add up addresses of several parts; of one with 64 bits, keep the place in the window, and what lies above it."""
    for lane in range(LANES):
        whole = _sum(sm, instruction, group, lane)
        if instruction.wide_address:
            whole -= np.uint64(sm.launch.window)
            sm.scratch.flag[lane] = np.uint32(whole >> np.uint64(32))
        sm.scratch.address[lane] = np.uint32(whole & np.uint64(0xFFFFFFFF))
        if instruction.generic:
            generic_address.find(sm.scratch, lane, whole + np.uint64(sm.launch.window))


@rule
def _sum(sm: Any, instruction: Any, group: int, lane: int) -> Any:
    """Return a lane's address of several parts, with 64 bits."""
    lanes = sm.lanes[group]
    scaled = _part(lanes, instruction.pointer, instruction.pointer_pair, lane) * np.uint64(instruction.scale)
    other = _part(lanes, instruction.uniform_base, instruction.base_pair, lane)
    return scaled + other + np.uint64(instruction.offset)


@rule
def _part(lanes: Any, register: int, pair: int, lane: int) -> Any:
    """Return a register, or a pair of them, as 64 bits; 0 if there is none."""
    if register < 0:
        return np.uint64(0)
    low = np.uint64(lanes.registers[register, lane])
    return low | np.uint64(lanes.registers[register + 1, lane]) << np.uint64(32) if pair else low


@rule
def _in_window(sm: Any, g: int, group: int, active: int) -> bool:
    """Tell whether the active lanes' addresses of 64 bits lie in the window; the first other one is the fault."""
    beyond = np.uint32(0)
    for lane in range(LANES):
        if (active >> lane) & 1:
            beyond |= sm.scratch.flag[lane]
    return beyond == 0 or _outside_window(sm, g, group, active)


@rarely
def _outside_window(sm: Any, g: int, group: int, active: int) -> bool:
    for lane in range(LANES):
        if (active >> lane) & 1 and sm.scratch.flag[lane]:
            fault = sm.fault
            fault.code, fault.pc, fault.warp = OUTSIDE, sm.warps[g].pc, g
            fault.address = np.int64(_sum(sm, sm.program[sm.warps[g].pc], group, lane))
            fault.lane = (group - g * sm.machine.groups) * LANES + lane
            return False
    return True


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
    """Do the same check lane by lane, as lanes may access different buffers; the first bad one is the fault.

    A load behind a buffer is noted.
    """
    size, alignment = instruction.access_bytes, instruction.alignment
    for lane in range(LANES):
        address = np.int64(sm.scratch.address[lane])
        if (active >> lane) & 1 and (address % alignment or not _within(sm, instruction, address, address + size)):
            if instruction.leaves_buffers and address % alignment == 0 and _in_page(sm, address, address + size):
                _note_beyond(sm, instruction, g, group, lane)
                continue
            fault = sm.fault
            fault.code = MISALIGNED if address % alignment else OUTSIDE
            alone = instruction.wide_address == 0 or generic_address.is_near(instruction, address)
            fault.pc, fault.warp, fault.address = sm.warps[g].pc, g, address + (0 if alone else sm.launch.window)
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
    if generic_address.is_near(instruction, start):
        return generic_address.within(sm, start, end)
    for i in range(sm.launch.buffers):  # noqa: SIM110  (compiled)
        if sm.buffers[i].start <= start and end <= sm.buffers[i].end:
            return True
    return False


@rule
def _in_page(sm: Any, start: Any, end: Any) -> bool:
    """Tell whether the bytes from `start` up to `end` lie in a buffer or behind it in its last page."""
    for i in range(sm.launch.buffers):
        if sm.buffers[i].start <= start and end <= sm.buffers[i].page_end and sm.buffers[i].start < sm.buffers[i].end:
            return True
    return False


@rule
def _note_beyond(sm: Any, instruction: Any, g: int, group: int, lane: int) -> None:
    """Count a lane's load behind a buffer, and keep the first."""
    found, warp = sm.beyond, sm.warps[g]
    found.loads += 1
    if found.loads == 1:
        found.pc, found.block, found.warp = warp.pc, sm.blocks[warp.block].id, warp.index
        found.lane = (group - g * sm.machine.groups) * LANES + lane
        found.address = np.int64(sm.scratch.address[lane]) + (sm.launch.window if instruction.wide_address else 0)


@rule
def _recurs(sm: Any, remembered: Any, active: int, mask: Any, generic: int) -> bool:
    """Tell whether the addresses equal those of the known cost, moved together by whole lines and rows of banks.

    Those of generic addresses must be in the same window. Where they lie in several, the cost is worked out anew.
    """
    address = sm.scratch.address
    base = np.int64(address[lowest_bit(active)])
    residue = base % sm.machine.row_bytes + (base // WINDOW_BYTES * WINDOW_BYTES if generic else 0)
    same = remembered.mask == mask and remembered.residue == residue
    for lane in range(LANES):
        step = (np.int64(address[lane]) - base) * ((active >> lane) & 1)
        if step < -FAR or step >= FAR:
            residue, step = np.int64(-1), np.int64(0)
        same = same and step == remembered.step[lane]
        remembered.step[lane] = step
    remembered.residue = residue
    return same and residue >= 0


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
        if machine.near_lines and instruction.through_l1:
            lines = tag_stage.lookups(machine, requests)
            into.cycles = max(shared_memory.conflicts(sm, active, words), lines) * machine.global_request
        elif instruction.action == STORE and machine.tag_stages and instruction.packets == 0:
            looked_up = max(words, tag_stage.lookups(machine, requests)) if requests else 0
            into.cycles = looked_up * machine.global_request
        if instruction.packets and machine.slices and instruction.action == STORE:
            into.cycles = machine.global_request  # its packets wait on their way (l2_atomic.py)
        elif instruction.packets:
            parts = global_memory.packets(sm, active, instruction) * machine.packet_parts
            into.cycles = max(into.cycles, (parts + SHARE_PARTS - 1) // SHARE_PARTS)
        still = machine.hits == TAGS or (machine.hits == L1 and instruction.action == LOAD and instruction.update < 0)
        into.transactions = 0 if still else moved
    else:
        into.cycles = words * machine.local_request


@rarely
def generic_cost(sm: Any, instruction: Any, into: Any, active: int) -> None:
    """Set the cost of an access by generic addresses: the sum over its memories; `near` is when those results come."""
    shared = generic_address.lanes_in(sm.scratch, SHARED_MEMORY, active)
    local = generic_address.lanes_in(sm.scratch, LOCAL_MEMORY, active)
    far, into.near, near_cycles = active & ~shared & ~local, 0, 0
    into.cycles = into.transactions = into.extra = 0
    if far:
        cost(sm, instruction, into, far)
        into.extra = extra(sm.machine, instruction, into.cycles)
    else:
        into.extra = -instruction.latency
    if local:
        near_cycles = instruction.words * sm.machine.local_request
        into.near = instruction.local_latency
    if shared:
        passes = _shared_passes(sm, instruction, instruction.near_turns, shared)
        near_cycles += service_of(sm.machine, passes * sm.machine.pass_cycles)
        late = extra_of_shared(sm.machine, instruction, passes * sm.machine.pass_cycles)
        into.near = max(into.near, instruction.shared_latency + late)
    into.cycles += near_cycles


@rule
def _passes(sm: Any, instruction: Any, active: int) -> int:
    """Return the passes through shared memory; an atomic may take several for each lane in turn."""
    return _shared_passes(sm, instruction, instruction.turns, active)


@rule
def _shared_passes(sm: Any, instruction: Any, turns: int, active: int) -> int:
    if turns and sm.machine.shared_ideal != ONE_PASS:
        return shared_memory.turns(sm, active) * int(turns)
    return shared_memory.passes(sm, active, instruction.words, instruction.action == LOAD)


@rule
def service(machine: Any, instruction: Any, cycles: int) -> int:
    """Return the whole cycles for which an access of such a cost keeps the unit; one may hold several passes."""
    if instruction.memory_kind == SHARED_MEMORY:
        cycles = service_of(machine, cycles)
    return max(cycles, machine.least_cycles) if cycles and not instruction.distinct else cycles


@rule
def service_of(machine: Any, cycles: int) -> int:
    """Return the whole cycles for which passes through shared memory keep the unit."""
    if machine.passes_per_cycle > 1:
        return (cycles + machine.passes_per_cycle - 1) // machine.passes_per_cycle
    return cycles


@rule
def extra(machine: Any, instruction: Any, cycles: int) -> int:
    """Return the cycles that an access of such a cost adds to the latency."""
    if instruction.memory_kind == SHARED_MEMORY:
        return extra_of_shared(machine, instruction, cycles)
    if instruction.distinct:
        return cycles - instruction.distinct
    if instruction.packets:
        return cycles
    if instruction.memory_kind == GLOBAL_MEMORY and instruction.action == LOAD:
        together = machine.near_lines and instruction.through_l1 and machine.hits != TAGS
        least = machine.near_least if together else 1
        return (cycles // (machine.global_request * least) - 1) * machine.hit_late
    return 0


@rule
def extra_of_shared(machine: Any, instruction: Any, cycles: int) -> int:
    """Return the cycles that passes through shared memory add to the latency."""
    beyond = cycles // machine.pass_cycles - machine.free_passes[instruction.width]
    if beyond < 0:
        return -machine.early[instruction.width]
    return (beyond + machine.late_passes - 1) // machine.late_passes * machine.late_cycles


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
