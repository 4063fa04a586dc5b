"""A matrix instruction of a warpgroup, for one warp: its effect, and its 16 rows as the tensor cores compute them.

A warp that issues one leaves the words of its descriptors in an effect. The operands are read when it lands: A from
shared memory or registers, B from shared memory, C from registers; D is written. So an accumulator that is read before
its group is waited for, or a place in shared memory that is overwritten too early, gives what it would on the chip.

The columns go in tiles of eight, each like a matrix instruction of a warp, whose function the row has: lane l has word
l % 4 of a block of 16 bytes, of row l / 4 and l / 4 + 8 of A, and of column l / 4 of B.
"""

from __future__ import annotations

import numpy as np

from gpusim.sm.account.stopping import stop
from gpusim.sm.effects import effects
from gpusim.sm.jit import lane_words
from gpusim.sm.jit.on_demand import on_demand
from gpusim.sm.jit.rule import NEVER, rarely, rule
from gpusim.sm.lanes.values.functions import compute
from gpusim.sm.memory import versions
from gpusim.sm.records import Effect, Lanes, Memory, Numbers, Row, Sm, Table
from gpusim.sm.state.fault import Fault
from gpusim.sm.unit.capacities import LANES
from isa.program import WORD_BYTES
from isa.row import WAITS, Groups
from isa.values.lanes import collect, room_for_integers, room_for_words
from isa.values.matrix.warpgroup import (
    HALVES,
    NEGATED_A,
    NEGATED_B,
    ROWS_OF_WARP,
    SPARSE,
    TURNED_A,
    TURNED_B,
    place_of,
    sign_bits,
    turned_place_of,
)

OUTSIDE = int(Fault.OUTSIDE)
A, B, C = range(3)  # places of the sources of a row
WORDS = 4  # of two descriptors
BLOCKS, BLOCK_BYTES = 2, 16  # of A, whose columns have half of those of B if it is sparse
MATRIX = int(Groups.MATRIX)
TILE = 8  # columns
TOGETHER = 4  # tiles: D of one may have four words
HALF = np.uint32(0xFFFF)


@on_demand
def post(sm: Sm, g: int) -> bool:
    """Post what warp slot g's instruction will do, with the words of its descriptors; False: `sm.fault` says why not.

    Where A is in registers, the instruction has one descriptor, that of B: it comes second here too.
    """
    pc = sm.warps[g].pc
    instruction = sm.program[pc]
    if not effects.has_room(sm, g, pc):
        return False
    effect, registers = effects.post(sm, g, pc), sm.lanes[g * sm.machine.groups].registers
    skipped = 2 if instruction.from_registers else 0
    for word in range(WORDS):
        source = instruction.source[B] + word - skipped
        known = word >= skipped and instruction.source[B] >= 0
        effect.values[0, word, 0] = registers[source, 0] if known else np.uint32(0)
    effect.truth[0] = 1
    if instruction.selector >= 0:
        held = sm.lanes[g * sm.machine.groups].predicates[instruction.selector] & 1
        effect.truth[0] = held ^ instruction.selector_negated
    return True


@on_demand
def land(sm: Sm, memory: Memory, now: int) -> None:
    """Compute the products that are there by now, in order, and say when the next one is."""
    g, place = 0, _due(sm, 0, now)
    while g < sm.warp_slots and sm.fault.code == 0:
        if place >= 0:
            _compute(sm, memory, g, place)
        g += 1 if place < 0 else 0
        place = _due(sm, g, now) if g < sm.warp_slots else -1
    sm.products.lands = NEVER
    for other in range(sm.warp_slots):
        for i in range(sm.warps[other].effects):
            if sm.effects[other, i].groups == MATRIX:
                sm.products.lands = min(sm.products.lands, sm.effects[other, i].lands)


@on_demand
def in_program_order(sm: Sm, memory: Memory, g: int, pc: int) -> None:
    """Without time, compute the products that the instruction of warp slot g at `pc` waits for."""
    instruction = sm.program[pc]
    if instruction.grouping & WAITS or sm.warps[g].live == 0:
        place = _awaited(sm, g, instruction)
        while place >= 0 and sm.fault.code == 0:
            _compute(sm, memory, g, place)
            place = _awaited(sm, g, instruction)


@rule
def _due(sm: Sm, g: int, now: int) -> int:
    """Return the place of the oldest product of warp slot g that is there by now, -1 if there is none."""
    oldest, order = -1, NEVER
    for i in range(sm.warps[g].effects):
        effect = sm.effects[g, i]
        if effect.groups == MATRIX and effect.lands <= now and effect.order < order:
            oldest, order = i, effect.order
    return oldest


@rule
def _awaited(sm: Sm, g: int, instruction: Row) -> int:
    """Return the place of the oldest product of warp slot g that a wait or an exit waits for, -1 if there is none."""
    oldest, order = -1, NEVER
    for i in range(sm.warps[g].effects):
        effect = sm.effects[g, i]
        if effect.groups == MATRIX and effects.covers(sm.warps[g], instruction, effect) and effect.order < order:
            oldest, order = i, effect.order
    return oldest


@rarely
def _compute(sm: Sm, memory: Memory, g: int, place: int) -> None:
    """Compute a product of warp slot g, and forget it; `sm.fault` says if an operand lies outside."""
    effect = sm.effects[g, place]
    if sm.program[effect.pc].destination >= 0:
        _multiply(sm, memory, g, effect)
    effects.drop(sm, g, place)


