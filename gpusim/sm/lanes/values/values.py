"""Compute an instruction: from the operands of a lane group to its results and the outcome of its addresses.

It runs when the warp issues. The scoreboard prevents reads of a register too early or too late, and the load/store
queue is served in issue order, so computing at issue gives the values that the hardware would see at read and
writeback. If only time is of interest, instructions whose results no address or branch needs are skipped.

A warp of 64 lanes is two lane groups of 32, computed one after the other; each has registers and masks of its own.
"""

from __future__ import annotations

import numpy as np

from gpusim.sm.jit import lane_words
from gpusim.sm.jit.lanes import compare, compute32, compute64, convert, look_up, results, truths
from gpusim.sm.jit.on_demand import on_demand
from gpusim.sm.jit.rule import borrow, count_bits, lowest_bit, rarely, rule
from gpusim.sm.lanes import cross_lane, predicates
from gpusim.sm.lanes.convergence import independent_lanes
from gpusim.sm.lanes.predicates import ALL
from gpusim.sm.lanes.values import special_register
from gpusim.sm.lanes.values.operand_change import PAIR, SIGN_CHANGE, WORD, changed, whole_change
from gpusim.sm.memory.cache import cache
from gpusim.sm.memory.memory_access import address_range, memory_access
from gpusim.sm.memory.texture import texel, texture, texture_object
from gpusim.sm.records import Lanes, Memory, Numbers, Row, Scratch, Sm
from gpusim.sm.unit.capacities import LANES, READ
from gpusim.sm.unit.opcodes import (
    ARITHMETIC,
    ARITHMETIC64,
    COMPARISON,
    CONVERSION,
    CROSS_LANE,
    FETCH,
    GENERAL,
    LOOKUP,
    MOVE_BARRIER,
    RESULT,
    SPECIAL,
    WHOLE,
)
from isa.operands.operand import FIRST_UNIFORM, PT_INDEX

SIGN = np.uint32(0x80000000)


@rule
def wipe(lanes: Lanes) -> None:
    """Set a new warp's registers to zero and its predicates to false, except the one that is always true."""
    lanes.registers[:] = 0
    lanes.predicates[:] = 0
    lanes.predicates[PT_INDEX] = ALL


@on_demand
def execute(sm: Sm, memory: Memory, g: int) -> bool:
    """Compute warp slot g's next instruction into `sm.outcome`; false: it faults, as `sm.fault` describes."""
    warp, outcome, memory = sm.warps[g], sm.outcome, borrow(memory)
    instruction = sm.program[warp.pc]
    outcome.threads = outcome.cycles = outcome.transactions = outcome.requests = outcome.ready = outcome.near = 0
    if sm.machine.channels > 1:
        outcome.moves[:] = 0
    if instruction.guard_negated >= WHOLE:
        _as_a_whole(sm, g, instruction)
        return True
    for half in range(sm.machine.groups):
        if not _of_group(sm, memory, g, half, instruction):
            return False
    if instruction.narrows:
        independent_lanes.narrow(sm, g, instruction)
    return True


@rarely
def _as_a_whole(sm: Sm, g: int, instruction: Row) -> None:
    """Decide a branch of the whole warp: its condition is true in any lane, or in none, and all lanes follow."""
    warp, somewhere = sm.warps[g], 0
    for half in range(sm.machine.groups):
        somewhere |= sm.lanes[g * sm.machine.groups + half].predicates[instruction.guard] & warp.lanes[half]
    taken = (somewhere != 0) == (instruction.guard_negated == WHOLE)
    for half in range(sm.machine.groups):
        sm.outcome.active[half] = warp.lanes[half] if taken else 0
        sm.outcome.threads += count_bits(sm.outcome.active[half])


