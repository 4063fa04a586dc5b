"""Where the bytes of a copy lie: in the tensor, and in shared memory.

A box lies densely in shared memory, its first dimension innermost, in the pattern of its swizzle; so each of its bytes
has a number. A row of it, the bytes along the first dimension, lies together in global memory too. Bytes as such are
one row.
"""

from __future__ import annotations

from gpusim.sm.jit.rule import rarely, rule
from gpusim.sm.memory.copy_engine.declaration import DIMENSIONS
from gpusim.sm.records import Copy, Engine
from isa.memory import LINE_BYTES

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
    begin, inside, rest = copy.far, True, row
    for k in range(1, DIMENSIONS):
        coordinate = copy.begin[k] + rest % copy.counts[k] * copy.steps[k]
        rest //= copy.counts[k]
        inside = inside and 0 <= coordinate < copy.sizes[k]
        begin += coordinate * copy.strides[k]
    engine.row = begin + copy.begin[0] * copy.element - row * row_bytes(copy)
    engine.low = begin
    engine.high = begin + copy.sizes[0] * copy.element if inside else begin


@rule
def piece(copy: Copy, at: int, engine: Engine) -> int:
    """Return how many bytes from `at` on are asked for together: to the end of a line or of the row."""
    left = row_bytes(copy) - at % row_bytes(copy)
    place = engine.row + at
    behind = LINE_BYTES - (place % LINE_BYTES if place % FINE == 0 else at % row_bytes(copy) % LINE_BYTES)
    return int(min(left, behind))


@rule
def swizzled(address: int, mode: int) -> int:
    """Return the address at which the pattern of a swizzle puts a byte: bits 4 and up, changed by those from 7 on."""
    return address ^ (address >> 3 & (7 >> (3 - mode)) << 4)