@rule
def _multiply(sm: Sm, memory: Memory, g: int, effect: Effect) -> None:
    """Compute D of a product, some tiles together."""
    instruction = sm.program[effect.pc]
    scratch, signs = sm.scratch, int(sign_bits(instruction.product & 15))
    if instruction.from_registers:
        for word in range(2 * BLOCKS):
            lane_words.copy(scratch.a[word], sm.lanes[g * sm.machine.groups].registers, instruction.source[A] + word)
    else:
        first = (sm.warps[g].index & 3) * ROWS_OF_WARP
        for half in range(2):
            _read(sm, memory, g, effect, A, half, first + TILE * half)
    if instruction.product & NEGATED_A:
        _negate(scratch.a, 2 * BLOCKS, signs)
    load_behind(scratch.a[2 * BLOCKS], sm.lanes[g * sm.machine.groups], instruction.behind[0])
    scratch.n = instruction.number
    blocks = blocks_of(instruction.product, B)
    for first in range(0, instruction.columns // TILE, TOGETHER):
        scratch.tiles = min(TOGETHER, instruction.columns // TILE - first)
        for tile in range(scratch.tiles):
            _read(sm, memory, g, effect, B, blocks * tile, TILE * (first + tile))
        if instruction.product & NEGATED_B:
            _negate(scratch.b, blocks * scratch.tiles, signs)
        if sm.fault.code == 0:
            _compute_tiles(sm, g, instruction, effect, first)
    scratch.tiles = 0


@rule
def load_behind(to: Numbers, lanes: Lanes, register: int) -> None:
    """Set a word that stands behind a matrix's to a register; -1: there is none, -2: to zero."""
    if register >= 0:
        lane_words.copy(to, lanes.registers, register)
    elif register < -1:
        to[:] = 0


@rule
def blocks_of(code: int, operand: int) -> int:
    """Return the blocks of a row of an operand: of B there are more where A is sparse."""
    return 2 * BLOCKS if code & SPARSE and operand == B else BLOCKS


@rule
def _negate(words: Table, count: int, signs: int) -> None:
    """Change the signs of the numbers in as many words of all lanes."""
    for word in range(count):
        for lane in range(LANES):
            words[word, lane] ^= np.uint32(signs)


@rarely
def _compute_tiles(sm: Sm, g: int, instruction: Row, effect: Effect, first: int) -> None:
    """Compute tiles from the operands in `scratch` and the warp's registers, and write them there."""
    scratch, registers = sm.scratch, sm.lanes[g * sm.machine.groups].registers
    of_tile = 2 if instruction.product & HALVES else 4
    words = of_tile * scratch.tiles
    for word in range(words):
        if instruction.source[C] >= 0 and effect.truth[0]:
            lane_words.copy(scratch.c[word], registers, instruction.source[C] + of_tile * first + word)
        else:
            scratch.c[word][:] = 0
    compute(instruction.value, sm)
    for word in range(words):
        register = instruction.destination + of_tile * first + word
        lane_words.put(registers, register, scratch.d[word], effect.mask[0])
        versions.new_version(sm, g, register)


@rarely
def _read(sm: Sm, memory: Memory, g: int, effect: Effect, of: int, to: int, first: int) -> None:
    """Read eight rows of A, or columns of B, from the one named `first` on, into its words from `to` on.

    The words of the halves of A, eight rows each, take turns.
    """
    words, operand, step = effect.values[0], sm.scratch.b if of == B else sm.scratch.a, 1 if of == B else 2
    low, high = int(np.int64(words[2 * of, 0])), int(np.int64(words[2 * of + 1, 0]))
    product, places = sm.program[effect.pc].product, room_for_integers()
    turned, blocks = product & (TURNED_B if of == B else TURNED_A), blocks_of(product, of)
    for chunk in range(TILE * blocks):
        if turned:
            places[chunk] = turned_place_of(low, high, first, chunk)
        else:
            places[chunk] = place_of(low, high, first + chunk % TILE, chunk // TILE)
    _find(sm, g, effect, places, TILE * blocks)
    for block in range(blocks):
        if turned:
            _gather(memory, operand[to + step * block], places, TILE * block)
        else:
            _copy(memory, operand[to + step * block], places, TILE * block)


@rule
def _find(sm: Sm, g: int, effect: Effect, places: Numbers, count: int) -> None:
    """Turn addresses in shared memory into places of words in memory; `sm.fault` says if one is outside."""
    begin = sm.launch.shared_word + sm.warps[g].block * sm.launch.shared_words
    last = WORD_BYTES * sm.launch.shared_words - BLOCK_BYTES
    for chunk in range(count):
        address = int(places[chunk])
        if address > last:
            stop(sm, OUTSIDE, g, effect.pc, 0, address)
            address = 0
        places[chunk] = begin + address // WORD_BYTES


@rule
def _copy(memory: Memory, to: Numbers, places: Numbers, first: int) -> None:
    """Read a block of eight rows, 16 bytes of each."""
    for i in range(TILE):
        at = places[first + i]
        one, two, three, four = memory[at], memory[at + 1], memory[at + 2], memory[at + 3]
        to[4 * i], to[4 * i + 1], to[4 * i + 2], to[4 * i + 3] = one, two, three, four


@rule
def _gather(memory: Memory, to: Numbers, places: Numbers, first: int) -> None:
    """Read a block of eight rows whose numbers of 16 bits lie by k: of each k those of the eight rows are together."""
    by_k = room_for_words()
    for word in range(4):
        one, next_one = places[first + 2 * word], places[first + 2 * word + 1]
        for pair in range(4):
            low, high = memory[one + pair], memory[next_one + pair]
            by_k[8 * word + 2 * pair] = np.uint32(low & HALF) | np.uint32(high << np.uint32(16))
            by_k[8 * word + 2 * pair + 1] = np.uint32(low >> np.uint32(16)) | np.uint32(high & ~HALF)
    collect(to, by_k, 0, TILE)
