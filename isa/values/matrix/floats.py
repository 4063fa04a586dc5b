"""Products of matrices of floating-point numbers: one function for each kind of instruction, as `Tile` takes them.

The last argument is how the architecture adds (isa.architecture.Architecture.sums): no part of an instruction.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from isa.values.lanes import room_for_doubles, room_for_integers, room_for_singles, room_for_words
from isa.values.matrix import scales, sparse, sums
from isa.values.matrix.fragments import addends_of, columns_of, half_addends_of, half_results_to, results_to, rows_of
from isa.values.matrix.numbers import NONE, exponent, significand, value

Kind = tuple[int, ...]
U, L = np.uint32, np.uint64
# Bits of exponent and fraction, whether there are no infinities (2: no NaN either); how many are in a word, the first
# one's lowest bit.
HALF, BFLOAT, TENSOR = (5, 10, 0, 2, 0), (8, 7, 0, 2, 0), (8, 10, 0, 1, 13)
E4M3, E5M2 = (4, 3, 1, 4, 0), (5, 2, 0, 4, 0)
E2M3, E3M2, E2M1 = (2, 3, 2, 4, 0), (3, 2, 2, 4, 0), (2, 1, 2, 4, 2)  # each in a byte
E2M1_IN_FOUR = (2, 1, 2, 8, 0)
TO_HALF, TO_SINGLE = (5, 10), (8, 23)


def slots(parts: int) -> int:
    """Return the k of a block: those of four words, eight at least."""
    return max(4 * parts, 8)


def split(words: Any, of: Any, exponents: Any, rows: int, block: int, kind: Any, slots: int, narrow: bool) -> None:
    """Take the numbers of a block of words apart, as many as `slots`: the first one of each word, then the next.

    Set `of` to their values if they are `narrow`, else to significands.
    """
    exponent_bits, fraction_bits, finite, parts, lowest = kind
    to = rows * slots * block
    for part in range(parts):
        for place in range(4 * rows):
            pattern = U(words[place] >> U(32 // parts * part + lowest))
            if narrow:
                of[to + place] = value(pattern, exponent_bits, fraction_bits)
            else:
                of[to + place] = significand(pattern, exponent_bits, fraction_bits)
            exponents[to + place] = exponent(pattern, exponent_bits, fraction_bits, finite)
        to += 4 * rows
    if slots > 4 * parts:
        for place in range(4 * rows):
            of[to + place] = np.float32(0)
            exponents[to + place] = NONE


def is_narrow(kinds: Any) -> bool:
    """Tell whether products of two numbers are singles, whatever the numbers are."""
    return bool(max(kinds[0][0], kinds[1][0]) <= HALF[0])


def add(words: Any, of: Any, exponents: Any, ks: Any, how: Any, format_c: Any, narrow: bool) -> None:
    """Add the products of some k to the patterns in `words`, in one sum; `how`: bits kept, of a product, mask.

    `of` has values where numbers are `narrow`, else significands.
    """
    (a, b), (first, last), (kept, fraction_bits, mask) = exponents, ks, how
    most, addends, total, to = room_for_integers(), room_for_integers(), room_for_doubles(), room_for_words()
    for r in range(sums.RESULTS):
        addends[r] = exponent(words[r], format_c[0], format_c[1], 0)
    sums.largest_exponents(most, addends, a, b, first, last)
    sums.begin(total, most, words, kept, format_c)
    if narrow:
        sums.add_values(total, most, of, ks, kept)
    else:
        sums.add_terms(total, most, of, (a, b), ks, np.int32(kept + sums.SINGLE_BIAS - fraction_bits))
    sums.end(to, total, most, kept, mask, format_c[1])
    if sums.is_special(most):
        sums.put_specials(to, words, most, addends, of, exponents, ks, format_c[0] + format_c[1])
    for r in range(sums.RESULTS):
        words[r] = to[r]


def multiply(d: Any, a: Any, b: Any, c: Any, n: Any, tiles: Any, blocks: int, kinds: Any, format_c: Any) -> None:
    """Set d to a b + c, of 16 rows, 8 columns of each of some tiles, and as many blocks of 16 bytes of k.

    `n` says how terms are added.
    """
    of, exponents = (room_for_singles(), room_for_singles()), (room_for_integers(), room_for_integers())
    size, narrow = slots(kinds[0][3]), is_narrow(kinds)
    read_rows(a, of[0], exponents[0], blocks, kinds[0], size, narrow)
    for tile in range(tiles):
        read_columns(b, blocks * tile, of[1], exponents[1], blocks, kinds[1], size, narrow)
        sum_up(d, c, tile, n, of, exponents, size, blocks, kinds, format_c, narrow)


def multiply_sparse(d: Any, a: Any, b: Any, c: Any, tile: Any, n: Any, blocks: int, kinds: Any, format_c: Any) -> None:
    """Set d to the same where A is sparse, and its numbers are as many blocks; B has twice as many."""
    of, exponents = (room_for_singles(), room_for_singles()), (room_for_integers(), room_for_integers())
    size = 4 * kinds[0][3]
    read_rows(a, of[0], exponents[0], blocks, kinds[0], size, False)
    read_columns(b, 2 * blocks * tile, of[1], exponents[1], 2 * blocks, kinds[1], size, False)
    sum_up_sparse(d, a[2 * blocks], c, tile, n, of, exponents, size, blocks, kinds, format_c)


def multiply_scaled(d: Any, a: Any, b: Any, c: Any, n: Any, is_sparse: int, kinds: Any) -> None:
    """Set d to the same of singles where rows of A, of two blocks, and columns of B have a scale.

    Scales of a sparse A are behind the words that say which numbers it has.
    """
    of, exponents = (room_for_singles(), room_for_singles()), (room_for_integers(), room_for_integers())
    size, blocks = slots(kinds[0][3]), (2, 2 + 2 * is_sparse)
    read_rows(a, of[0], exponents[0], blocks[0], kinds[0], size, False)
    read_columns(b, 0, of[1], exponents[1], blocks[1], kinds[1], size, False)
    words = a[4 + is_sparse], b[blocks[1]]
    scales.apply(exponents, words, np.int64(c[4][0]), (size * blocks[0], size * blocks[1]))
    if is_sparse:
        sum_up_sparse(d, a[4], c, 0, n, of, exponents, size, 2, kinds, TO_SINGLE)
    else:
        sum_up(d, c, 0, n, of, exponents, size, 2, kinds, TO_SINGLE, False)


def read_rows(a: Any, of: Any, exponents: Any, blocks: int, kind: Any, size: int, narrow: bool) -> None:
    """Set numbers and exponents of A from its registers, so many k of each block."""
    words = room_for_words()
    for block in range(blocks):
        rows_of(a, block, 2, words, 0)
        split(words, of, exponents, 16, block, kind, size, narrow)


def read_columns(b: Any, first: Any, of: Any, exponents: Any, blocks: int, kind: Any, size: int, narrow: bool) -> None:
    """Set those of B, from register `first` on."""
    words = room_for_words()
    for block in range(blocks):
        columns_of(b, first + block, words, 0)
        split(words, of, exponents, 8, block, kind, size, narrow)


def sum_up(
    d: Any,
    c: Any,
    tile: Any,
    n: Any,
    of: Any,
    exponents: Any,
    size: int,
    blocks: int,
    kinds: Any,
    format_c: Any,
    narrow: bool,
) -> None:
    """Set d of a tile to the sums of products and of c: so many k of a block, as many blocks at once as `n` says."""
    results = room_for_words()
    put_addends(c, tile, results, format_c)
    count = size * (blocks if n >> 8 & 255 == 2 else 1)
    for first in range(0, size * blocks, count):
        add(results, of, exponents, (first, first + count), adding(n, kinds), format_c, narrow)
    put_results(results, d, tile, format_c)


def sum_up_sparse(
    d: Any,
    named: Any,
    c: Any,
    tile: Any,
    n: Any,
    of: Any,
    exponents: Any,
    size: int,
    blocks: int,
    kinds: Any,
    format_c: Any,
) -> None:
    """Set d of a tile to the same sums where A is sparse, and words of the lanes name its numbers."""
    at, results = room_for_integers(), room_for_words()
    sparse.places(at, named, n, kinds[0][3], size * blocks)
    put_addends(c, tile, results, format_c)
    count = size * (blocks if n >> 8 & 255 == 2 else 1)
    for first in range(0, size * blocks, count):
        sparse.add(results, of, exponents, at, (first, first + count), adding(n, kinds), format_c)
    put_results(results, d, tile, format_c)


def adding(n: Any, kinds: Any) -> Any:
    """Return how terms are added: bits kept, fraction bits of a product, and the mask of a result's."""
    kept, bits = (n >> 16 & 255, n >> 24 & 255) if kinds[0][3] >= 4 else (n & 255, 23)
    return np.int64(kept), kinds[0][1] + kinds[1][1], L(L(0xFFFFFFFFFFFFFFFF) << L(52 - bits))


def put_addends(c: Any, tile: Any, to: Any, format_c: Any) -> None:
    """Set the patterns of C of a tile by column."""
    if format_c[1] == 10:
        half_addends_of(c, 2 * tile, to)
    else:
        addends_of(c, 4 * tile, 2, to)


def put_results(of: Any, d: Any, tile: Any, format_c: Any) -> None:
    """Set the registers of D of a tile."""
    if format_c[1] == 10:
        half_results_to(of, d, 2 * tile)
    else:
        results_to(of, 2, d, 4 * tile)


INLINED = (
    *(
        slots,
        split,
        is_narrow,
        add,
        multiply,
        multiply_sparse,
        multiply_scaled,
        read_rows,
        read_columns,
        sum_up,
        sum_up_sparse,
        adding,
        put_addends,
        put_results,
    ),
)
