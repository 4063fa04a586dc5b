"""Sparse matrices: of four numbers of a row (of TF32 two) A has two (one) and, in two bits for each, which ones.

Each is multiplied with the number of B at its k, so the terms of a sum are as many as A has. The bits of rows i and
i + 8 are in words of the lanes of a quad from one on that the instruction names: of numbers of 16 and 32 bits each word
has 16 bits of both rows, of others a word has one row (PTX ISA, "Warp-level matrix-multiply-accumulate using sparse
matrix"; so ptxas 13 takes them apart where sm_90 multiplies 8-bit floats as halves).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from isa.values.matrix import sums
from isa.values.matrix.fragments import stored
from isa.values.matrix.numbers import exponent

N, U = np.int32, np.uint32


def places(to: Any, words: Any, n: Any, parts: int, count: int) -> None:
    """Set where B has the number for each one of A, number k of row i at 16 k + i, from the words of lanes.

    Both are ordered as `stored` says. `n` names the first lane above bit 32; `parts` are the numbers of a word, `count`
    those of a row. Numbers of 4 bits lie in twos.
    """
    bits = count * (4 if parts == 1 else 1 if parts == 8 else 2)
    first = max(bits // 16, 1) * np.int64(n >> np.uint64(32) & np.uint64(3))
    for k in range(count):
        at = k >> 1 if parts == 8 else k  # what two bits, or of TF32 four, are for
        nibble = at if parts == 1 else at >> 1
        for row in range(16):
            if parts >= 4:
                lane, bit = 2 * (nibble >> 3) + (row >> 3), 4 * (nibble & 7)
            else:
                lane, bit = nibble >> 2, 16 * (row >> 3) + 4 * (nibble & 3)
            held = words[4 * (row & 7) + (first + lane & 3)] >> U(bit)
            if parts == 1:
                place = 2 * k + N(U(held >> U(1)) & U(1))
            else:
                place = 4 * nibble + N(U(held >> U(2 * (at & 1))) & U(3))
                place = 2 * place + (k & 1) if parts == 8 else place
            to[16 * stored(k, parts) + row] = stored(place, parts)


def add(words: Any, of: Any, exponents: Any, at: Any, ks: Any, how: Any, format_c: Any) -> None:
    """Add the products of some k of A, each with B's number where `at` says, to the patterns in `words`, in one sum."""
    (of_a, of_b), (a, b), (first, last), (kept, fraction_bits, mask) = of, exponents, ks, how
    more, sign = N(kept + sums.SINGLE_BIAS - fraction_bits), format_c[0] + format_c[1]
    for i in range(16):
        for j in range(8):
            r, found = 16 * j + i, 0
            addend = exponent(words[r], format_c[0], format_c[1], 0)
            most = max(addend, sums.LOW)
            for k in range(first, last):
                most = max(most, N(a[16 * k + i] + b[8 * at[16 * k + i] + j]))
            total = sums.first_term(words[r], most, kept, format_c)
            for k in range(first, last):
                p, q = 16 * k + i, 8 * at[16 * k + i] + j
                total += np.float64(sums.cut(of_a[p] * of_b[q], N(a[p] + b[q]), N(most - more)))
                found |= sums.special_term(of_a[p], of_b[q], a[p], b[q])
            if most > -sums.LOW:
                words[r] = sums.special_pattern(found | sums.special_addend(words[r], addend, sign), sign)
            else:
                words[r] = sums.pattern_of(total, most, kept, mask, format_c[1])


def add_integers(total: Any, a: Any, b: Any, at: Any, first: int, count: int) -> None:
    """Add the products of as many numbers of A, from number `first` of a row on, to each sum."""
    for k in range(count):
        for i in range(16):
            for j in range(8):
                r = 16 * j + i
                total[r] = N(total[r] + N(a[16 * k + i] * b[8 * at[16 * (first + k) + i] + j]))


INLINED = (places, add, add_integers)
