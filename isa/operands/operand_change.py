"""What the text of a source changes in its pattern: `-`, `|...|`, `~`, halves such as H0_H0, and F32.

`R.F32` of a row on halves is a single, of which the row takes the half with its first digits, in both places: sm_75
rounds a single towards zero so, and makes constants so.
"""

from __future__ import annotations

from enum import IntFlag
from functools import cache
from typing import Any

import numpy as np

from isa.operands.operand import BankConstant, Register
from isa.row import Kind, Row

MAGNITUDE64, INFINITY64 = 0x7FFFFFFFFFFFFFFF, 0x7FF0000000000000  # of doubles
INFINITY32, LEAST_NORMAL, GREATEST_HALF = 0x7F800000, 0x38800000, 0x477FE000  # the latter two are halves as singles


class Change(IntFlag):
    """What happens to a source before it is used: halves are chosen, then signs change, then bits are inverted."""

    NONE = 0
    SIGN = 1  # of an IEEE number
    NEGATIVE = 2  # of an integer, in two's complement
    ABSOLUTE = 4
    INVERTED = 8
    LOW = 16  # the low half twice
    HIGH = 32  # the high half twice
    HALVES = 64  # there are two, each with a sign
    CROSSED = 128  # the halves change places, and what is then the low one changes its sign
    SINGLE = 256  # a single becomes the half that is next towards zero, twice


PARTS = {
    "": Change.NONE,
    "H0_H0": Change.LOW,
    "H1_H1": Change.HIGH,
    "H1_H0": Change.NONE,
    "H0_NH1": Change.CROSSED,
    "F32": Change.SINGLE,
}


def change_of(operand: Register | BankConstant, row: Row) -> Change:
    """Return what the row does to a source; raises KeyError for a part that is no half."""
    return _change(operand.part, operand.negated, operand.absolute, operand.inverted, row)


@cache
def _change(part: str, negated: bool, absolute: bool, inverted: bool, row: Row) -> Change:
    change = PARTS[part]
    if negated:
        change |= Change.SIGN if row.is_float or row.numbers is Kind.HALVES else Change.NEGATIVE
    if absolute and not row.drops_signs:
        change |= Change.ABSOLUTE
    if change & (Change.SIGN | Change.NEGATIVE | Change.ABSOLUTE) and of_halves(row):
        change |= Change.HALVES
    return change | Change.INVERTED if inverted else change


def of_halves(row: Row) -> bool:
    """Tell whether a row's sources are of 16 bits."""
    return row.numbers in (Kind.SMALL, Kind.HALVES, Kind.SHORTS)


def signs(change: Change, width: int) -> int:
    """Return the mask of the sign bits of a source of so many bits."""
    return 0x80008000 if change & Change.HALVES else 1 << width - 1


def apply(pattern: Any, change: Change, width: int) -> Any:
    """Return the pattern, uint32 or uint64 by its width, as the row uses it; a double NaN keeps its sign (H200)."""
    kind = np.uint64 if width == 64 else np.uint32
    if change & Change.SINGLE:
        half = half_towards_zero(pattern)
        pattern = half | half << kind(16)
    if change & (Change.LOW | Change.HIGH):
        half = pattern & kind(0xFFFF) if change & Change.LOW else pattern >> kind(16)
        pattern = half | half << kind(16)
    if change & Change.CROSSED:
        pattern = pattern << kind(16) | pattern >> kind(16) ^ kind(0x8000)
    plain = pattern
    if change & Change.ABSOLUTE:
        pattern = pattern & ~kind(signs(change, width))
    if change & Change.SIGN:
        pattern = pattern ^ kind(signs(change, width))
    if width == 64 and change & (Change.ABSOLUTE | Change.SIGN):
        pattern = np.where(plain & kind(MAGNITUDE64) > kind(INFINITY64), plain, pattern)
    if change & Change.NEGATIVE:
        pattern = of_each_half(pattern) if change & Change.HALVES else np.negative(pattern)
    return ~pattern if change & Change.INVERTED else pattern


def of_each_half(pattern: Any) -> Any:
    """Return both halves of a word negated, each modulo 2**16."""
    low, high = pattern & np.uint32(0xFFFF), pattern & np.uint32(0xFFFF0000)
    return (np.negative(low) & np.uint32(0xFFFF)) | np.negative(high)


def half_towards_zero(pattern: Any) -> Any:
    """Return the half that is next to a single towards zero; a NaN is 0x7FFF."""
    magnitude = pattern & np.uint32(0x7FFFFFFF)
    steps = np.minimum(np.uint32(126) - np.minimum(magnitude >> np.uint32(23), np.uint32(126)), np.uint32(31))
    small = (magnitude & np.uint32(0x7FFFFF) | np.uint32(0x800000)) >> steps
    kept = np.clip(magnitude, np.uint32(LEAST_NORMAL), np.uint32(GREATEST_HALF))
    normal = kept - np.uint32(LEAST_NORMAL - 0x800000) >> np.uint32(13)
    finite = np.where(magnitude < np.uint32(LEAST_NORMAL), small, normal)
    special = np.where(magnitude > np.uint32(INFINITY32), np.uint32(0x7FFF), np.uint32(0x7C00))
    found = np.where(magnitude < np.uint32(INFINITY32), finite, special)
    return found | pattern >> np.uint32(16) & np.uint32(0x8000)
