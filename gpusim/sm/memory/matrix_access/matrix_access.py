"""Matrices in shared memory: LDSM loads and STSM stores up to four of 8 x 8 halves, a register of each lane for each.

Lane 8 m + r has the address of row r of matrix m: 16 bytes. Lane 4 r + t has the halves 2 t and 2 t + 1 of row r in a
register; transposed, those of column r. So a lane gets what others name, and addresses of lanes behind the last matrix
mean nothing. Of a row whose lane takes no part zeros are loaded, and nothing is stored there (as of a shuffle; PTX asks
for all lanes).

Each matrix makes passes of its own through shared memory (`shared_memory.of_matrices`). They follow each other like
those of a 32-bit load whose lanes conflict, and the result is as late: 21 + 2 n cycles for n passes on an H200.

Of equal rows of a matrix that are stored the first stays, of equal rows of two matrices the last (measured on an H200).
"""

from __future__ import annotations

import numpy as np

from gpusim.sm.jit.on_demand import on_demand
from gpusim.sm.jit.rule import rule
from gpusim.sm.memory.memory_access.move import constant_word
from gpusim.sm.records import Memory, Row, Sm, Word
from gpusim.sm.unit.capacities import LANES
from gpusim.sm.unit.opcodes import LOAD
from isa.program import WORD_BYTES

ROWS = 8  # of a matrix
PARTS = 4  # words of a row
HALF = np.uint32(16)
LOWER = np.uint32(0xFFFF)


@rule
def naming(instruction: Row, active: int) -> int:
    """Return which of a lane group's active lanes have addresses of rows."""
    return active & ((1 << ROWS * int(instruction.matrices)) - 1)


@on_demand
def move(sm: Sm, memory: Memory, g: int, group: int, active: int) -> None:
    """Move the matrices of a lane group, whose rows' addresses are in `scratch`, to or from the active lanes."""
    instruction, registers = sm.program[sm.warps[g].pc], sm.lanes[group].registers
    loads, register = instruction.action == LOAD, int(instruction.destination)
    if loads and register < 0:
        return
    _find_rows(sm, g, naming(instruction, active))
    for matrix in range(instruction.matrices):
        for back in range(LANES):
            lane = LANES - 1 - back  # the first of equal rows is stored last
            if (active >> lane) & 1:
                if loads:
                    registers[register + matrix, lane] = _loaded(sm, memory, instruction, matrix, lane)
                else:
                    _store(sm, memory, instruction, matrix, lane, _given(sm, instruction, group, matrix, lane))


@rule
def _given(sm: Sm, instruction: Row, group: int, matrix: int, lane: int) -> Word:
    """Return the word that a lane has of a matrix that is stored."""
    register = instruction.source[0]
    return sm.lanes[group].registers[register + matrix, lane] if register >= 0 else constant_word(instruction, matrix)


@rule
def _find_rows(sm: Sm, g: int, names: int) -> None:
    """Set `sm.scratch.line` to the places of the rows' first words in the memory array; -1: nobody names the row."""
    begin = sm.launch.shared_word + sm.warps[g].block * sm.launch.shared_words
    for lane in range(LANES):
        named = (names >> lane) & 1
        sm.scratch.line[lane] = begin + np.int64(sm.scratch.address[lane]) // WORD_BYTES if named else -1


@rule
def _held(sm: Sm, memory: Memory, row: int, word: int) -> np.uint32:
    """Return a word of the row that lane `row` names."""
    place = sm.scratch.line[row]
    return np.uint32(memory[place + word]) if place >= 0 else np.uint32(0)


@rule
def _loaded(sm: Sm, memory: Memory, instruction: Row, matrix: int, lane: int) -> np.uint32:
    """Return what a lane gets of a matrix."""
    down, across, first = lane // PARTS, lane % PARTS, ROWS * matrix
    if not instruction.transposed:
        return _held(sm, memory, first + down, across)
    shift = HALF * np.uint32(down & 1)
    lower = _held(sm, memory, first + 2 * across, down // 2) >> shift & LOWER
    upper = _held(sm, memory, first + 2 * across + 1, down // 2) >> shift & LOWER
    return np.uint32(lower | upper << HALF)


@rule
def _store(sm: Sm, memory: Memory, instruction: Row, matrix: int, lane: int, word: Word) -> None:
    """Store what a lane has of a matrix."""
    down, across, first = lane // PARTS, lane % PARTS, ROWS * matrix
    if not instruction.transposed:
        place = sm.scratch.line[first + down]
        if place >= 0:
            memory[place + across] = word
        return
    shift = HALF * np.uint32(down & 1)
    for part in range(1, -1, -1):
        place = sm.scratch.line[first + 2 * across + part]
        if place >= 0:
            place += down // 2
            half = word >> HALF * np.uint32(part) & LOWER
            memory[place] = np.uint32(memory[place] & ~(LOWER << shift) | half << shift)
