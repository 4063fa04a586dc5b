"""Compute an instruction: from the operands of a lane group to its results and the outcome of its addresses.

It runs when the warp issues. The scoreboard prevents reads of a register too early or too late, and the load/store
queue is served in issue order, so computing at issue gives the values that the hardware would see at read and
writeback. If only time is of interest, instructions whose results no address or branch needs are skipped.

A warp of 64 lanes is two lane groups of 32, computed one after the other; each has registers and masks of its own.
"""

from __future__ import annotations

import numpy as np

from gpusim.sm.jit import lane_words
from gpusim.sm.jit.lane_functions import pair, put_pair, put_word
from gpusim.sm.jit.on_demand import on_demand
from gpusim.sm.jit.rule import borrow, count_bits, rarely, rule
from gpusim.sm.lanes import cross_lane, predicates, signals
from gpusim.sm.lanes.convergence import independent_lanes
from gpusim.sm.lanes.predicates import ALL
from gpusim.sm.lanes.values import product
from gpusim.sm.lanes.values.functions import compute
from gpusim.sm.lanes.values.operand_change import PAIR, SIGN_CHANGE, WORD, changed, whole_change
from gpusim.sm.memory import versions
from gpusim.sm.memory.cache import cache
from gpusim.sm.memory.copy_engine import commands
from gpusim.sm.memory.memory_access import access_cost, address_range, memory_access
from gpusim.sm.memory.texture import texel, texture, texture_object
from gpusim.sm.records import Lanes, Memory, Numbers, Row, Scratch, Sm, Table
from gpusim.sm.unit.capacities import LANES
from gpusim.sm.unit.opcodes import COMPUTE, FETCH, MULTIPLY, SIGNAL, WHOLE
from isa.operands.operand import PT_INDEX

SIGN = np.uint32(0x80000000)
LOW_WORD = np.uint64(0xFFFFFFFF)


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
    outcome.read = 0
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
    if instruction.action == FETCH and not _ask(sm, memory, g, group, active, instruction):
        return False
    if instruction.action >= SIGNAL:
        return _signal_or_command(sm, memory, g, half, instruction)
    if memory_access.accesses(instruction):
        if not memory_access.access(sm, memory, g, group, active):
            return False
        if instruction.cached:
            cache.ask(sm, memory, g, group, active)
    elif not _of_registers(sm, memory, g, group, active, instruction):
        return False
    if sm.trace_driven:
        address_range.widen(sm, group, instruction, active)
    return True


@rule
def _ask(sm: Sm, memory: Memory, g: int, group: int, active: int, instruction: Row) -> bool:
    """Ask the caches for what a fetch reads; false: it faults."""
    operands(sm.scratch, sm.lanes[group], instruction)
    if instruction.fetches:
        return bool(texture_object.ask(sm, memory, g, group, active))
    texture.ask(sm, memory, instruction, active)
    return True


@rarely
def _signal_or_command(sm: Sm, memory: Memory, g: int, half: int, instruction: Row) -> bool:
    """Do what an instruction does to a barrier in shared memory, or asks of the copy engine; false: it faults."""
    if instruction.action == SIGNAL:
        return bool(signals.execute(sm, memory, g, g * sm.machine.groups + half, sm.outcome.active[half]))
    return bool(commands.execute(sm, memory, g))


@rule
def _of_registers(sm: Sm, memory: Memory, g: int, group: int, active: int, instruction: Row) -> bool:
    """Compute what accesses no memory by its own addresses, if anybody asks for it; false: it faults."""
    if instruction.distinct:
        _compare(sm, instruction, group)
    if instruction.evaluate and instruction.action == COMPUTE:
        _compute(sm, instruction, g, group, active)
    elif instruction.evaluate and instruction.action >= FETCH:
        return bool(_fetch(sm, instruction, memory, g, group, active))
    return True


@rarely
def _compare(sm: Sm, instruction: Row, group: int) -> None:
    """Add what the values of a lane group's active lanes cost."""
    operands(sm.scratch, sm.lanes[group], instruction)
    sm.outcome.cycles += cross_lane.different(sm.scratch) * instruction.distinct
    sm.outcome.extra = access_cost.of_distinct(instruction, int(sm.outcome.cycles))


@rarely  # for its size
def _compute(sm: Sm, instruction: Row, g: int, group: int, active: int) -> None:
    """Compute the function of a lane group's operands, and write what it gives: registers, predicates or both."""
    scratch, lanes = sm.scratch, sm.lanes[group]
    operands(scratch, lanes, instruction)
    scratch.group = group
    if instruction.value >= 0:
        compute(instruction.value, sm)
    if instruction.truth >= 0:
        compute(instruction.truth, sm)
        predicates.set_told(lanes, instruction, scratch.flag, scratch.active, active)
    if instruction.value >= 0 and instruction.writes == 1:
        _write(sm, g, group, instruction.destination, scratch.d[0], active)
    elif instruction.value >= 0:
        _write_range(sm, instruction, g, group, active)


