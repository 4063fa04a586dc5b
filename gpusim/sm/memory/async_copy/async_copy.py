"""Asynchronous copies: LDGSTS loads like LDG, and its words land in shared memory when the load is done.

Each lane copies 4, 8 or 16 bytes, read when the instruction issues. A predicate as the last operand says whether a lane
reads: if it is false, zeros are written and nothing is accessed. With `.ZFILL` the lowest bits of its address say how
many bytes at the end are left out: zeros take their place (measured on an H200, all sizes). LDGDEPBAR closes the group
of the warp's copies so far, and DEPBAR.LE SB0, n waits until n closed groups at most are under way
(sm/effects/groups.py): `long_scoreboard`.
Who reads the place sooner gets what it held before.
"""

from __future__ import annotations

import numpy as np

from gpusim.sm.account.stopping import stop
from gpusim.sm.effects import effects
from gpusim.sm.jit.on_demand import on_demand
from gpusim.sm.jit.rule import rarely, rule
from gpusim.sm.memory import peers
from gpusim.sm.memory.shared_memory import shared_memory
from gpusim.sm.records import Effect, Memory, Row, Sm
from gpusim.sm.state.fault import Fault
from gpusim.sm.unit.capacities import LANES
from isa.memory import SECTOR_BYTES
from isa.program import WORD_BYTES

HALF_SECTOR = SECTOR_BYTES // 2
MISPLACED, OUT_OF_SHARED = int(Fault.MISPLACED), int(Fault.OUT_OF_SHARED)


@rule
def reading(sm: Sm, instruction: Row, group: int, active: int) -> int:
    """Return which of a lane group's active lanes read."""
    if instruction.selector < 0:
        return active
    truth = sm.lanes[group].predicates[instruction.selector]
    return active & (~truth if instruction.selector_negated else truth)


@on_demand
def begin(sm: Sm, memory: Memory, g: int, group: int, active: int) -> int:
    """Post what a lane group's active lanes will write, and return which of them read; -1: `sm.fault` says why not."""
    if sm.outcome.read == 0:
        sm.outcome.extra = 0
    instruction = sm.program[sm.warps[g].pc]
    if instruction.evaluate:
        effects.make_room(sm, memory, g)
    if instruction.evaluate and not _post(sm, instruction, g, group, active):
        return -1
    sm.outcome.written = _passes(sm, instruction, group, active)
    lanes = int(reading(sm, instruction, group, active))
    sm.outcome.active[group - g * sm.machine.groups] = lanes  # others access nothing
    return lanes


@rule
def _passes(sm: Sm, instruction: Row, group: int, active: int) -> int:
    """Return the passes through shared memory in which a lane group's active lanes are written: those of a store."""
    for lane in range(LANES):
        sm.scratch.address[lane] = np.uint32(_address(sm, instruction, group, lane))
    return shared_memory.passes(sm, active, instruction.words, False) * int(sm.machine.pass_cycles)


@rule
def written(sm: Sm, instruction: Row, group: int, active: int) -> int:
    """Return the passes of a lane group's copy into shared memory; its source addresses are in `scratch`."""
    if sm.machine.copy_cycles == 0:
        return int(sm.outcome.written)
    if instruction.through_l1 == 0:
        return int(_pieces(sm, group, active))
    return max(int(sm.outcome.written), _of_lines(sm, instruction, group, active))


@on_demand
def _of_lines(sm: Sm, instruction: Row, group: int, active: int) -> int:
    """Return the passes of a copy through the L1: those of a store of each line's words, one line after the other."""
    scratch, left, passes = sm.scratch, active, 0
    for lane in range(LANES):
        scratch.source[lane] = scratch.address[lane]
        scratch.address[lane] = np.uint32(_address(sm, instruction, group, lane))
    while left:
        lanes = _same_line(sm, left)
        passes += shared_memory.passes(sm, lanes, instruction.words, False)
        left &= ~lanes
    for lane in range(LANES):
        scratch.address[lane] = scratch.source[lane]
    return int(passes * sm.machine.pass_cycles)


@rule
def _same_line(sm: Sm, left: int) -> int:
    """Return which of these lanes copy from the line of the first of them."""
    lanes, line = 0, np.int64(-1)
    for lane in range(LANES):
        if (left >> lane) & 1:
            source = np.int64(sm.scratch.source[lane]) // sm.machine.line_bytes
            if lanes == 0:
                line = source
            if source == line:
                lanes |= 1 << lane
    return int(lanes)


