"""Addresses of an access, lane by lane, and their check: in the window, aligned, inside a buffer.

All memory is one array of 32-bit words: global memory first (word w at byte address 4 w), then the resident blocks'
shared memory, then their threads' local memory, word by word across the lanes of a warp.
"""

from __future__ import annotations

import numpy as np

from gpusim.sm.account.stopping import stop
from gpusim.sm.jit.on_demand import on_demand
from gpusim.sm.jit.rule import rarely, rule
from gpusim.sm.memory import peers
from gpusim.sm.memory.memory_access import generic_address
from gpusim.sm.records import Feed, Lanes, Row, Sm, Word
from gpusim.sm.state.fault import Fault
from gpusim.sm.unit.capacities import LANES
from gpusim.sm.unit.opcodes import LOCAL_MEMORY, SHARED_MEMORY, SIGNAL

MISALIGNED, OUTSIDE = int(Fault.MISALIGNED), int(Fault.OUTSIDE)


@rule
def find(sm: Sm, instruction: Row, group: int) -> None:
    """Put the lanes' addresses into `scratch`."""
    if instruction.wide_address or instruction.uniform_base >= 0 or instruction.scale > 1:
        _sums(sm, instruction, group)
    else:
        for lane in range(LANES):
            base = np.int64(sm.lanes[group].registers[instruction.pointer, lane]) if instruction.pointer >= 0 else 0
            sm.scratch.address[lane] = np.uint32((base + instruction.offset) & 0xFFFFFFFF)
    if sm.launch.cluster > 1 and instruction.memory_kind == SHARED_MEMORY and instruction.action != SIGNAL:
        _of_block(sm)
    if instruction.fills:
        _round(sm, instruction)


@on_demand
def _round(sm: Sm, instruction: Row) -> None:
    """Round addresses down to whole accesses; what lies above says how many bytes each lane leaves out."""
    for lane in range(LANES):
        left = sm.scratch.address[lane] & np.uint32(instruction.access_bytes - 1)
        sm.scratch.left_out[lane] = left
        sm.scratch.address[lane] = np.uint32(sm.scratch.address[lane] - left)


@on_demand
def _of_block(sm: Sm) -> None:
    """Take the block's own rank out of addresses of shared memory."""
    for lane in range(LANES):
        sm.scratch.address[lane] = np.uint32(peers.own(sm, np.int64(sm.scratch.address[lane])))


@rarely
def _sums(sm: Sm, instruction: Row, group: int) -> None:
    """Add up addresses of several parts; of one with 64 bits, keep the place in the window, and what lies above it."""
    for lane in range(LANES):
        whole = _sum(sm, instruction, group, lane)
        if instruction.wide_address:
            whole -= np.uint64(sm.launch.window)
            sm.scratch.flag[lane] = np.uint32(whole >> np.uint64(32))
        sm.scratch.address[lane] = np.uint32(whole & np.uint64(0xFFFFFFFF))
        if instruction.generic:
            generic_address.find(sm.scratch, lane, whole + np.uint64(sm.launch.window), sm.launch)


@rule
def _sum(sm: Sm, instruction: Row, group: int, lane: int) -> np.uint64:
    """Return a lane's address of several parts, with 64 bits."""
    lanes = sm.lanes[group]
    scaled = _part(lanes, instruction.pointer, instruction.pointer_pair, lane) * np.uint64(instruction.scale)
    other = _part(lanes, instruction.uniform_base, instruction.base_pair, lane)
    return scaled + other + np.uint64(instruction.offset)


@rule
def _part(lanes: Lanes, register: int, pair: int, lane: int) -> np.uint64:
    """Return a register, or a pair of them, as 64 bits; 0 if there is none."""
    if register < 0:
        return np.uint64(0)
    low = np.uint64(lanes.registers[register, lane])
    return low | np.uint64(lanes.registers[register + 1, lane]) << np.uint64(32) if pair else low


