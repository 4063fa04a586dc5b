"""Products of matrices of whole numbers: exact, modulo 2**32, or clamped once at the end."""

from __future__ import annotations

from typing import Any

import numpy as np

from isa.values.lanes import room_for_integers, room_for_words
from isa.values.matrix import sparse
from isa.values.matrix.fragments import addends_of, columns_of, results_to, rows_of

N, U, LONG = np.int32, np.uint32, np.int64
S8, U8, S4, U4 = (8, 1), (8, 0), (4, 1), (4, 0)  # bits, and whether there is a sign
AND, XOR = 0, 1
LEAST, MOST = LONG(-(1 << 31)), LONG((1 << 31) - 1)


def split(words: Any, to: Any, rows: int, kind: Any) -> None:
    """Take the numbers of a block of words apart: the first one of each word, then the next."""
    bits, signed = kind
    for part in range(32 // bits):
        for place in range(4 * rows):
            upper = U(words[place] << U(32 - bits - bits * part))
            shifted = N(N(upper) >> N(32 - bits)) if signed else N(U(upper >> U(32 - bits)))
            to[4 * rows * part + place] = shifted


def add(total: Any, a: Any, b: Any, count: int) -> None:
    """Add the products of as many k to each sum, eight at a time: then a compiler computes rows side by side."""
    for k in range(0, count, 8):
        for j in range(8):
            for i in range(16):
                p, q = 16 * k + i, 8 * k + j
                v = N(N(a[p] * b[q]) + N(a[p + 16] * b[q + 8]))
                w = N(N(a[p + 32] * b[q + 16]) + N(a[p + 48] * b[q + 24]))
                x = N(N(a[p + 64] * b[q + 32]) + N(a[p + 80] * b[q + 40]))
                y = N(N(a[p + 96] * b[q + 48]) + N(a[p + 112] * b[q + 56]))
                total[16 * j + i] = N(total[16 * j + i] + N(N(v + w) + N(x + y)))


def clamped(total: Any, addend: Any) -> Any:
    """Return the sum, or the integer of 32 bits next to it."""
    return N(min(max(LONG(total) + LONG(addend), LEAST), MOST))


def multiply(d: Any, a: Any, b: Any, c: Any, tile: Any, shape: Any, kinds: Any, saturate: int) -> None:
    """Set d to a b + c, of 8 columns of a tile, 8 or 16 rows; `shape`: blocks of 16 bytes of k, halves of 8 rows."""
    (blocks, halves), (kind_a, kind_b) = shape, kinds
    words, of_a, of_b, total = room_for_words(), room_for_integers(), room_for_integers(), room_for_integers()
    for r in range(128):
        total[r] = N(0)
    for block in range(blocks):
        rows_of(a, block, halves, words, 0)
        split(words, of_a, 16, kind_a)
        columns_of(b, blocks * tile + block, words, 0)
        split(words, of_b, 8, kind_b)
        add(total, of_a, of_b, 128 // kind_a[0])
    end(d, c, 2 * halves * tile, total, halves, saturate)


def multiply_sparse(d: Any, a: Any, b: Any, c: Any, tile: Any, n: Any, blocks: int, kinds: Any, saturate: int) -> None:
    """Set d to the same of 16 rows where A is sparse, and its numbers are as many blocks; B has twice as many."""
    words, of_a, of_b, total, at = (
        *(room_for_words(), room_for_integers(), room_for_integers()),
        *(room_for_integers(), room_for_integers()),
    )
    parts = 32 // kinds[0][0]
    for r in range(128):
        total[r] = N(0)
    sparse.places(at, a[2 * blocks], n, parts, 4 * parts * blocks)
    for block in range(2 * blocks):
        columns_of(b, 2 * blocks * tile + block, words, 0)
        split(words, of_b[32 * parts * block :], 8, kinds[1])
    for block in range(blocks):
        rows_of(a, block, 2, words, 0)
        split(words, of_a, 16, kinds[0])
        sparse.add_integers(total, of_a, of_b, at, 4 * parts * block, 4 * parts)
    end(d, c, 4 * tile, total, 2, saturate)


def end(d: Any, c: Any, first: Any, total: Any, halves: int, saturate: int) -> None:
    """Set d to the sums and c, from register `first` on."""
    words = room_for_words()
    addends_of(c, first, halves, words)
    for r in range(128):
        addend = N(words[r])
        words[r] = U(clamped(total[r], addend) if saturate else N(total[r] + addend))
    results_to(words, halves, d, first)


def ones(word: Any) -> Any:
    """Return how many bits are set (Hacker's Delight, figure 5-2)."""
    pairs = U(word - U(U(word >> U(1)) & U(0x55555555)))
    digits = U(U(pairs & U(0x33333333)) + U(U(pairs >> U(2)) & U(0x33333333)))
    return N(U(U(U(U(digits + U(digits >> U(4))) & U(0x0F0F0F0F)) * U(0x01010101)) >> U(24)))


def count(d: Any, a: Any, b: Any, c: Any, tile: Any, shape: Any, operation: int) -> None:
    """Set d of a tile to c and how many bits a row and a column have in common, or not in common."""
    blocks, halves = shape
    of_a, of_b, total = room_for_words(), room_for_words(), room_for_integers()
    for r in range(128):
        total[r] = N(0)
    for block in range(blocks):
        rows_of(a, block, halves, of_a, 0)
        columns_of(b, blocks * tile + block, of_b, 0)
        for k in range(4):
            for j in range(8):
                for i in range(16):
                    x, y = of_a[16 * k + i], of_b[8 * k + j]
                    found = ones(U(x ^ y)) if operation == XOR else ones(U(x & y))
                    total[16 * j + i] = N(total[16 * j + i] + found)
    end(d, c, 2 * halves * tile, total, halves, 0)


INLINED = (split, add, clamped, multiply, multiply_sparse, end, ones, count)
