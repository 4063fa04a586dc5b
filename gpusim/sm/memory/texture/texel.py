"""Elements of a buffer that a texture fetch reads: columns and rows, clamped to the edges."""

from __future__ import annotations

import numpy as np

from gpusim.sm.jit.rule import rule
from gpusim.sm.records import Memory, Row, Scratch, Sm
from gpusim.sm.unit.capacities import LANES


@rule
def texel(scratch: Scratch, instruction: Row, lane: int) -> int:
    """Return the byte address of a texture's element in column `a`, row `b` of rows of `c` elements, both clamped."""
    pitch, lines = rows(scratch, instruction, lane)
    column, line = _clamped(scratch.a[0, lane], pitch), _clamped(scratch.b[0, lane], lines)
    element = min(line * pitch + column, np.int64(instruction.limit) - 1)
    return int(instruction.offset + instruction.access_bytes * element)


@rule
def rows(scratch: Scratch, instruction: Row, lane: int) -> tuple[np.int64, np.int64]:
    """Return the elements in a row of a texture, and how many rows there are."""
    pitch = max(np.int64(scratch.c[0, lane]), np.int64(1))
    return pitch, max(np.int64(instruction.limit) // pitch, np.int64(1))


@rule
def _clamped(coordinate: int, end: np.int64) -> np.int64:
    return min(max(np.int64(np.int32(coordinate)), np.int64(0)), end - 1)


@rule
def fetch(sm: Sm, instruction: Row, memory: Memory, word: int) -> None:
    """Texture: load a word of each lane's element into that word of d."""
    for lane in range(LANES):
        sm.scratch.d[word, lane] = memory[texel(sm.scratch, instruction, lane) // 4 + word]
