"""Products of 8 x 8 x 4 halves by the tensor cores of sm_70 and sm_75: four at a time, each by eight lanes of a warp.

Lanes 4 q to 4 q + 3 and those 16 further on have product q. The first four have rows (of B: columns) 0 to 3, the others
4 to 7: of A by rows a lane has the four numbers of its row, of A by columns those of its k, and B alike (PTX ISA,
"Matrix Fragments for mma.m8n8k4 with .f16"). One step of two (sums of halves) or four computes a part of D: of halves
columns 4 s to 4 s + 3, of singles the same for s / 2, and of four rows the two that s % 2 says.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from isa.values.lanes import as_f32, as_u32, choose, room_for_integers, room_for_singles, room_for_words
from isa.values.matrix import floats, sums
from isa.values.matrix.numbers import NONE, exponent, value

U = np.uint32
QUADS, SIDE, DEPTH = 4, 8, 4
KINDS = (floats.HALF, floats.HALF)
UP = 2.0**112  # exponents of singles count from -127, those of halves from -15


def half_of(words: Any, lane: int, number: int) -> Any:
    """Return a half of a lane's, by its number."""
    return U(U(words[number >> 1][lane] >> U(16 * (number & 1))) & U(0xFFFF))


def lane_of(quad: int, row: int, within: int) -> int:
    """Return the lane of a product's row (of B: column), or one of the four with these rows."""
    return 4 * quad + 16 * (row >> 2) + within


def read(words: Any, of: Any, exponents: Any, rows: int, quad: int, by_lane: int) -> None:
    """Set the numbers of a product's A or B, of so many rows, the last of them zeros; `by_lane`: a lane has a k."""
    for place in range(rows * 2 * DEPTH):
        of[place], exponents[place] = np.float32(0), NONE
    for k in range(DEPTH):
        for row in range(SIDE):
            lane = lane_of(quad, row, k if by_lane else row & 3)
            pattern = half_of(words, lane, row & 3 if by_lane else k)
            of[rows * k + row] = value(pattern, 5, 10)
            exponents[rows * k + row] = exponent(pattern, 5, 10, 0)


def widened(pattern: Any) -> Any:
    """Return the single that a half is."""
    size = U(pattern & U(0x7FFF))
    number = as_u32(np.float32(as_f32(U(size << U(13))) * np.float32(UP)))
    special = U(U(0x7F800000) | U(U(size & U(0x3FF)) << U(13)))
    return U(choose(size >= U(0x7C00), special, number) | U(U(pattern & U(0x8000)) << U(16)))


def place(quad: int, row: int, column: int, singles: int) -> tuple[int, int]:
    """Return the lane of an element of C or D, and which of a step's numbers of this lane it is."""
    if singles:
        return lane_of(quad, row, (row & 1) + (column & 2)), column & 1
    return lane_of(quad, row, row & 3), column & 3


def multiply(d: Any, a: Any, b: Any, c: Any, n: Any, step: int, by_lane: Any, singles: Any) -> None:
    """Set d to the step's part of a b + c; `by_lane` says of A and B, `singles` of D and C, how they lie."""
    of, exponents = (room_for_singles(), room_for_singles()), (room_for_integers(), room_for_integers())
    results, to = room_for_words(), floats.TO_SINGLE if singles[0] else floats.TO_HALF
    first = 4 * (step >> 1 if singles[0] else step)
    for quad in range(QUADS):
        read(a, of[0], exponents[0], 2 * SIDE, quad, by_lane[0])
        read(b, of[1], exponents[1], SIDE, quad, by_lane[1])
        for r in range(sums.RESULTS):
            results[r] = U(0)
        for row in range(SIDE):
            for column in range(first, first + 4):
                lane, number = place(quad, row, column, singles[1])
                if singles[1]:
                    results[16 * column + row] = c[number][lane]
                else:
                    half = half_of(c, lane, number)
                    results[16 * column + row] = widened(half) if singles[0] else half
        floats.add(results, of, exponents, (0, 2 * DEPTH), floats.adding(n, KINDS), to, True)
        for row in range(SIDE):
            for column in range(first, first + 4):
                lane, number = place(quad, row, column, singles[0])
                found = results[16 * column + row]
                if singles[0]:
                    if row >> 1 & 1 == step & 1:
                        d[number][lane] = found
                else:
                    put_half(d, lane, number, found)


def put_half(words: Any, lane: int, number: int, pattern: Any) -> None:
    """Set a half of a lane's."""
    left = U(16 * (number & 1))
    words[number >> 1][lane] = U(U(words[number >> 1][lane] & U(U(0xFFFF0000) >> left)) | U(U(pattern) << left))


INLINED = (half_of, lane_of, read, widened, place, multiply, put_half)
