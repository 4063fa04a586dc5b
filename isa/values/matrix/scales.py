"""Scales of rows of A and columns of B: one for 32 k (16 with UE4M3), of numbers that a lane of their quad has.

Bytes of a lane's word from one on are the scales of a row along k: those of rows 0 to 7 and 8 to 15 are in the first
two or last two lanes of a quad, those of a column in one lane. A word says which: byte and pair of A from bit 0, byte
and lane of B from bit 3 (as ptxas 13 writes it; PTX ISA, "Block scaling for mma.sync"). E8 are powers of two; of UE4M3,
digits count too. Measured nowhere: no chip that has them was at hand.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from isa.values.matrix.numbers import INFINITE, NAN, NONE, exponent

N, U = np.int32, np.uint32
E8, UE4M3 = (8, 0), (4, 3)  # bits of exponent and fraction


def of_row(words: Any, selector: Any, row: int) -> Any:
    """Return the word of a row's scales, the first one in its lowest byte."""
    return U(words[4 * (row & 7) + 2 * (selector >> 2 & 1) + (row >> 3)] >> U(8 * (selector & 3)))


def of_column(words: Any, selector: Any, column: int) -> Any:
    """Return the word of a column's."""
    return U(words[4 * column + (selector >> 5 & 3)] >> U(8 * (selector >> 3 & 3)))


def apply(exponents: Any, words: Any, selector: Any, sizes: Any) -> None:
    """Change the exponents of A and B, which have so many k, by an E8 of each row and column."""
    for row in range(16):
        change(exponents[0], 16, row, sizes[0], power_of(U(of_row(words[0], selector, row) & U(255)), E8))
    for column in range(8):
        change(exponents[1], 8, column, sizes[1], power_of(U(of_column(words[1], selector, column) & U(255)), E8))


def change(exponents: Any, rows: int, row: int, size: int, power: Any) -> None:
    """Change the exponents of a row, or a column, of as many."""
    for at in range(row, rows * size, rows):
        if power >= NAN:
            exponents[at] = power
        elif NONE < exponents[at] < INFINITE:
            exponents[at] = N(exponents[at] + power)


def power_of(scale: Any, kind: Any) -> Any:
    """Return the exponent of a scale; NONE of zero, NAN of no number."""
    if kind[1]:
        return exponent(U(scale & U(127)), 4, 3, 1)
    return NAN if scale == U(255) else N(N(scale) - N(127))


INLINED = (of_row, of_column, apply, change, power_of)
