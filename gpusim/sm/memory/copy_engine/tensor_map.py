"""Tensor maps as they lie in memory: 128 bytes, of which the copy engine reads what a copy needs.

The places of the fields are read off what ptxas makes of `tensormap.replace` (sm_90), and off maps of the driver. A
promotion in the L2 says nothing here. In an interleaved layout an element is a slice of channels, of 16 or 32 bytes;
the dimension before the last one counts slices, and a box has one (seen on an H200).

The engine keeps the last MAPS maps at hand. It fetches another when a copy first needs it, or UTMACCTL.PF asks for it.
"""

from __future__ import annotations

import numpy as np

from gpusim.sm.jit.on_demand import on_demand
from gpusim.sm.jit.rule import rarely, rule
from gpusim.sm.memory.copy_engine.declaration import DIMENSIONS
from gpusim.sm.records import Copy, Memory, Sm
from gpusim.sm.unit.capacities import MAPS
from isa.nvidia.rows.copies.bulk import OF_PIXELS
from isa.program import WORD_BYTES
from isa.row import Bulk

MAP_BYTES, MAP_ALIGNMENT = 128, 64
U8, U16, U32, S32, U64, S64, F16, F32, F32_FTZ, F64, BF16, TF32, TF32_FTZ = range(13)
_FINE = 16  # in a type's number: another bit of the map
SPAN, SECTION = 16, 16  # bytes: a swizzle by mode m has a span of SPAN << m; strides count in sections
# Why a map is refused.
GOOD, WRONG_RANK, NO_TYPE, APART, BAD_BOX, TOO_WIDE, UNALIGNED, NO_OPERATION, NOT_PIXELS, PIXELS, CORNERS = range(11)
MOST_PIXELS = 1023
STORE, REDUCE = int(Bulk.STORE), int(Bulk.REDUCE)


@rarely
def read(memory: Memory, at: int, rank: int, copy: Copy) -> int:
    """Fill in the tensor and the box of a copy from the map at a byte place of memory; return why not, or GOOD."""
    first = at // WORD_BYTES
    head = np.int64(memory[first + 2])
    copy.rank, copy.type = int(head >> 4 & 7) + 1, _type(int(head >> 7 & 15 | head >> 12 & _FINE))
    copy.swizzle, copy.fills = int(head >> 13 & 3), int(head >> 15 & 1)
    if copy.rank != rank:
        return WRONG_RANK
    if head & 1 and copy.code & OF_PIXELS == 0:
        return PIXELS
    if copy.type < 0:
        return NO_TYPE
    copy.interleaved = 1 if head >> 11 & 3 else 0
    copy.element = element_bytes(copy.type) if copy.interleaved == 0 else int(SECTION << (head >> 11 & 3) - 1)
    _read_sizes(memory, first, copy)
    copy.total = copy.element
    for k in range(DIMENSIONS):
        copy.total *= copy.counts[k]
    return _of_box(copy, int(np.int64(memory[first]) % SECTION))


@rule
def _of_box(copy: Copy, beyond: int) -> int:
    """Return why a box is refused whose tensor begins so many bytes beyond a multiple of 16, or GOOD."""
    inner = copy.counts[0] * copy.element
    if copy.interleaved:
        return APART if copy.rank < 3 or (copy.steps[0] > 1 and copy.code & OF_PIXELS == 0) else GOOD
    if inner % SECTION:
        return BAD_BOX
    if copy.swizzle and inner > SPAN << copy.swizzle:
        return TOO_WIDE
    return UNALIGNED if beyond else GOOD


