"""An element of a texture: where its channels lie, what they are in a register, and what they stand for.

Everything takes NumPy arrays of lanes, or scalars; `table[handle, COLUMN]` describes a texture object (isa.texture),
`memory` is global memory in words, and a place is a byte address, negative where there is no texel but the border.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from isa.values.lanes import as_f32, as_f64, as_u32, choose, narrow, widen

# Columns of the table.
FIRST, WIDTH, HEIGHT, DEPTH, PITCH, SLICE, CHANNELS, BYTES, KIND = range(9)
MODE = 9  # of x, y and z
LINEAR, NORMALIZED, AS_FLOAT = 12, 13, 14
BORDER = 15  # pattern of each channel
AXES = 19  # dimensions that it has; 0: any
COLUMNS = 20
UNSIGNED, SIGNED, REAL = range(3)  # kinds of elements
CLAMP, BORDERED, WRAP, MIRROR = range(4)  # address modes


ONE, NONE = np.int64(1), np.int64(0)


def held(table: Any, handle: Any, column: int) -> Any:
    """Return a column of each lane's texture."""
    return table[handle, column]


def raw_of(table: Any, handle: Any, memory: Any, place: Any, channel: Any) -> Any:
    """Return a channel of a texel as it lies in memory, extended by its sign if it has one; of none, 0."""
    nbytes = held(table, handle, BYTES)
    there = (place >= NONE) & (channel < held(table, handle, CHANNELS))
    byte = choose(there, place + channel * nbytes, NONE)
    bits = np.int64(8) * nbytes
    part = (np.int64(memory[byte >> np.int64(2)]) >> (np.int64(8) * (byte & np.int64(3)))) & ((ONE << bits) - ONE)
    negative = (held(table, handle, KIND) == SIGNED) & ((part >> (bits - ONE)) != NONE)
    return choose(there, choose(negative, part - (ONE << bits), part), NONE)


def _half(pattern: Any) -> Any:
    """Return the double equal to a half."""
    magnitude = pattern & np.int64(0x7FFF)
    moved = widen(narrow(magnitude)) << np.uint64(42)
    number = as_f64(moved) * np.float64(2.0**1008)
    bits = widen(narrow(magnitude & np.int64(1023))) << np.uint64(42)
    special = as_f64(bits | np.uint64(0x7FF0000000000000))
    number = choose(magnitude >= np.int64(0x7C00), special, number)
    return choose(pattern > np.int64(0x7FFF), -number, number)


def number(table: Any, handle: Any, raw: Any) -> Any:
    """Return what a channel stands for as a double: that of a real, or a whole one's part of the largest."""
    nbytes, kind = held(table, handle, BYTES), held(table, handle, KIND)
    bits = np.int64(8) * nbytes - choose(kind == SIGNED, ONE, NONE)
    part = np.float64(raw) / np.float64((ONE << bits) - ONE)
    part = choose(part < -1.0, -1.0, part)
    single = np.float64(as_f32(narrow(raw & np.int64(0xFFFFFFFF))))
    real = choose(nbytes == 2, _half(raw & np.int64(0xFFFF)), single)
    return choose(kind == REAL, real, part)


def point(table: Any, handle: Any, memory: Any, place: Any, channel: Any) -> Any:
    """Return a channel of a texel as its pattern in a register, the border's where there is no texel."""
    raw = raw_of(table, handle, memory, place, channel)
    kind = held(table, handle, KIND)
    as_is = (kind != REAL) & (held(table, handle, AS_FLOAT) == 0) | (held(table, handle, BYTES) == 4)
    found = choose(as_is, narrow(raw & np.int64(0xFFFFFFFF)), as_u32(np.float32(number(table, handle, raw))))
    outside = (place < NONE) & (channel < held(table, handle, CHANNELS))
    return choose(outside, narrow(held(table, handle, BORDER + channel)), found)


def weighed(table: Any, handle: Any, memory: Any, place: Any, channel: Any) -> Any:
    """Return a channel as the filter takes it: a real as it is, a whole number as it lies in memory; the border's."""
    raw = raw_of(table, handle, memory, place, channel)
    kind = held(table, handle, KIND)
    found = choose(kind == REAL, number(table, handle, raw), np.float64(raw))
    value = np.float64(as_f32(narrow(held(table, handle, BORDER + channel))))
    limited = choose(value > 1.0, 1.0, choose(value < -1.0, -1.0, value))
    limited = choose((kind == UNSIGNED) & (limited < 0.0), 0.0, limited)
    bits = np.int64(8) * held(table, handle, BYTES) - choose(kind == SIGNED, ONE, NONE)
    whole = np.floor(limited * np.float64((ONE << bits) - ONE) + 0.5)
    return choose(place < NONE, choose(kind == REAL, value, whole), found)


PARTS = (
    held,
    raw_of,
    _half,
    number,
    point,
    weighed,
)
