"""Which lane has which part of a matrix (PTX ISA, "Matrix Fragments for mma.m16n8k16" and those behind it).

A block is 16 bytes of a row of A and of a column of B, four words. Lane l has word l % 4 of row l / 4 and, in the next
register, of row l / 4 + 8; of B word l % 4 of column l / 4. Here words lie row by row: word t of row i at 16 t + i, of
column j at 8 t + j, and element (i, j) of C or D at 16 j + i, so that rows can be computed side by side.

Loops over rows are written out for the four lanes of a row: a compiler then moves whole vectors.
"""

from __future__ import annotations

from typing import Any

import numpy as np

LOW, HIGH = np.uint32(0xFFFF), np.uint32(16)


def rows_of(a: Any, block: int, halves: int, to: Any, first: int) -> None:
    """Set the words of a block of 16 rows, from a register for each 8 rows; 8 rows alone are there twice."""
    for half in range(2):
        words, place = a[halves * block + min(half, halves - 1)], first + 8 * half
        for g in range(8):
            to[place + g] = words[4 * g]
            to[place + g + 16] = words[4 * g + 1]
            to[place + g + 32] = words[4 * g + 2]
            to[place + g + 48] = words[4 * g + 3]


def columns_of(b: Any, block: int, to: Any, first: int) -> None:
    """Set the words of a block of 8 columns, from a register."""
    words = b[block]
    for g in range(8):
        to[first + g] = words[4 * g]
        to[first + g + 8] = words[4 * g + 1]
        to[first + g + 16] = words[4 * g + 2]
        to[first + g + 24] = words[4 * g + 3]


def addends_of(c: Any, halves: int, to: Any) -> None:
    """Set the elements of C, one in a register; of 8 rows, twice."""
    for half in range(2):
        for column in range(2):
            words, place = c[2 * min(half, halves - 1) + column], 8 * half + 16 * column
            for g in range(8):
                to[place + g] = words[4 * g]
                to[place + g + 32] = words[4 * g + 1]
                to[place + g + 64] = words[4 * g + 2]
                to[place + g + 96] = words[4 * g + 3]


def half_addends_of(c: Any, to: Any) -> None:
    """Set the elements of C, two in a register."""
    for r in range(2):
        words = c[r]
        for t in range(4):
            place = 8 * r + 32 * t
            for g in range(8):
                to[place + g] = words[4 * g + t] & LOW
                to[place + g + 16] = words[4 * g + t] >> HIGH


def results_to(of: Any, halves: int, d: Any) -> None:
    """Set the registers of D from its elements, one in a register."""
    for r in range(2 * halves):
        words, place = d[r], 8 * (r >> 1) + 16 * (r & 1)
        for g in range(8):
            words[4 * g] = of[place + g]
            words[4 * g + 1] = of[place + g + 32]
            words[4 * g + 2] = of[place + g + 64]
            words[4 * g + 3] = of[place + g + 96]


def half_results_to(of: Any, d: Any) -> None:
    """Set the registers of D from its elements, two in a register."""
    for r in range(2):
        words = d[r]
        for t in range(4):
            place = 8 * r + 32 * t
            for g in range(8):
                words[4 * g + t] = of[place + g] | of[place + g + 16] << HIGH


def stored(k: Any, parts: int) -> Any:
    """Return the place of number k of a row: in a block of four words the first number of each comes first."""
    block = 4 * parts
    return k - k % block + 4 * (k % parts) + k % block // parts


INLINED = (stored, rows_of, columns_of, addends_of, half_addends_of, results_to, half_results_to)