@rarely
def read_pixels(memory: Memory, at: int, copy: Copy) -> int:
    """Let a copy that was read as a tile be one of pixels of images (im2col); return why not, or GOOD.

    Then `counts` has the channels of a pixel and the number of pixels, `steps` the distances between these along the
    dimensions of an image, `lower` and `upper` the corners of their box. A store's are inside the tensor.
    """
    corners, bits, first = np.int64(memory[at // WORD_BYTES + 14]), bits_of_corner(copy), first_of_image(copy)
    outside = False
    for k in range(copy.rank - 2):
        copy.lower[k] = _signed(int(corners >> bits * k), bits)
        copy.upper[k] = copy.sizes[first + k] - 1 + _signed(int(corners >> 16 + bits * k), bits)
        outside = outside or copy.lower[k] < 0 or copy.upper[k] >= copy.sizes[first + k]
    if copy.interleaved:
        copy.counts[0] = 1
    for k in range(1, DIMENSIONS):
        copy.counts[k] = 1
    copy.counts[1] = (np.int64(memory[at // WORD_BYTES + 15]) & MOST_PIXELS) + 1
    copy.total = copy.counts[0] * copy.element * copy.counts[1]
    if memory[at // WORD_BYTES + 2] & 1 == 0:
        return NOT_PIXELS
    return CORNERS if outside and copy.bulk in (STORE, REDUCE) else GOOD


@rule
def bits_of_corner(copy: Copy) -> int:
    """Return the bits of a coordinate of a corner, and of an offset: as many as fit into 16 together."""
    return 16 // (copy.rank - 2)


@rule
def first_of_image(copy: Copy) -> int:
    """Return the first dimension of an image: before it are channels, unless slices of these are elements."""
    return 0 if copy.interleaved else 1


@rule
def _signed(word: int, bits: int) -> int:
    """Return the lowest bits of a word as a number with a sign."""
    low = word & (1 << bits) - 1
    return low - (low >> bits - 1 << bits)


@rule
def address(memory: Memory, at: int) -> np.uint64:
    """Return the address in global memory of the tensor of a map."""
    first = at // WORD_BYTES
    return np.uint64(memory[first]) | np.uint64(memory[first + 1]) << np.uint64(32)


@rule
def _read_sizes(memory: Memory, first: int, copy: Copy) -> None:
    """Fill in sizes, strides, box and steps; beyond the rank there is one element."""
    steps = np.int64(memory[first + 13])
    for k in range(DIMENSIONS):
        inside = k < copy.rank
        copy.sizes[k] = np.int64(memory[first + 8 + k]) + 1 if inside else 1
        box = (np.int64(memory[first + 13]) >> 24 if k == 0 else np.int64(memory[first + 14]) >> 8 * (k - 1) & 255) + 1
        says = inside and (k > 0 or copy.interleaved > 0)  # else that of the first one says nothing
        copy.steps[k] = (steps >> 3 * k & 7) + 1 if says else 1
        sliced = copy.interleaved and k == copy.rank - 2
        copy.counts[k] = -(-box // copy.steps[k]) if inside and not sliced else 1
        low = np.int64(memory[first + 2 + k]) if k else 0
        high = np.int64(memory[first + 7]) >> 4 * (k - 1) & 15 if k else 0
        copy.pitches[k] = (low | high << 32) * SECTION if k else copy.element


@rule
def _type(number: int) -> int:
    """Return a type by its number in the map; -1: there is none of that number."""
    if number <= BF16:
        return number
    if number == F32 | _FINE:
        return TF32
    return TF32_FTZ if number == F32_FTZ | _FINE else -1


@rule
def element_bytes(kind: int) -> int:
    """Return the bytes of an element."""
    if kind == U8:
        return 1
    if kind in (U16, F16, BF16):
        return 2
    return 8 if kind in (U64, S64, F64) else 4


@rarely
def at_hand(sm: Sm, place: int, now: int) -> int:
    """Return when the map at a place of global memory is at hand, if a copy or the program asks for it now."""
    engine = sm.engine
    for i in range(MAPS):
        if engine.maps[i] == place + 1:
            return int(engine.there[i])
    i = engine.fetched % MAPS
    engine.fetched += 1
    engine.maps[i], engine.there[i] = place + 1, now + sm.machine.engine_map
    return int(engine.there[i])


@on_demand
def forget(sm: Sm) -> None:
    """Let the engine fetch each map again that is needed."""
    for i in range(MAPS):
        sm.engine.maps[i] = 0
