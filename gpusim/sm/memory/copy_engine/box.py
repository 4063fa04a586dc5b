"""Where the bytes of a copy lie: in the tensor, and in shared memory.

The bytes of a box have numbers, its first dimension innermost. A row of it, the bytes along that dimension, lies
together in global memory. So it does in shared memory, where row follows row; those of a swizzle take as many bytes as
its pattern is wide, if they have fewer, but in an interleaved layout. Bytes as such are one row. (All of it as an H200
does it.)
"""

from __future__ import annotations

from gpusim.sm.jit.rule import rarely, rule
from gpusim.sm.memory.copy_engine.declaration import DIMENSIONS
from gpusim.sm.memory.copy_engine.tensor_map import first_of_image
from gpusim.sm.records import Copy, Engine
from isa.memory import LINE_BYTES
from isa.nvidia.rows.copies.bulk import OF_PIXELS

FINE = 16  # bytes that swizzles keep together, and of which lengths are multiples


@rule
def row_bytes(copy: Copy) -> int:
    """Return the bytes of a row of the box."""
    return int(copy.counts[0] * copy.element)


@rarely
def find(copy: Copy, at: int, engine: Engine) -> None:
    """Find where the row of the box that has byte `at` lies: into `engine.row`, `engine.low` and `engine.high`.

    Its byte `at` has the place row + at in global memory. The bytes of the row with places from `low` up to before
    `high` are inside the tensor.
    """
    row = at // row_bytes(copy)
    begin, inside, rest, along = copy.far, True, row, int(copy.begin[0] * copy.element)
    size = int(copy.sizes[0] * copy.element)
    if copy.code & OF_PIXELS:
        begin, inside = _pixel(copy, row)
        along, size = (0, int(copy.element)) if copy.interleaved else (along, size)
    for k in range(1, 1 if copy.code & OF_PIXELS else DIMENSIONS):
        coordinate = copy.begin[k] + rest % copy.counts[k] * copy.steps[k]
        rest //= copy.counts[k]
        inside = inside and 0 <= coordinate < copy.sizes[k]
        begin += coordinate * copy.pitches[k]
    engine.row = begin + along - row * row_bytes(copy)
    engine.low = begin
    engine.high = begin + size if inside else begin


@rarely
def _pixel(copy: Copy, number: int) -> tuple[int, bool]:
    """Return where the n-th pixel's channels begin, and whether it is inside the tensor.

    Pixels go along the first dimension of their box, then along the next, then to the next image, and each is read some
    way off. A slice of channels stays the same.
    """
    begin, inside, left, first, image = int(copy.far), True, number, first_of_image(copy), copy.rank - 1
    for k in range(copy.rank - 2):
        at, step = copy.begin[first + k], copy.steps[first + k]
        behind = (copy.upper[k] - at) // step  # those behind the first one in its row
        if left <= behind:
            at, left = at + left * step, 0
        else:
            width = max(1, (copy.upper[k] - copy.lower[k]) // step + 1)
            at = copy.lower[k] + (left - behind - 1) % width * step
            left = 1 + (left - behind - 1) // width
        at += copy.away[k]
        inside = inside and 0 <= at < copy.sizes[first + k]
        begin += at * copy.pitches[first + k]
    for k in range(image - 1 if copy.interleaved else image, copy.rank):
        at = copy.begin[k] + (left if k == image else 0)
        inside = inside and 0 <= at < copy.sizes[k]
        begin += at * copy.pitches[k]
    return int(begin), inside


@rule
def piece(copy: Copy, at: int, engine: Engine) -> int:
    """Return how many bytes from `at` on are asked for together: to the end of a line or of the row."""
    left = row_bytes(copy) - at % row_bytes(copy)
    place = engine.row + at
    behind = LINE_BYTES - (place % LINE_BYTES if place % FINE == 0 else at % row_bytes(copy) % LINE_BYTES)
    return int(min(left, behind))


@rule
def pitch(copy: Copy) -> int:
    """Return the bytes between rows in shared memory."""
    return FINE << copy.swizzle if copy.swizzle and copy.interleaved == 0 else row_bytes(copy)


@rule
def extent(copy: Copy) -> int:
    """Return the bytes of shared memory in which a box lies."""
    return int(copy.total // max(1, row_bytes(copy)) * pitch(copy))


@rule
def near(copy: Copy, at: int) -> int:
    """Return the address in shared memory of a byte of the box."""
    return swizzled(unmixed(copy, at), copy.swizzle)


@rule
def unmixed(copy: Copy, at: int) -> int:
    """Return the address that a byte of the box would have without a swizzle; bytes of a row follow each other."""
    row = row_bytes(copy)
    return int(copy.shared + at // row * pitch(copy) + at % row)


@rule
def swizzled(address: int, mode: int) -> int:
    """Return the address at which the pattern of a swizzle puts a byte: bits 4 and up, changed by those from 7 on."""
    return address ^ (address >> 3 & (7 >> (3 - mode)) << 4)
