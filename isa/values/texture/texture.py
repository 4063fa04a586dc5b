"""What a texture fetch finds: indices and weights along each axis, elements as they lie in memory, and their filter.

Everything takes NumPy arrays of lanes, or scalars; `table[handle, COLUMN]` describes a texture object (isa.texture),
`memory` is global memory in words. The arithmetic was found from what an H200 returned, bit by bit (docs/sass.md).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from isa.values.lanes import as_f32, as_i32, as_i64, choose, narrow
from isa.values.texture.texel import (
    AXES,
    BORDERED,
    BYTES,
    CHANNELS,
    CLAMP,
    FIRST,
    KIND,
    LINEAR,
    MIRROR,
    MODE,
    NONE,
    NORMALIZED,
    ONE,
    PITCH,
    SLICE,
    WIDTH,
    WRAP,
    held,
    point,
    weighed,
)
from isa.values.texture.texture_filter import blended, weights

# The code of a row: its dimensions, and what it does.
DIMENSIONS = 3
WHOLE, GATHERS, ASKS = 4, 8, 16  # whole coordinates; four texels, one channel of each; the size of the texture
COMPONENT = 5  # place of the channel that is gathered

_FINE = 22  # bits behind the point of a coordinate in texels
_SMALL = np.int64(8192)  # up to as many texels normalized coordinates have a bit less
_ENDLESS = np.float64(2.0**64)  # in the place of infinity: a whole number
_PER_TEXEL = np.float64(1 << _FINE)
_FARTHEST = np.float64(1 << 30)  # texels: beyond every texture
_TURNS = np.float64(1 << 12)  # the same in sizes of a texture
NOWHERE = np.int64(-1)


def _turned(table: Any, handle: Any, axis: int, cut: Any) -> tuple[Any, Any]:
    """Return a normalized coordinate, within one turn if the mode repeats the texture, and whether that is mirrored."""
    mode = held(table, handle, MODE + axis)
    turn = np.floor(cut)
    odd = (mode == MIRROR) & (turn - 2.0 * np.floor(turn * 0.5) == 1.0)
    limited = choose(cut < -_TURNS, -_TURNS, choose(cut > _TURNS, _TURNS, cut))
    return choose(mode >= WRAP, cut - turn, limited), odd


def _place(table: Any, handle: Any, axis: int, bits: Any) -> tuple[Any, Any]:
    """Return a coordinate in texels with _FINE bits behind the point, and whether the mode mirrors it.

    A NaN and a denormal are 0. A normalized coordinate is cut off behind 21 bits, behind 22 in textures of more than
    8192 texels: found at 3, 13, 1000, 4096 and 16384.
    """
    number = np.float64(as_f32(bits))
    number = choose(np.abs(number) >= np.float64(2.0**-126), number, 0.0)
    number = choose(number < -_ENDLESS, -_ENDLESS, choose(number > _ENDLESS, _ENDLESS, number))
    size, normalized = held(table, handle, WIDTH + axis), held(table, handle, NORMALIZED) != 0
    per_size = choose(size > _SMALL, _PER_TEXEL, _PER_TEXEL * 0.5)
    turned, odd = _turned(table, handle, axis, np.floor(number * per_size) / per_size)
    limited = choose(number < -_FARTHEST, -_FARTHEST, choose(number > _FARTHEST, _FARTHEST, number))
    texels = as_i64(np.floor(choose(normalized, 0.0, limited) * _PER_TEXEL))
    return choose(normalized, as_i64(turned * _PER_TEXEL) * size, texels), odd & normalized


def _index(table: Any, handle: Any, axis: int, at: Any) -> Any:
    """Return the index of a texel as the mode has it, NOWHERE for one of the border."""
    size, mode = held(table, handle, WIDTH + axis), held(table, handle, MODE + axis)
    kept = choose(at < NONE, NONE, choose(at >= size, size - ONE, at))
    around = choose(at < NONE, size - ONE, choose(at >= size, NONE, at))
    inside = choose(mode == WRAP, around, kept)
    return choose((mode == BORDERED) & (at != kept), NOWHERE, inside)


def along(table: Any, handle: Any, axis: int, bits: Any, code: Any) -> tuple[Any, Any, Any]:
    """Return the indices of the two texels that a coordinate lies between, and the weight of the second in 1/256.

    Without a filter the second one has no weight, except that a gather has both.
    """
    size, mode = held(table, handle, WIDTH + axis), held(table, handle, MODE + axis)
    if code & WHOLE:
        at = as_i64(as_i32(bits))
        found = choose((at < NONE) | (at >= size), NOWHERE, at)
        return found, found, NONE * at
    fine, odd = _place(table, handle, axis, bits)
    gathers, last = code & GATHERS != 0, size - ONE
    middle = (fine - np.int64(1 << (_FINE - 1)) + np.int64(1 << (_FINE - 9))) >> np.int64(_FINE - 8)
    end = last * np.int64(256)
    limited = choose(middle < NONE, NONE, choose(middle > end, end, middle))
    middle = choose((mode == CLAMP) & (gathers == False), limited, middle)  # noqa: E712  (`~` of a Numba bool)
    between = (held(table, handle, LINEAR) != 0) | gathers
    low = choose(between, middle >> np.int64(8), fine >> np.int64(_FINE))
    weight = choose(between, middle & np.int64(255), NONE)
    first, second = choose(odd, last - low, low), choose(odd, last - ONE - low, low + ONE)
    return _index(table, handle, axis, first), _index(table, handle, axis, second), weight


def address(table: Any, handle: Any, x: Any, y: Any, z: Any) -> Any:
    """Return the byte address of the texel with these indices, NOWHERE for one of the border."""
    outside = (x < NONE) | (y < NONE) | (z < NONE)
    inside = x * (held(table, handle, CHANNELS) * held(table, handle, BYTES)) + y * held(table, handle, PITCH)
    return choose(outside, NOWHERE, held(table, handle, FIRST) + inside + z * held(table, handle, SLICE))


def other_axes(table: Any, handle: Any, code: Any) -> Any:
    """Tell whether a fetch has other dimensions than its texture; one that asks for the size has none."""
    axes, own = held(table, handle, AXES), code & DIMENSIONS
    return (axes != NONE) & (own != 0) & (axes != own)


def corners(code: Any) -> int:
    """Return how many texels a fetch may take: two for each dimension that is filtered."""
    return 1 if code & WHOLE else 1 << (code & DIMENSIONS)


def texel(table: Any, handle: Any, x: Any, y: Any, z: Any, code: Any, corner: int) -> Any:
    """Return the byte address of one of a fetch's texels, NOWHERE if it lies in the border or has no weight."""
    along_x, along_y = along(table, handle, 0, x, code), along(table, handle, 1, y, code)
    used = corner < corners(code)
    column, weight = along_x[corner & 1], along_x[2]
    line, other = along_y[0], NONE * weight
    if code & DIMENSIONS > 1:
        line, other = along_y[corner >> 1 & 1], along_y[2]
    else:
        line = NONE * line
    level, last = NONE * weight, NONE * weight
    if code & DIMENSIONS > 2:
        along_z = along(table, handle, 2, z, code)
        level, last = along_z[corner >> 2], along_z[2]
    if not code & GATHERS:
        skipped = ((corner & 1 != 0) & (weight == NONE)) | ((corner & 2 != 0) & (other == NONE))
        skipped = skipped | ((corner & 4 != 0) & (last == NONE))
        column = choose(skipped, NOWHERE, column)
    found = address(table, handle, column, line, level)
    return choose(used, found, NOWHERE)


