"""Reductions: each element in global memory becomes the result of an operation with one in shared memory.

The functions are those of atomics (isa.nvidia.rows.copies.bulk). Halves are computed one by one.
"""

from __future__ import annotations

import numpy as np

from gpusim.sm.jit.lane_functions import update_pair, update_word
from gpusim.sm.jit.rule import rarely, rule
from gpusim.sm.memory.copy_engine import box
from gpusim.sm.memory.copy_engine.tensor_map import BF16, F16, F32, F32_FTZ, F64, S32, S64, U32, U64, element_bytes
from gpusim.sm.records import Copy, Memory, Sm
from gpusim.sm.unit.opcodes import UPDATES
from isa.nvidia.rows.copies.bulk import OPERATIONS, TILED, TYPES, UPDATE
from isa.nvidia.rows.copies.bulk import UPDATES as BY_TYPE
from isa.program import WORD_BYTES

OPERATION, NUMBER = 7, 63  # masks in the code of a copy: of the operation with a tensor, of a bulk reduction's number
_TYPE_OF = {
    U32: "U32",
    S32: "S32",
    U64: "U64",
    S64: "S64",
    F16: "F16",
    F32: "F32",
    F32_FTZ: "F32",
    F64: "F64",
    BF16: "BF16",
}
_INDEX = {key: UPDATES.index(function) for key, function in BY_TYPE.items()}
# By the number of a reduction, and by type of a tensor and operation: which update it is, and bytes of an element.
OF_NUMBER = np.array([*_INDEX.values()], np.int64)
_BYTES = {"F16": 2, "BF16": 2, "U64": 8, "S64": 8, "F64": 8}
BYTES = np.array([_BYTES.get(kind, 4) for kind, _ in BY_TYPE], np.int64)
OF_TYPE = np.array([[_INDEX.get((_TYPE_OF.get(t, ""), o), -1) for o in OPERATIONS] for t in range(13)], np.int64)
assert set(_TYPE_OF.values()) == set(TYPES)


@rule
def known(copy: Copy) -> bool:
    """Tell whether a tensor's type has the operation of a reduction."""
    return bool(OF_TYPE[copy.type, copy.code >> UPDATE & OPERATION] >= 0)


@rarely
def reduce(sm: Sm, memory: Memory, copy: Copy, at: int, size: int) -> None:
    """Update the elements of a piece, whose row was found; what is beyond the tensor is left out."""
    if copy.code & TILED:
        update, width = OF_TYPE[copy.type, copy.code >> UPDATE & OPERATION], element_bytes(copy.type)
    else:
        update, width = OF_NUMBER[copy.code >> UPDATE & NUMBER], int(BYTES[copy.code >> UPDATE & NUMBER])
    for element in range(at, at + size, width):
        place = sm.engine.row + element
        if sm.engine.low <= place and place + width <= sm.engine.high:
            near = copy.block_word * WORD_BYTES + box.near(copy, element)
            _update(sm, memory, int(update), width, place, near)


@rarely
def reduce_nearby(sm: Sm, memory: Memory, copy: Copy, at: int, size: int) -> None:
    """Update elements of shared memory with those of a piece."""
    number = copy.code >> UPDATE & NUMBER
    near = copy.own_word * WORD_BYTES + copy.source
    for element in range(at, at + size, BYTES[number]):
        place = copy.block_word * WORD_BYTES + box.near(copy, element)
        _update(sm, memory, int(OF_NUMBER[number]), int(BYTES[number]), place, near + element)


@rule
def _update(sm: Sm, memory: Memory, update: int, width: int, place: int, near: int) -> None:
    """Update an element of so many bytes at a place of memory with one at another."""
    scratch, far_word, near_word = sm.scratch, place // WORD_BYTES, near // WORD_BYTES
    scratch.lane = 0
    if width == 2:
        scratch.a[0, 0], scratch.c[0, 0] = _half(memory, near), _half(memory, place)
        update_word(update, sm)
        left = np.uint32(8 * (place % WORD_BYTES))
        kept = memory[far_word] & ~(np.uint32(0xFFFF) << left)
        memory[far_word] = kept | (scratch.d[0, 0] & np.uint32(0xFFFF)) << left
        return
    for word in range(width // WORD_BYTES):
        scratch.a[word, 0], scratch.c[word, 0] = memory[near_word + word], memory[far_word + word]
    if width == WORD_BYTES:
        update_word(update, sm)
    else:
        update_pair(update, sm)
    for word in range(width // WORD_BYTES):
        memory[far_word + word] = scratch.d[word, 0]


@rule
def _half(memory: Memory, place: int) -> np.uint32:
    """Return half a word of memory."""
    return memory[place // WORD_BYTES] >> np.uint32(8 * (place % WORD_BYTES)) & np.uint32(0xFFFF)
