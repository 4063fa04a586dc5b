"""What the text of an operand does to its pattern: signs, bars, halves, singles, complements (operand_change)."""

from __future__ import annotations

import numpy as np

from gpusim.sm.jit.rule import rarely, rule
from isa.operands.operand_change import GREATEST_HALF, INFINITY32, INFINITY64, LEAST_NORMAL, MAGNITUDE64, Change

SIGN_CHANGE, NEGATIVE, ABSOLUTE = int(Change.SIGN), int(Change.NEGATIVE), int(Change.ABSOLUTE)
INVERTED, LOW_HALF, HIGH_HALF, HALVES, CROSSED, SINGLE = (
    int(Change.INVERTED),
    int(Change.LOW),
    int(Change.HIGH),
    int(Change.HALVES),
    int(Change.CROSSED),
    int(Change.SINGLE),
)
WORD, PAIR = 32, 64  # bits of an operand


@rarely
def changed(pattern: np.uint64, change: int, width: int) -> np.uint64:
    """Return a pattern of that many bits with what the text of its operand does (`operands.operand_change.apply`)."""
    bits = np.uint64(0xFFFFFFFFFFFFFFFF) if width == PAIR else np.uint64(0xFFFFFFFF)
    if change & SINGLE:
        pattern = half_towards_zero(pattern) * np.uint64(0x10001)
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


@rarely
def half_towards_zero(single: np.uint64) -> np.uint64:
    """Return the half that is next to a single towards zero (`isa.operands.operand_change.half_towards_zero`)."""
    sign, magnitude = single >> np.uint64(16) & np.uint64(0x8000), single & np.uint64(0x7FFFFFFF)
    if magnitude >= np.uint64(INFINITY32):
        return sign | (np.uint64(0x7FFF) if magnitude > np.uint64(INFINITY32) else np.uint64(0x7C00))
    if magnitude >= np.uint64(LEAST_NORMAL):
        kept = magnitude if magnitude < np.uint64(GREATEST_HALF) else np.uint64(GREATEST_HALF)
        return sign | (kept - np.uint64(LEAST_NORMAL - 0x800000)) >> np.uint64(13)
    steps = np.uint64(126) - (magnitude >> np.uint64(23))
    digits = magnitude & np.uint64(0x7FFFFF) | np.uint64(0x800000)
    return sign | (digits >> steps if steps < np.uint64(32) else np.uint64(0))


@rule
def whole_change(word: np.uint64, change: int) -> np.uint64:
    """Return a word with what its text does, in 64 bits: a negated integer x is 2**32 - x."""
    if change == NEGATIVE:
        return np.uint64(0x100000000) - word
    return changed(word, change, WORD)
