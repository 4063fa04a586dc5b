"""Products of matrices of floating-point numbers: one function for each kind of instruction, as `Tile` takes them.

The last argument is how the architecture adds (isa.architecture.Architecture.sums): no part of an instruction.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from isa.values.lanes import room_for_doubles, room_for_integers, room_for_singles, room_for_words
from isa.values.matrix import sums
from isa.values.matrix.fragments import addends_of, columns_of, half_addends_of, half_results_to, results_to, rows_of
from isa.values.matrix.numbers import NONE, exponent, significand

Kind = tuple[int, ...]
N, U, L = np.int32, np.uint32, np.uint64
# Bits of exponent and fraction, whether there are no infinities; how many are in a word, the first one's lowest bit.
HALF, BFLOAT, TENSOR = (5, 10, 0, 2, 0), (8, 7, 0, 2, 0), (8, 10, 0, 1, 13)
LARGE = np.int32(16)  # above what a narrow number's significand is multiplied by, if it is a number
E4M3, E5M2 = (4, 3, 1, 4, 0), (5, 2, 0, 4, 0)
TO_HALF, TO_SINGLE = (5, 10), (8, 23)


def slots(parts: int) -> int:
    """Return the k of a block: those of four words, eight at least."""
    return max(4 * parts, 8)


def is_narrow(kind: Any) -> bool:
    """Tell whether all products of two numbers of the kind are singles: then `of` has values, else significands."""
    return bool(kind[0] <= HALF[0])


def split(words: Any, of: Any, exponents: Any, rows: int, block: int, kind: Any) -> None:
    """Take the numbers of a block of words apart: the first one of each word, then the next."""
    exponent_bits, fraction_bits, finite, parts, lowest = kind
    to = rows * slots(parts) * block
    for part in range(parts):
        for place in range(4 * rows):
            pattern = U(words[4 * rows * block + place] >> U(32 // parts * part + lowest))
            found = significand(pattern, exponent_bits, fraction_bits)
            power = exponent(pattern, exponent_bits, fraction_bits, finite)
            of[to + place] = (
                np.float32(found * sums.power(min(N(power - fraction_bits), LARGE))) if is_narrow(kind) else found
            )
            exponents[to + place] = power
        to += 4 * rows
    if parts == 1:
        for place in range(4 * rows):
            of[to + place] = np.float32(0)
            exponents[to + place] = NONE


def add(words: Any, of: Any, exponents: Any, ks: Any, how: Any, format_c: Any) -> None:
    """Add the products of some k to the patterns in `words`, in one sum.

    `how`: bits kept, of a product, mask; whether `of` has values.
    """
    (a, b), (first, last), (kept, fraction_bits, mask, narrow) = exponents, ks, how
    most, addends, total, to = room_for_integers(), room_for_integers(), room_for_doubles(), room_for_words()
    for r in range(sums.RESULTS):
        addends[r] = exponent(words[r], format_c[0], format_c[1], 0)
    sums.largest_exponents(most, addends, a, b, first, last)
    sums.begin(total, most, addends, words, kept, format_c)
    if narrow:
        sums.add_values(total, most, of, ks, kept)
    else:
        sums.add_terms(total, most, of, (a, b), ks, np.int32(kept + sums.SINGLE_BIAS - fraction_bits))
    sums.end(to, total, most, kept, mask, format_c[1])
    if sums.is_special(most):
        sums.put_specials(to, words, most, addends, of, exponents, ks, format_c[0] + format_c[1])
    for r in range(sums.RESULTS):
        words[r] = to[r]


def multiply(d: Any, a: Any, b: Any, c: Any, n: Any, blocks: int, kinds: Any, format_c: Any) -> None:
    """Set d to a b + c, of 16 rows, 8 columns, and as many blocks of 16 bytes of k; `n` says how terms are added."""
    of, exponents = (room_for_singles(), room_for_singles()), (room_for_integers(), room_for_integers())
    words, results, (kind_a, kind_b) = room_for_words(), room_for_words(), kinds
    for block in range(blocks):
        rows_of(a, block, 2, words, 64 * block)
        split(words, of[0], exponents[0], 16, block, kind_a)
    for block in range(blocks):
        columns_of(b, block, words, 32 * block)
        split(words, of[1], exponents[1], 8, block, kind_b)
    put_addends(c, results, format_c)
    small = kind_a[3] == 4
    kept, bits = (n >> 16 & 255, n >> 24 & 255) if small else (n & 255, 23)
    mask = L(L(0xFFFFFFFFFFFFFFFF) << L(52 - bits))
    count = slots(kind_a[3]) * (blocks if n >> 8 & 255 == 2 else 1)
    for first in range(0, slots(kind_a[3]) * blocks, count):
        how = np.int64(kept), kind_a[1] + kind_b[1], mask, is_narrow(kind_a) and is_narrow(kind_b)
        add(results, of, exponents, (first, first + count), how, format_c)
    put_results(results, d, format_c)


def put_addends(c: Any, to: Any, format_c: Any) -> None:
    """Set the patterns of C by column."""
    if format_c[1] == 10:
        half_addends_of(c, to)
    else:
        addends_of(c, 2, to)


def put_results(of: Any, d: Any, format_c: Any) -> None:
    """Set the registers of D."""
    if format_c[1] == 10:
        half_results_to(of, d)
    else:
        results_to(of, 2, d)


INLINED = (slots, is_narrow, split, add, multiply, put_addends, put_results)