@rule
def _of_group(sm: Sm, memory: Memory, g: int, half: int, instruction: Row) -> bool:
    """Add the effect of the instruction in a lane group of warp slot g to `sm.outcome`; false: it faults."""
    group = g * sm.machine.groups + half
    active = predicates.mask_of(sm.lanes[group], instruction.guard, instruction.guard_negated) & sm.warps[g].lanes[half]
    sm.outcome.active[half] = active
    sm.outcome.threads += LANES if active == ALL else count_bits(active)
    if active == 0:
        return True
    sm.scratch.active = active
    if instruction.uniform:  # what all lanes share is computed for all of them
        active = sm.outcome.active[half] = ALL
    if instruction.action == FETCH:
        operands(sm.scratch, sm.lanes[group], instruction)
        if not instruction.fetches:
            texture.ask(sm, memory, instruction, active)
        elif not texture_object.ask(sm, memory, g, group, active):
            return False
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
def _compute(sm: Sm, instruction: Row, memory: Memory, g: int, group: int, active: int) -> None:
    scratch, lanes, action = sm.scratch, sm.lanes[group], instruction.action
    if action == ARITHMETIC:
        operands(scratch, lanes, instruction)
        compute32(instruction.value, sm)
        _write(sm, g, group, instruction.destination, active)
    elif action == COMPARISON:
        operands(scratch, lanes, instruction)
        compare(instruction.value, sm)
        predicates.set_one(lanes, instruction.predicate, scratch.flag, active)
    elif action == ARITHMETIC64:
        _compute64(sm, instruction, g, group, active)
    elif action == SPECIAL:
        special_register.read(sm, instruction.special, g, group)
        _write(sm, g, group, instruction.destination, active)
        if instruction.writes > 1:  # the upper half of the time; other special registers have none
            sm.scratch.d[:] = np.uint32(special_register.upper_half(sm, instruction.special))
            _write(sm, g, group, instruction.destination + 1, active)
    elif action == FETCH:
        _fetch(sm, instruction, memory, g, group, active)
    elif action == LOOKUP:
        operands(scratch, lanes, instruction)
        look_up(sm, instruction.table)
        _write(sm, g, group, instruction.destination, active)
    elif action == CROSS_LANE:
        operands(scratch, lanes, instruction)
        cross_lane.exchange(sm, instruction)
        _write(sm, g, group, instruction.destination, active)
        if instruction.truth >= 0:
            of_lanes = instruction.predicate < FIRST_UNIFORM
            predicates.set_one(lanes, instruction.predicate, scratch.flag, scratch.active if of_lanes else active)
    elif action == GENERAL:
        _general(sm, instruction, g, group, active)
    elif action >= CONVERSION:
        _seldom(sm, instruction, g, group, active)


@rule
def _fetch(sm: Sm, instruction: Row, memory: Memory, g: int, group: int, active: int) -> None:
    if instruction.fetches:
        texture_object.fetch(sm, memory, g, group, active)
        return
    operands(sm.scratch, sm.lanes[group], instruction)
    for word in range(instruction.writes):
        texel.fetch(sm, instruction, memory, word)
        _write(sm, g, group, instruction.destination + word, active)


@on_demand
def _seldom(sm: Sm, instruction: Row, g: int, group: int, active: int) -> None:
    if instruction.action == CONVERSION:
        _convert(sm, instruction, g, group, active)
    elif instruction.action == RESULT:
        _found_by_barrier(sm, instruction, g, group, active)
    elif instruction.action == MOVE_BARRIER:
        _move_barrier(sm, instruction, g, group, active)


@rule
def _found_by_barrier(sm: Sm, instruction: Row, g: int, group: int, active: int) -> None:
    """Load what the warp's last BAR.RED found, and whether it is not 0."""
    sm.scratch.d[:] = np.uint32(sm.warps[g].reduced)
    sm.scratch.flag[:] = np.uint32(sm.warps[g].reduced)
    _write(sm, g, group, instruction.destination, active)
    predicates.set_one(sm.lanes[group], instruction.predicate, sm.scratch.flag, active)


@rule
def _move_barrier(sm: Sm, instruction: Row, g: int, group: int, active: int) -> None:
    """Move a convergence barrier into a register and clear it, or the register of the lowest lane into it."""
    warp, barrier, source = sm.warps[g], instruction.convergence, instruction.source[0]
    if instruction.clears:
        sm.scratch.d[:] = np.uint32(warp.convergence[barrier])
        _write(sm, g, group, instruction.destination, active)
    warp.plain &= ~(1 << barrier)
    if source < 0:  # a number, or 0 where it is cleared
        warp.convergence[barrier] = np.int64(instruction.constant[0])
    else:
        warp.convergence[barrier] = np.int64(sm.lanes[group].registers[source, int(lowest_bit(active))])


@rule
def operands(scratch: Scratch, lanes: Lanes, instruction: Row) -> None:
    """Load the operands a, b and c of 32 bits of a lane group into `scratch`."""
    _operand(scratch.a, lanes, instruction, 0)
    _operand(scratch.b, lanes, instruction, 1)
    if instruction.selector >= 0:
        mask = predicates.mask_of(lanes, instruction.selector, instruction.selector_negated)
        for lane in range(LANES):
            scratch.c[lane] = (mask >> lane) & 1
    else:
        _operand(scratch.c, lanes, instruction, 2)


