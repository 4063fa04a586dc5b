"""Compute an instruction: from the operands of a lane group to its results and the outcome of its addresses.

It runs when the warp issues. The scoreboard prevents reads of a register too early or too late, and the load/store
queue is served in issue order, so computing at issue gives the values that the hardware would see at read and
writeback. If only time is of interest, instructions whose results no address or branch needs are skipped.

A warp of 64 lanes is two lane groups of 32, computed one after the other; each has registers and masks of its own.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpusim.jit.kinds import Memory, Row, Sm
from gpusim.jit.on_demand import on_demand
from gpusim.jit.rule import count_bits, rarely, rule
from gpusim.rules import address_range, cache, cross_lane, memory_access, texture
from gpusim.rules.lanes import compare, compute32, compute64, look_up
from gpusim.units.capacities import LANES
from gpusim.units.opcodes import (
    ARITHMETIC,
    ARITHMETIC64,
    COMPARISON,
    CROSS_LANE,
    FETCH,
    LOOKUP,
    SIGN_BIT,
    SPECIAL,
    WHOLE,
)

ALL = (1 << LANES) - 1
SIGN = np.uint32(0x80000000)


@rule
def wipe(lanes: Any) -> None:
    """Set a new warp's registers to zero and its predicates to false, except the one that is always true."""
    lanes.registers[:] = 0
    lanes.predicates[:] = 0
    lanes.predicates[lanes.predicates.size - 1] = ALL


@rule
def mask_of(lanes: Any, predicate: int, negated: int) -> int:
    """Return the lanes in which a predicate, perhaps negated, is true."""
    mask = lanes.predicates[predicate]
    return ALL & ~mask if negated else mask


@on_demand
def execute(sm: Sm, memory: Memory, g: int) -> bool:
    """Compute warp slot g's next instruction into `sm.outcome`; false: it faults, as `sm.fault` describes."""
    warp, outcome = sm.warps[g], sm.outcome
    instruction = sm.program[warp.pc]
    outcome.threads = outcome.cycles = outcome.transactions = outcome.requests = outcome.ready = 0
    if sm.machine.channels > 1:
        outcome.moves[:] = 0
    if instruction.guard_negated >= WHOLE:
        _as_a_whole(sm, g, instruction)
        return True
    for half in range(sm.machine.groups):  # noqa: SIM110  (compiled)
        if not _of_group(sm, memory, g, half, instruction):
            return False
    return True


@rarely
def _as_a_whole(sm: Any, g: int, instruction: Any) -> None:
    """Decide a branch of the whole warp: its condition is true in any lane, or in none, and all lanes follow."""
    warp, somewhere = sm.warps[g], 0
    for half in range(sm.machine.groups):
        somewhere |= sm.lanes[g * sm.machine.groups + half].predicates[instruction.guard] & warp.lanes[half]
    taken = (somewhere != 0) == (instruction.guard_negated == WHOLE)
    for half in range(sm.machine.groups):
        sm.outcome.active[half] = warp.lanes[half] if taken else 0
        sm.outcome.threads += count_bits(sm.outcome.active[half])


@rule
def _of_group(sm: Any, memory: Any, g: int, half: int, instruction: Any) -> bool:
    """Add the effect of the instruction in a lane group of warp slot g to `sm.outcome`; false: it faults."""
    group = g * sm.machine.groups + half
    active = mask_of(sm.lanes[group], instruction.guard, instruction.guard_negated) & sm.warps[g].lanes[half]
    sm.outcome.active[half] = active
    sm.outcome.threads += LANES if active == ALL else count_bits(active)
    if active == 0:
        return True
    if instruction.action == FETCH:
        _operands(sm.scratch, sm.lanes[group], instruction)
        texture.ask(sm, memory, g, instruction, active)
    if memory_access.accesses(instruction):
        if not memory_access.access(sm, memory, g, group, active):
            return False
        if instruction.cached:
            cache.ask(sm, memory, g, group, active)
    elif instruction.evaluate:
        _compute(sm, instruction, memory, g, group, active)
    if sm.trace_driven:
        address_range.widen(sm, group, instruction, active)
    return True


@rarely  # for its size: it has two callers
def _compute(sm: Any, instruction: Any, memory: Any, g: int, group: int, active: int) -> None:
    scratch, lanes, action = sm.scratch, sm.lanes[group], instruction.action
    if action == ARITHMETIC:
        _operands(scratch, lanes, instruction)
        compute32(instruction.value, sm)
        _write(sm, g, group, instruction.destination, active)
    elif action == COMPARISON:
        _operands(scratch, lanes, instruction)
        compare(instruction.value, sm)
        _set_predicate(lanes, instruction.predicate, scratch.flag, active)
    elif action == ARITHMETIC64:
        _compute64(sm, instruction, g, group, active)
    elif action == SPECIAL:
        _special(sm, instruction.special, g, group)
        _write(sm, g, group, instruction.destination, active)
    elif action == FETCH:
        _operands(scratch, lanes, instruction)
        for word in range(instruction.writes):
            memory_access.fetch(sm, instruction, memory, word)
            _write(sm, g, group, instruction.destination + word, active)
    elif action == LOOKUP:
        _operands(scratch, lanes, instruction)
        look_up(sm, instruction.table)
        _write(sm, g, group, instruction.destination, active)
    elif action == CROSS_LANE:
        _operands(scratch, lanes, instruction)
        cross_lane.exchange(sm, instruction.value, active)
        _write(sm, g, group, instruction.destination, active)


