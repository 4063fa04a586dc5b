"""Elements of a buffer that a texture fetch reads: columns and rows, clamped to the edges."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpusim.sm.jit.rule import rule
from gpusim.sm.unit.capacities import LANES


@rule
def texel(scratch: Any, instruction: Any, lane: int) -> int:
    """Return the byte address of a texture's element in column `a`, row `b` of rows of `c` elements, both clamped."""
    pitch, lines = rows(scratch, instruction, lane)
    column, line = _clamped(scratch.a[0, lane], pitch), _clamped(scratch.b[0, lane], lines)
    return int(instruction.offset + instruction.access_bytes * min(line * pitch + column, instruction.limit - 1))


@rule
def rows(scratch: Any, instruction: Any, lane: int) -> tuple[Any, Any]:
    """Return the elements in a row of a texture, and how many rows there are."""
    pitch = max(np.int64(scratch.c[0, lane]), np.int64(1))
    return pitch, max(np.int64(instruction.limit) // pitch, np.int64(1))


@rule
def _clamped(coordinate: Any, end: Any) -> Any:
    return min(max(np.int64(np.int32(coordinate)), np.int64(0)), end - 1)


@rule
def fetch(sm: Any, instruction: Any, memory: Any, word: int) -> None:
    """Texture: load a word of each lane's element into that word of d."""
    for lane in range(LANES):
        sm.scratch.d[word, lane] = memory[texel(sm.scratch, instruction, lane) // 4 + word]