@rule
def _operand(to: Numbers, lanes: Lanes, instruction: Row, position: int) -> None:
    source = instruction.source[position]
    if source < 0:
        to[:] = np.uint32(instruction.constant[position])
        return
    lane_words.copy(to, lanes.registers, source)
    if instruction.change[position] == SIGN_CHANGE:
        for lane in range(LANES):
            to[lane] ^= SIGN
    elif instruction.change[position]:
        for lane in range(LANES):
            to[lane] = np.uint32(changed(np.uint64(to[lane]), instruction.change[position], WORD))


@on_demand
def _compute64(sm: Sm, instruction: Row, g: int, group: int, active: int) -> None:
    _operands64(sm.scratch, sm.lanes[group], instruction)
    compute64(instruction.value, sm)
    _write64(sm, g, group, instruction.destination, active)


@rule
def _convert(sm: Sm, instruction: Row, g: int, group: int, active: int) -> None:
    """Compute a conversion from one word to two, or from two to one."""
    if instruction.words == 1:
        operands(sm.scratch, sm.lanes[group], instruction)
        convert(instruction.value, sm)
        _write64(sm, g, group, instruction.destination, active)
    else:
        _operands64(sm.scratch, sm.lanes[group], instruction)
        convert(instruction.value, sm)
        _write(sm, g, group, instruction.destination, active)


@rule
def _operands64(scratch: Scratch, lanes: Lanes, instruction: Row) -> None:
    _operand64(scratch.a64, lanes, instruction, 0)
    _operand64(scratch.b64, lanes, instruction, 1)
    _operand64(scratch.c64, lanes, instruction, 2)


@rule
def _operand64(to: Numbers, lanes: Lanes, instruction: Row, position: int) -> None:
    source = instruction.source[position]
    if source < 0:
        to[:] = instruction.constant[position]
        return
    for lane in range(LANES):
        high = np.uint64(lanes.registers[source + 1, lane])
        whole = (high << np.uint64(32)) | np.uint64(lanes.registers[source, lane])
        to[lane] = changed(whole, instruction.change[position], PAIR) if instruction.change[position] else whole


@on_demand
def _general(sm: Sm, instruction: Row, g: int, group: int, active: int) -> None:
    """Compute an instruction with predicates beside its operands, or with sources of several widths."""
    scratch, lanes = sm.scratch, sm.lanes[group]
    _sources(scratch, lanes, instruction)
    if instruction.value >= 0:
        results(instruction.value, sm)
    if instruction.truth >= 0:
        truths(instruction.truth, sm)
        predicates.set_both(lanes, instruction, scratch.flag, active)
    if instruction.value >= 0 and instruction.destination >= 0:
        if instruction.writes > 1:
            _write64(sm, g, group, instruction.destination, active)
        else:
            for lane in range(LANES):
                scratch.d[lane] = np.uint32(scratch.d64[lane] & np.uint64(0xFFFFFFFF))
            _write(sm, g, group, instruction.destination, active)


@rule
def _sources(scratch: Scratch, lanes: Lanes, instruction: Row) -> None:
    """Load a, b, c, p and n as `isa.values.general` describes them."""
    _wide(scratch.a64, lanes, instruction, 0)
    _wide(scratch.b64, lanes, instruction, 1)
    _wide(scratch.c64, lanes, instruction, 2)
    scratch.n = instruction.number
    scratch.p[:] = 0
    for place in range(READ):
        if instruction.selectors[place] >= 0:
            mask = predicates.mask_of(lanes, instruction.selectors[place], instruction.selectors_negated >> place & 1)
            for lane in range(LANES):
                scratch.p[lane] |= np.uint32(mask >> lane & 1) << np.uint32(place)


@rule
def _wide(to: Numbers, lanes: Lanes, instruction: Row, position: int) -> None:
    source, change = instruction.source[position], instruction.change[position]
    if source < 0:
        to[:] = instruction.constant[position]
    elif instruction.pairs >> position & 1:
        _operand64(to, lanes, instruction, position)
    else:
        for lane in range(LANES):
            word = np.uint64(lanes.registers[source, lane])
            to[lane] = whole_change(word, change) if change else word


@rule
def _write(sm: Sm, g: int, group: int, destination: int, active: int) -> None:
    if destination < 0:
        return
    lane_words.put(sm.lanes[group].registers, destination, sm.scratch.d, active)
    memory_access.new_version(sm, g, destination)


@rule
def _write64(sm: Sm, g: int, group: int, destination: int, active: int) -> None:
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