@rule
def _fetch(sm: Sm, instruction: Row, memory: Memory, g: int, group: int, active: int) -> bool:
    """Fetch texels; a matrix instruction is computed later, and false is a fault."""
    if instruction.action == MULTIPLY:
        return bool(product.post(sm, g))
    if instruction.fetches:
        texture_object.fetch(sm, memory, g, group, active)
        return True
    for word in range(instruction.writes):
        texel.fetch(sm, instruction, memory, word)
    _write_range(sm, instruction, g, group, active)
    return True


@rule
def operands(scratch: Scratch, lanes: Lanes, instruction: Row) -> None:
    """Load the operands a, b and c of a lane group into `scratch`, and the predicates that its function takes."""
    _operand(scratch.a, lanes, instruction, 0)
    _operand(scratch.b, lanes, instruction, 1)
    if instruction.selects >= 0:
        _select(scratch, lanes, instruction)
    if instruction.selector >= 0 and instruction.selects < 0:
        mask = predicates.mask_of(lanes, instruction.selector, instruction.selector_negated)
        for lane in range(LANES):
            scratch.c[0, lane] = (mask >> lane) & 1
    else:
        _operand(scratch.c, lanes, instruction, 2)


@rule
def _operand(to: Table, lanes: Lanes, instruction: Row, position: int) -> None:
    """Load as many words of an operand as the function takes."""
    source, first = instruction.source[position], to[0]
    if instruction.taken[position] > 1:
        _range(to, lanes, instruction, position)
    elif source < 0:
        first[:] = np.uint32(instruction.constant[position])
    else:
        lane_words.copy(first, lanes.registers, source)
        if instruction.change[position] == SIGN_CHANGE:
            for lane in range(LANES):
                first[lane] ^= SIGN
        elif instruction.change[position]:
            _change(to, instruction, position)


@rarely
def _range(to: Table, lanes: Lanes, instruction: Row, position: int) -> None:
    """Load an operand of several words: its registers, then zeros, or a constant."""
    source, count, words = instruction.source[position], instruction.counts[position], instruction.taken[position]
    if source < 0:
        for word in range(words):
            to[word][:] = np.uint32(instruction.constant[position] >> np.uint64(32 * (word & 1)) & LOW_WORD)
        return
    for word in range(count):
        lane_words.copy(to[word], lanes.registers, source + word)
    for word in range(count, words):
        to[word][:] = 0
    if instruction.change[position]:
        _change(to, instruction, position)


@rarely
def _change(to: Table, instruction: Row, position: int) -> None:
    """Do to an operand of one or two words what its text says; a word for a function that takes two may carry."""
    change, count, words = instruction.change[position], instruction.counts[position], instruction.taken[position]
    for lane in range(LANES):
        if count == 2:
            whole = changed(pair(to, lane), change, PAIR)
        elif words == 2:
            whole = whole_change(np.uint64(to[0, lane]), change)
        else:
            whole = np.uint64(changed(np.uint64(to[0, lane]), change, WORD))
        if words == 2:
            put_pair(to, lane, whole)
        else:
            put_word(to, lane, np.uint32(whole))


@rule
def _select(scratch: Scratch, lanes: Lanes, instruction: Row) -> None:
    """Load the predicates that a function takes as p, Q in bit 0, and its number n."""
    scratch.n, scratch.p[:] = instruction.number, 0
    if instruction.behind[0] != -1:
        _behind(scratch, lanes, instruction)
    for place in range(instruction.selects):
        if instruction.selectors[place] >= 0:
            mask = predicates.mask_of(lanes, instruction.selectors[place], instruction.selectors_negated >> place & 1)
            for lane in range(LANES):
                scratch.p[lane] |= np.uint32(mask >> lane & 1) << np.uint32(place)


@rarely
def _behind(scratch: Scratch, lanes: Lanes, instruction: Row) -> None:
    """Load the words that a matrix instruction takes behind those of its sources."""
    product.load_behind(scratch.a[instruction.counts[0]], lanes, instruction.behind[0])
    product.load_behind(scratch.b[instruction.counts[1]], lanes, instruction.behind[1])
    product.load_behind(scratch.c[instruction.counts[2]], lanes, instruction.behind[2])
    product.load_behind(scratch.a[instruction.counts[0] + 1], lanes, instruction.behind[3])


@rule
def _write(sm: Sm, g: int, group: int, register: int, word: Numbers, active: int) -> None:
    lane_words.put(sm.lanes[group].registers, register, word, active)
    versions.new_version(sm, g, register)


@rarely
def _write_range(sm: Sm, instruction: Row, g: int, group: int, active: int) -> None:
    for word in range(instruction.writes):
        _write(sm, g, group, instruction.destination + word, sm.scratch.d[word], active)
