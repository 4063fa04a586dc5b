"""Sums of scaled numbers of 4 bits: sixteen products are one term, and both scales multiply it.

Such a term is the exact sum of its products times the digits of both scales; its exponent is that of both scales, which
is not that of the sum. Terms, and C, are cut at 35 bits below the largest exponent of those that are not zero, and then
added exactly; the sum is cut to a single. So the authors of MMA-Sim (Xie et al., arXiv 2511.10909; their program,
github.com/microsoft/MMA-Sim, for block scales of 4-bit numbers) found it on Blackwell chips, also on one of sm_120,
with dense matrices. That a sparse A makes a term of the sixteen numbers that it has is an assumption.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from isa.values.lanes import room_for_integers, room_for_singles, room_for_words
from isa.values.matrix import scales, sparse, sums
from isa.values.matrix.floats import E2M1_IN_FOUR, TO_SINGLE, put_addends, put_results, read_columns, read_rows
from isa.values.matrix.fragments import stored
from isa.values.matrix.numbers import exponent, significand

N, U, L = np.int32, np.uint32, np.uint64
KEPT = 35  # bits
GROUPS, SIZE = 4, 16  # terms of a sum, products of a term
IN_WORD = 8  # numbers of a word
MASK = L(0xFFFFFFFFE0000000)  # of a double's bits: those of a single
SIGN = 31


def multiply(d: Any, a: Any, b: Any, c: Any, n: Any, is_sparse: int, count: int, kind: Any) -> None:
    """Set d to a b + c, of 16 rows and 8 columns; rows of A and columns of B have so many scales of a kind.

    A row of A has 64 numbers. Scales of a sparse A are behind the words that say which numbers it has.
    """
    of, room = (room_for_singles(), room_for_singles()), (room_for_integers(), room_for_integers())
    at, results = room_for_integers(), room_for_words()
    read_rows(a, of[0], room[0], 2, E2M1_IN_FOUR, 4 * IN_WORD, True)
    read_columns(b, 0, of[1], room[1], 2 + 2 * is_sparse, E2M1_IN_FOUR, 4 * IN_WORD, True)
    if is_sparse:
        sparse.places(at, a[4], n, IN_WORD, GROUPS * SIZE)
    else:
        in_order(at)
    factors, powers = (room_for_singles(), room_for_singles()), (room_for_integers(), room_for_integers())
    selector = np.int64(c[4][0])
    for row in range(16):
        split(scales.of_row(a[4 + is_sparse], selector, row), factors[0], powers[0], 16, row, count, kind)
    for column in range(8):
        split(scales.of_column(b[2 + 2 * is_sparse], selector, column), factors[1], powers[1], 8, column, count, kind)
    put_addends(c, 0, results, TO_SINGLE)
    add(results, of, at, factors, powers)
    put_results(results, d, 0, TO_SINGLE)


def in_order(at: Any) -> None:
    """Set where B has the number for each one of a dense A, as `sparse.places` does for another."""
    for k in range(GROUPS * SIZE):
        for row in range(16):
            at[16 * k + row] = k


def split(word: Any, factors: Any, powers: Any, rows: int, row: int, count: int, kind: Any) -> None:
    """Set digits, from 1 to below 2 unless it is subnormal, and exponent of a row's scale for each group."""
    for group in range(GROUPS):
        scale = U(word >> U(8 * (group * count // GROUPS)) & U(255))
        factors[rows * group + row] = significand(U(scale & U(127)), 4, 3) / np.float32(8) if kind[1] else np.float32(1)
        powers[rows * group + row] = scales.power_of(scale, kind)


def add(words: Any, of: Any, at: Any, factors: Any, powers: Any) -> None:
    """Add the terms of all groups to the patterns in `words`."""
    terms, e = room_for_singles(), room_for_integers()
    for i in range(16):
        for j in range(8):
            r = 16 * j + i
            addend = exponent(words[r], TO_SINGLE[0], TO_SINGLE[1], 0)
            most, found = max(addend, sums.LOW), sums.special_addend(words[r], addend, SIGN)
            for group in range(GROUPS):
                p, q = 16 * group + i, 8 * group + j
                terms[group] = product(of, at, SIZE * group, i, j) * factors[0][p] * factors[1][q]
                e[group] = N(powers[0][p] + powers[1][q])
                if e[group] > -sums.LOW:
                    found = sums.MORE | sums.LESS
                elif terms[group] != 0:
                    most = max(most, e[group])
            words[r] = sums.special_pattern(found, SIGN) if found else total(words[r], terms, e, most)


def product(of: Any, at: Any, first: int, i: int, j: int) -> Any:
    """Return the sum of the products of a row's numbers, from number `first` on."""
    found = np.float32(0)
    for k in range(first, first + SIZE):
        p = 16 * stored(k, IN_WORD) + i
        found = np.float32(found + of[0][p] * of[1][8 * at[p] + j])
    return found


def total(word: Any, terms: Any, e: Any, most: Any) -> Any:
    """Return the pattern of the sum of C and of terms with these exponents."""
    found = sums.first_term(word, most, KEPT, TO_SINGLE)
    for group in range(GROUPS):
        if terms[group] != 0:
            found += np.trunc(np.float64(terms[group]) * sums.double_power(N(e[group] - most + KEPT)))
    return sums.pattern_of(found, most, KEPT, MASK, TO_SINGLE[1])


INLINED = (multiply, in_order, split, add, product, total)
