"""Scales of rows of A and columns of B: one for 32 k (16 with UE4M3), of numbers that a lane of their quad has.

A product is that of its numbers and of both scales. Bytes of a lane's word from one on are the scales of a row along k:
those of rows 0 to 7 and 8 to 15 are in the first two or last two lanes of a quad, those of a column in one lane. A word
says which: byte and pair of A from bit 0, byte and lane of B from bit 3 (as ptxas 13 writes it; PTX ISA, "Block scaling
for mma.sync"). E8 are powers of two; of UE4M3, digits count too. Measured nowhere: no chip that has them was at hand.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from isa.values.matrix.fragments import stored
from isa.values.matrix.numbers import INFINITE, NAN, NONE, exponent, significand

N, U = np.int32, np.uint32
E8, UE4M3 = (8, 0), (4, 3)  # bits of exponent and fraction


def apply(of: Any, exponents: Any, words: Any, selector: Any, blocks: Any, parts: int, count: int, kind: Any) -> None:
    """Change significands and exponents of A and B, of so many blocks each, by their scales, `count` for each row.

    A word has so many parts. Of a sparse A numbers as many k apart as those of B have a scale each, half as many.
    """
    for row in range(16):
        lane = 4 * (row & 7) + 2 * (selector >> 2 & 1) + (row >> 3)
        change(of[0], exponents[0], (16, row), words[0][lane] >> U(8 * (selector & 3)), (blocks[0], parts), count, kind)
    for column in range(8):
        lane = 4 * column + (selector >> 5 & 3)
        change(
            of[1],
            exponents[1],
            (8, column),
            words[1][lane] >> U(8 * (selector >> 3 & 3)),
            (blocks[1], parts),
            count,
            kind,
        )


def change(of: Any, exponents: Any, place: Any, scales: Any, size: Any, count: int, kind: Any) -> None:
    """Change the numbers of a row, or a column, by its scales, the first one in the lowest byte; `place`: rows, row."""
    (rows, row), (blocks, parts) = place, size
    for k in range(4 * parts * blocks):
        scale = U(scales >> U(8 * (k * count // (4 * parts * blocks))) & U(255))
        at = rows * stored(k, parts) + row
        power = power_of(scale, kind)
        if kind[1]:
            of[at] *= significand(scale, 4, 3)
        if power >= NAN or (power == NONE and exponents[at] < INFINITE):
            exponents[at] = power
        elif NONE < exponents[at] < INFINITE:
            exponents[at] = N(exponents[at] + power)


def power_of(scale: Any, kind: Any) -> Any:
    """Return the exponent of a scale; NONE of zero, NAN of no number."""
    if kind[1]:
        return exponent(U(scale & U(127)), 4, 3, 1)
    return NAN if scale == U(255) else N(N(scale) - N(127))


INLINED = (apply, change, power_of)