@on_demand
def _pieces(sm: Sm, group: int, active: int) -> int:
    """Return the passes of a copy past the L1: one for each row of banks to which words of a line go.

    Lines are written as they come, not lanes in turn. Halves of a sector that go to two sectors pass apart.
    """
    instruction, passes = sm.program[sm.warps[group // sm.machine.groups].pc], 0
    for lane in range(LANES):
        if (active >> lane) & 1:
            piece, other = _piece(sm, instruction, group, active, lane), lane - 1
            while other >= 0 and not ((active >> other) & 1 and _piece(sm, instruction, group, active, other) == piece):
                other -= 1
            passes += other < 0
    return int(passes * sm.machine.pass_cycles)


@rule
def _piece(sm: Sm, instruction: Row, group: int, active: int, lane: int) -> tuple[int, int, int]:
    """Return the line from which a lane copies, the row of banks, and 1 or 2 for a half that passes apart, else 0.

    The other half of a sector is its neighbour's.
    """
    source, place, other = int(sm.scratch.address[lane]), _address(sm, instruction, group, lane), lane ^ 1
    half = source // HALF_SECTOR % 2
    apart = half != place // HALF_SECTOR % 2
    if apart and (active >> other) & 1 and int(sm.scratch.address[other]) // SECTOR_BYTES == source // SECTOR_BYTES:
        apart = _address(sm, instruction, group, other) // SECTOR_BYTES != place // SECTOR_BYTES
    row_bytes = int(sm.machine.banks) * WORD_BYTES
    return source // int(sm.machine.line_bytes), place // row_bytes, (1 + half) * apart


@rule
def _post(sm: Sm, instruction: Row, g: int, group: int, active: int) -> bool:
    """Post that lanes write zeros, before any word is read; False: a fault."""
    pc, half = sm.warps[g].pc, group - g * sm.machine.groups
    if not effects.has_room(sm, g, pc):
        return False
    effect, first = effects.post(sm, g, pc), sm.launch.shared_word + sm.warps[g].block * sm.launch.shared_words
    effect.words = instruction.words
    for other in range(sm.machine.groups):
        effect.mask[other] = active if other == half else 0  # a lane group's copies are an effect of their own
    for lane in range(LANES):
        if (active >> lane) & 1:
            address = _address(sm, instruction, group, lane)
            if not _checked(sm, instruction, g, half * LANES + lane, address):
                return False
            effect.places[half, lane] = first + address // WORD_BYTES
            for word in range(instruction.words):
                effect.values[half, word, lane] = 0
    return True


@rule
def _address(sm: Sm, instruction: Row, group: int, lane: int) -> int:
    """Return the byte address in shared memory to which a lane copies."""
    registers, address = sm.lanes[group].registers, np.int64(instruction.to_offset)
    if instruction.to_pointer >= 0:
        address += np.int64(registers[instruction.to_pointer, lane]) * instruction.to_scale
    if instruction.to_uniform >= 0:
        address += np.int64(registers[instruction.to_uniform, lane])
    place = address & 0xFFFFFFFF
    return int(peers.own(sm, place) if sm.launch.cluster > 1 else place)


@rule
def _checked(sm: Sm, instruction: Row, g: int, lane: int, address: int) -> bool:
    """Tell whether a lane's place is good; if not, `sm.fault` says why."""
    size = int(instruction.access_bytes)
    if address % size:
        return stop(sm, MISPLACED, g, sm.warps[g].pc, lane, address, size)
    if address + size > WORD_BYTES * sm.launch.shared_words:
        return stop(sm, OUT_OF_SHARED, g, sm.warps[g].pc, lane, address, size)
    return True


@on_demand
def bring(sm: Sm, memory: Memory, g: int, group: int, active: int) -> None:
    """Read the words of a lane group's lanes, at the addresses in `scratch`, for the effect posted last."""
    effect, half = sm.effects[g, sm.warps[g].effects - 1], group - g * sm.machine.groups
    for lane in range(LANES):
        if (active >> lane) & 1:
            place = np.int64(sm.scratch.address[lane]) // WORD_BYTES
            if sm.program[effect.pc].fills:
                _fill(sm, memory, effect, half, lane, int(place))
            else:
                for word in range(effect.words):
                    effect.values[half, word, lane] = memory[place + word]


@rarely
def _fill(sm: Sm, memory: Memory, effect: Effect, half: int, lane: int, place: int) -> None:
    """Read a lane's words up to the bytes that its address leaves out: zeros, as they are."""
    kept = int(sm.program[effect.pc].access_bytes - sm.scratch.left_out[lane])
    for word in range(effect.words):
        bits = 8 * min(WORD_BYTES, kept - WORD_BYTES * word)
        if bits > 0:
            mask = np.uint32((1 << bits) - 1)
            effect.values[half, word, lane] = memory[place + word] & mask
