"""Which lane has which part of a matrix (PTX ISA, "Matrix Fragments for mma.m16n8k16" and those behind it).

A block is 16 bytes of a row of A and of a column of B, four words. Lane l has word l % 4 of row l / 4 and, in the next
register, of row l / 4 + 8; of B word l % 4 of column l / 4. Here words lie row by row: word t of row i at 16 t + i, of
column j at 8 t + j, and element (i, j) of C or D at 16 j + i, so that rows can be computed side by side.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from isa.values.lanes import collect, room_for_words, spread

LOW, HIGH = np.uint32(0xFFFF), np.uint32(16)


def rows_of(a: Any, block: int, halves: int, to: Any, first: int) -> None:
    """Set the words of a block of 16 rows, from a register for each 8 rows; 8 rows alone are there twice."""
    for half in range(2):
        spread(to, first + 8 * half, 16, a[halves * block + min(half, halves - 1)])


def columns_of(b: Any, block: int, to: Any, first: int) -> None:
    """Set the words of a block of 8 columns, from a register."""
    spread(to, first, 8, b[block])


def addends_of(c: Any, first: int, halves: int, to: Any) -> None:
    """Set the elements of C, one in a register, from register `first` on; of 8 rows, twice."""
    for half in range(2):
        for column in range(2):
            spread(to, 8 * half + 16 * column, 32, c[first + 2 * min(half, halves - 1) + column])


def half_addends_of(c: Any, first: int, to: Any) -> None:
    """Set the elements of C, two in a register."""
    low, high = room_for_words(), room_for_words()
    for r in range(2):
        for lane in range(32):
            low[lane], high[lane] = c[first + r, lane] & LOW, c[first + r, lane] >> HIGH
        spread(to, 8 * r, 32, low)
        spread(to, 8 * r + 16, 32, high)


def results_to(of: Any, halves: int, d: Any, first: int) -> None:
    """Set the registers of D from its elements, one in a register, from register `first` on."""
    for r in range(2 * halves):
        collect(d[first + r], of, 8 * (r >> 1) + 16 * (r & 1), 32)


def half_results_to(of: Any, d: Any, first: int) -> None:
    """Set the registers of D from its elements, two in a register."""
    low, high = room_for_words(), room_for_words()
    for r in range(2):
        collect(low, of, 8 * r, 32)
        collect(high, of, 8 * r + 16, 32)
        for lane in range(32):
            d[first + r, lane] = low[lane] | high[lane] << HIGH


def stored(k: Any, parts: int) -> Any:
    """Return the place of number k of a row: in a block of four words the first number of each comes first."""
    block = 4 * parts
    return k - k % block + 4 * (k % parts) + k % block // parts


INLINED = (stored, rows_of, columns_of, addends_of, half_addends_of, results_to, half_results_to)