@rule
def _operands(scratch: Any, lanes: Any, instruction: Any) -> None:
    _operand(scratch.a, lanes, instruction, 0)
    _operand(scratch.b, lanes, instruction, 1)
    if instruction.selector >= 0:
        mask = mask_of(lanes, instruction.selector, instruction.selector_negated)
        for lane in range(LANES):
            scratch.c[lane] = (mask >> lane) & 1
    else:
        _operand(scratch.c, lanes, instruction, 2)


@rule
def _operand(to: Any, lanes: Any, instruction: Any, position: int) -> None:
    source = instruction.source[position]
    if source < 0:
        to[:] = np.uint32(instruction.constant[position])
    elif instruction.negated[position] == 0:
        for lane in range(LANES):
            to[lane] = lanes.registers[source, lane]
    elif instruction.negated[position] == SIGN_BIT:
        for lane in range(LANES):
            to[lane] = lanes.registers[source, lane] ^ SIGN
    else:
        for lane in range(LANES):
            to[lane] = (0x100000000 - np.int64(lanes.registers[source, lane])) & 0xFFFFFFFF


@on_demand
def _compute64(sm: Sm, instruction: Row, g: int, group: int, active: int) -> None:
    _operands64(sm.scratch, sm.lanes[group], instruction)
    compute64(instruction.value, sm)
    _write64(sm, g, group, instruction.destination, active)


@rule
def _operands64(scratch: Any, lanes: Any, instruction: Any) -> None:
    _operand64(scratch.a64, lanes, instruction, 0)
    _operand64(scratch.b64, lanes, instruction, 1)
    _operand64(scratch.c64, lanes, instruction, 2)


@rule
def _operand64(to: Any, lanes: Any, instruction: Any, position: int) -> None:
    source = instruction.source[position]
    if source < 0:
        to[:] = instruction.constant[position]
        return
    flip = SIGN if instruction.negated[position] else np.uint32(0)
    for lane in range(LANES):
        high = np.uint64(lanes.registers[source + 1, lane] ^ flip)
        to[lane] = (high << np.uint64(32)) | np.uint64(lanes.registers[source, lane])


@rule
def _write(sm: Any, g: int, group: int, destination: int, active: int) -> None:
    if destination < 0:
        return
    row = sm.lanes[group].registers[destination]
    for lane in range(LANES):
        if (active >> lane) & 1:
            row[lane] = sm.scratch.d[lane]
    memory_access.new_version(sm, g, destination)


@rule
def _write64(sm: Any, g: int, group: int, destination: int, active: int) -> None:
    if destination < 0:
        return
    registers = sm.lanes[group].registers
    for lane in range(LANES):
        if (active >> lane) & 1:
            value = sm.scratch.d64[lane]
            registers[destination, lane] = np.uint32(value & np.uint64(0xFFFFFFFF))
            registers[destination + 1, lane] = np.uint32(value >> np.uint64(32))
    memory_access.new_version(sm, g, destination)
    memory_access.new_version(sm, g, destination + 1)


@rule
def _set_predicate(lanes: Any, predicate: int, flag: Any, active: int) -> None:
    if predicate < 0:
        return
    mask = 0
    for lane in range(LANES):
        if flag[lane] != 0:
            mask |= 1 << lane
    lanes.predicates[predicate] = (mask & active) | (lanes.predicates[predicate] & ~active)


@rule
def _special(sm: Any, which: int, g: int, group: int) -> None:
    """Load the special register, numbered as in isa.operand.SPECIALS, for every lane of a group into `scratch.d`."""
    warp, launch = sm.warps[g], sm.launch
    place = (group - g * sm.machine.groups) * LANES  # of the group's first lane in the warp
    block, axis = sm.blocks[warp.block].id, which % 3
    for lane in range(LANES):
        if which < 3:
            value = _coordinate(warp.index * sm.machine.groups * LANES + place + lane, launch.block, axis)
        elif which < 6:
            value = _coordinate(block, launch.grid, axis)
        elif which < 9:
            value = launch.block[axis]
        elif which < 12:
            value = launch.grid[axis]
        else:
            value = place + lane if which == 12 else warp.index
        sm.scratch.d[lane] = value


@rule
def _coordinate(linear: int, extent: Any, axis: int) -> int:
    if axis == 0:
        return linear % extent[0]
    if axis == 1:
        return linear // extent[0] % extent[1]
    return linear // (extent[0] * extent[1])
