"""What the text of an operand does to its pattern: signs, magnitudes, halves and complements (isa.operand_change)."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpusim.jit.rule import rarely, rule
from isa.operand_change import INFINITY64, MAGNITUDE64, Change

SIGN_CHANGE, NEGATIVE, ABSOLUTE = int(Change.SIGN), int(Change.NEGATIVE), int(Change.ABSOLUTE)
INVERTED, LOW_HALF, HIGH_HALF, HALVES, CROSSED = (
    int(Change.INVERTED),
    int(Change.LOW),
    int(Change.HIGH),
    int(Change.HALVES),
    int(Change.CROSSED),
)
WORD, PAIR = 32, 64  # bits of an operand


@rarely
def changed(pattern: Any, change: int, width: int) -> Any:
    """Return a pattern of that many bits with what the text of its operand does (`isa.operand_change.apply`)."""
    bits = np.uint64(0xFFFFFFFFFFFFFFFF) if width == PAIR else np.uint64(0xFFFFFFFF)
    if change & (LOW_HALF | HIGH_HALF):
        half = pattern & np.uint64(0xFFFF) if change & LOW_HALF else pattern >> np.uint64(16)
        pattern = half | half << np.uint64(16)
    if change & CROSSED:
        pattern = (pattern << np.uint64(16) | pattern >> np.uint64(16) ^ np.uint64(0x8000)) & bits
    signs = np.uint64(0x80008000) if change & HALVES else np.uint64(1) << np.uint64(width - 1)
    is_nan = width == PAIR and pattern & np.uint64(MAGNITUDE64) > np.uint64(INFINITY64)  # which keeps its sign
    if change & ABSOLUTE and not is_nan:
        pattern = pattern & ~signs
    if change & SIGN_CHANGE and not is_nan:
        pattern = pattern ^ signs
    if change & NEGATIVE:
        low = (~pattern + np.uint64(1)) & np.uint64(0xFFFF)
        high = ((~pattern & np.uint64(0xFFFF0000)) + np.uint64(0x10000)) & np.uint64(0xFFFF0000)
        pattern = low | high if change & HALVES else (~pattern + np.uint64(1)) & bits
    return ~pattern & bits if change & INVERTED else pattern


@rule
def whole_change(word: Any, change: int) -> Any:
    """Return a word with what its text does, in 64 bits: a negated integer x is 2**32 - x."""
    if change == NEGATIVE:
        return np.uint64(0x100000000) - word
    return changed(word, change, WORD)