@rule
def in_window(sm: Sm, g: int, group: int, active: int) -> bool:
    """Tell whether the active lanes' addresses of 64 bits lie in the window; the first other one is the fault."""
    beyond = np.uint32(0)
    for lane in range(LANES):
        if (active >> lane) & 1:
            beyond |= sm.scratch.flag[lane]
    return beyond == 0 or _outside_window(sm, g, group, active)


@rarely
def _outside_window(sm: Sm, g: int, group: int, active: int) -> bool:
    for lane in range(LANES):
        if (active >> lane) & 1 and sm.scratch.flag[lane]:
            pc, whole = sm.warps[g].pc, (group - g * sm.machine.groups) * LANES + lane
            return stop(sm, OUTSIDE, g, pc, whole, int(np.int64(_sum(sm, sm.program[pc], group, lane))))
    return True


@rule
def checked(sm: Sm, instruction: Row, remembered: Feed, g: int, group: int, active: int) -> bool:
    """Tell whether all addresses are good; remember the bytes that they span."""
    low, high, bits = np.int64(1) << 32, np.int64(0), np.int64(0)
    for lane in range(LANES):
        if (active >> lane) & 1:
            address = np.int64(sm.scratch.address[lane])
            low, high, bits = min(low, address), max(high, address), bits | address
    size = instruction.access_bytes
    remembered.low, remembered.high = int(low), int(high + size)
    if bits % instruction.alignment == 0 and _within(sm, instruction, low, high + size):
        return True
    return _each_checked(sm, instruction, g, group, active)


@rarely
def _each_checked(sm: Sm, instruction: Row, g: int, group: int, active: int) -> bool:
    """Do the same check lane by lane, as lanes may access different buffers; the first bad one is the fault.

    A load behind a buffer is noted.
    """
    alignment = instruction.alignment
    for lane in range(LANES):
        address = np.int64(sm.scratch.address[lane])
        size = instruction.access_bytes - (int(sm.scratch.left_out[lane]) if instruction.fills else 0)
        if (active >> lane) & 1 and (address % alignment or not _within(sm, instruction, address, address + size)):
            if instruction.leaves_buffers and address % alignment == 0 and _in_page(sm, address, address + size):
                _note_beyond(sm, instruction, g, group, lane)
                continue
            alone = instruction.wide_address == 0 or generic_address.is_near(instruction, address)
            code, window = MISALIGNED if address % alignment else OUTSIDE, 0 if alone else sm.launch.window
            whole = (group - g * sm.machine.groups) * LANES + lane
            return stop(sm, code, g, sm.warps[g].pc, whole, int(address) + window)
    return True


@rule
def _within(sm: Sm, instruction: Row, start: Word, end: Word) -> bool:
    """Tell whether the bytes from `start` up to `end` lie in the instruction's memory, in one buffer of it."""
    if instruction.memory_kind == SHARED_MEMORY:
        return bool(end <= 4 * sm.launch.shared_words)
    if instruction.memory_kind == LOCAL_MEMORY:
        return bool(end <= 4 * sm.launch.local_words)
    if generic_address.is_near(instruction, start):
        return generic_address.within(sm, start, end)
    for i in range(sm.launch.buffers):  # noqa: SIM110  (compiled)
        if sm.buffers[i].start <= start and end <= sm.buffers[i].end:
            return True
    return False


@rule
def _in_page(sm: Sm, start: Word, end: Word) -> bool:
    """Tell whether the bytes from `start` up to `end` lie in a buffer or behind it in its last page."""
    for i in range(sm.launch.buffers):
        if sm.buffers[i].start <= start and end <= sm.buffers[i].page_end and sm.buffers[i].start < sm.buffers[i].end:
            return True
    return False


@rule
def _note_beyond(sm: Sm, instruction: Row, g: int, group: int, lane: int) -> None:
    """Count a lane's load behind a buffer, and keep the first."""
    found, warp = sm.beyond, sm.warps[g]
    found.loads += 1
    if found.loads == 1:
        found.pc, found.block, found.warp = warp.pc, sm.blocks[warp.block].id, warp.index
        found.lane = (group - g * sm.machine.groups) * LANES + lane
        found.address = int(np.int64(sm.scratch.address[lane])) + (sm.launch.window if instruction.wide_address else 0)