def fetched(table: Any, handle: Any, memory: Any, x: Any, y: Any, z: Any, code: Any, channel: Any) -> Any:
    """Return a word of a fetch's result, uint32: the channel of that number, or of a gather the texel."""
    if code & ASKS:
        return narrow(held(table, handle, WIDTH + channel))
    if code & GATHERS:
        corner = (channel & 1 ^ channel >> 1) | (channel >> 1 ^ 1) << 1
        place = texel(table, handle, x, y, z, code, corner)
        return point(table, handle, memory, place, code >> COMPONENT)
    nearest = point(table, handle, memory, texel(table, handle, x, y, z, code, 0), channel)
    if code & WHOLE:
        return nearest
    return filtered(table, handle, memory, x, y, z, code, channel, nearest)


def filtered(
    table: Any, handle: Any, memory: Any, x: Any, y: Any, z: Any, code: Any, channel: Any, nearest: Any
) -> Any:
    """Return a channel of the texels around a point, by their weights; `nearest` where the texture has no filter."""
    along_x, along_y = along(table, handle, 0, x, code), along(table, handle, 1, y, code)
    columns, lines = (along_x[0], along_x[1]), (along_y[0], along_y[1])
    across, down, deep = along_x[2], along_y[2], NONE * along_x[2]
    levels = (deep, deep)
    if code & DIMENSIONS > 2:
        along_z = along(table, handle, 2, z, code)
        levels, deep = (along_z[0], along_z[1]), along_z[2]
    near = weights(across, down, np.int64(256) - deep)
    far = weights(across, down, deep)
    found = (
        _weighed(table, handle, memory, columns, lines, levels[0], channel),
        _weighed(table, handle, memory, columns, lines, levels[1], channel),
    )
    blend = blended(found[0], found[1], near, far, held(table, handle, KIND), held(table, handle, BYTES))
    there = (held(table, handle, LINEAR) != 0) & (channel < held(table, handle, CHANNELS))
    return choose(there, blend, nearest)


def _weighed(table: Any, handle: Any, memory: Any, columns: Any, lines: Any, level: Any, channel: Any) -> Any:
    """Return the numbers of four texels of a level, as the filter takes them."""
    return (
        weighed(table, handle, memory, address(table, handle, columns[0], lines[0], level), channel),
        weighed(table, handle, memory, address(table, handle, columns[1], lines[0], level), channel),
        weighed(table, handle, memory, address(table, handle, columns[0], lines[1], level), channel),
        weighed(table, handle, memory, address(table, handle, columns[1], lines[1], level), channel),
    )


PARTS = (
    _turned,
    _place,
    _index,
    along,
    address,
    other_axes,
    corners,
    texel,
    fetched,
    filtered,
    _weighed,
)
