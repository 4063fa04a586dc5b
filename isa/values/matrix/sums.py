"""Sums of products as tensor cores add them: in fixed point, below the largest exponent.

Products are exact. The exponent of a term is the sum of its operands' (of C its own), whether or not its significand is
below 2; E is the largest of the terms that are not zero. Each term is cut toward zero at so many bits below 2**E, then
all are added exactly, and the sum is rounded once. (Xie et al., MMA-Sim, arXiv 2511.10909; Khattak and Mikaitis, arXiv
2512.07004; equal to what an H200 gives in all cases of tests/isa/values/matrix/data/numerics.npz.xz.)

Element (i, j) of a result is at 16 j + i. Element (i, k) of A is at 16 k + i, (k, j) of B at 8 k + j, and eight k are
added at a time: their terms below 2**28 fit a word.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from isa.values.lanes import as_f32, as_f64, as_u32, as_u64, choose, room_for_integers, room_for_singles
from isa.values.matrix.numbers import INFINITE, NAN, NONE, value

N, U, L = np.int32, np.uint32, np.uint64
RESULTS = 128
LOW = N(-400)  # below the exponent of every term
SINGLE_BIAS, DOUBLE_BIAS = 127, 1023
WIDE = 120  # no power of two beyond this one, or its inverse, decides a term of narrow numbers
LEAST_SINGLE, LEAST_HALF = 2.0**-126, 2.0**-14  # normal ones
MAGNITUDE = L(0x7FFFFFFFFFFFFFFF)
NAN_SINGLE, INFINITE_SINGLE, NAN_HALF, INFINITE_HALF = U(0x7FFFFFFF), U(0x7F800000), U(0x7FFF), U(0x7C00)
MORE, LESS = 1, 2  # infinities
HALF_SIGN = 15  # its bit
TO_STEPS = 2.0**149  # of the least single
HALF_STEPS = 2.0**28  # a double of this size counts in steps of the least half


def largest_exponents(most: Any, addends: Any, a: Any, b: Any, first: int, last: int) -> None:
    """Set E of each result from the exponents of C and of both factors, of k from `first` to below `last`."""
    for r in range(RESULTS):
        most[r] = max(addends[r], LOW)
    for k in range(first, last, 8):
        for j in range(8):
            for i in range(16):
                p, q = 16 * k + i, 8 * k + j
                v = max(N(a[p] + b[q]), N(a[p + 16] + b[q + 8]))
                w = max(N(a[p + 32] + b[q + 16]), N(a[p + 48] + b[q + 24]))
                x = max(N(a[p + 64] + b[q + 32]), N(a[p + 80] + b[q + 40]))
                y = max(N(a[p + 96] + b[q + 48]), N(a[p + 112] + b[q + 56]))
                most[16 * j + i] = max(most[16 * j + i], v, w, x, y)


def cut(product: Any, exponents: Any, most: Any) -> Any:
    """Return a term in units of the last bit kept, cut toward zero; `most` is less what turns E into these."""
    return N(np.float32(product) * as_f32(U(U(max(N(exponents - most), N(0))) << U(23))))


def add_terms(total: Any, most: Any, of: Any, exponents: Any, ks: Any, more: Any) -> None:
    """Add the terms of k from the first to below the last to each result; `more` is what a term's exponent has more."""
    (of_a, of_b), (a, b), (first, last) = of, exponents, ks
    for k in range(first, last, 8):
        for j in range(8):
            for i in range(16):
                p, q, e = 16 * k + i, 8 * k + j, N(most[16 * j + i] - more)
                v = N(
                    cut(of_a[p] * of_b[q], N(a[p] + b[q]), e)
                    + cut(of_a[p + 16] * of_b[q + 8], N(a[p + 16] + b[q + 8]), e)
                )
                w = N(
                    cut(of_a[p + 32] * of_b[q + 16], N(a[p + 32] + b[q + 16]), e)
                    + cut(of_a[p + 48] * of_b[q + 24], N(a[p + 48] + b[q + 24]), e)
                )
                x = N(
                    cut(of_a[p + 64] * of_b[q + 32], N(a[p + 64] + b[q + 32]), e)
                    + cut(of_a[p + 80] * of_b[q + 40], N(a[p + 80] + b[q + 40]), e)
                )
                y = N(
                    cut(of_a[p + 96] * of_b[q + 48], N(a[p + 96] + b[q + 48]), e)
                    + cut(of_a[p + 112] * of_b[q + 56], N(a[p + 112] + b[q + 56]), e)
                )
                total[16 * j + i] += np.float64(N(N(v + w) + N(x + y)))


def power(of: Any) -> Any:
    """Return 2 to a power, of one beyond those of most singles the nearest of these."""
    return as_f32(U(U(N(min(max(of, -WIDE), WIDE)) + N(SINGLE_BIAS)) << U(23)))


def add_values(total: Any, most: Any, of: Any, ks: Any, kept: Any) -> None:
    """Do as `add_terms` with the values themselves, whose products are singles.

    Sixteen terms below 2**27 fit a word: each has two digits before the point and at most 21 behind it.
    """
    (of_a, of_b), (first, last), scales, part = of, ks, room_for_singles(), room_for_integers()
    for r in range(RESULTS):
        scales[r], part[r] = power(N(kept - most[r])), N(0)
    for k in range(first, last, 8):
        for j in range(8):
            for i in range(16):
                p, q, s = 16 * k + i, 8 * k + j, scales[16 * j + i]
                v = N(N(of_a[p] * of_b[q] * s) + N(of_a[p + 16] * of_b[q + 8] * s))
                w = N(N(of_a[p + 32] * of_b[q + 16] * s) + N(of_a[p + 48] * of_b[q + 24] * s))
                x = N(N(of_a[p + 64] * of_b[q + 32] * s) + N(of_a[p + 80] * of_b[q + 40] * s))
                y = N(N(of_a[p + 96] * of_b[q + 48] * s) + N(of_a[p + 112] * of_b[q + 56] * s))
                part[16 * j + i] = N(part[16 * j + i] + N(N(v + w) + N(x + y)))
        if (k - first) & 8 or k + 8 >= last:
            for r in range(RESULTS):
                total[r] += np.float64(part[r])
                part[r] = N(0)


def begin(total: Any, most: Any, words: Any, kept: int, format_c: Any) -> None:
    """Set each result to its term of C, cut; `words` are their patterns."""
    for r in range(RESULTS):
        total[r] = first_term(words[r], most[r], kept, format_c)


def first_term(word: Any, most: Any, kept: int, format_c: Any) -> Any:
    """Return the term of C, cut."""
    number = value(word, 5, 10) if format_c[1] == 10 else as_f32(word)
    return np.trunc(np.float64(number) * double_power(N(kept - most)))


def double_power(of: Any) -> Any:
    """Return 2 to a power that is a normal double; of another one any number."""
    return as_f64(L(L(np.int64(of) + DOUBLE_BIAS) << L(52)))


def single_of(total: Any, mask: Any) -> Any:
    """Return the single, cut toward zero to the fraction bits that the mask of a double keeps; no zero has a sign."""
    bits = as_u64(total)
    magnitude = as_f64(L(bits & MAGNITUDE))
    steps = U(U(N(min(magnitude, LEAST_SINGLE) * TO_STEPS)) & U(L(mask >> L(29))))
    sign = choose(steps != U(0), U(U(bits >> L(32)) & U(0x80000000)), U(0))
    return choose(magnitude < LEAST_SINGLE, U(steps | sign), as_u32(np.float32(as_f64(L(bits & mask)))))


def half_of(total: Any) -> Any:
    """Return the nearest half, of two the even one; no zero has a sign."""
    bits = as_u64(total)
    magnitude = L(bits & MAGNITUDE)
    steps = U(as_u64(as_f64(magnitude) + HALF_STEPS) & L(0x7FF))
    upper = L(magnitude + L(0x1FFFFFFFFFF) + L(L(magnitude >> L(42)) & L(1)))
    normal = U(L(L(upper >> L(42)) - L((DOUBLE_BIAS - 15) << 10)))
    found = choose(as_f64(magnitude) < LEAST_HALF, steps, min(normal, INFINITE_HALF))
    return choose(found == U(0), U(0), U(found | U(U(bits >> L(48)) & U(0x8000))))


def end(words: Any, total: Any, most: Any, kept: int, mask: Any, fraction_bits_c: int) -> None:
    """Set the patterns of the results from their sums."""
    if fraction_bits_c == 10:
        for r in range(RESULTS):
            words[r] = half_of(total[r] * double_power(N(most[r] - kept)))
    elif is_small(total, most, kept):
        for r in range(RESULTS):
            words[r] = single_of(total[r] * double_power(N(most[r] - kept)), mask)
    else:
        for r in range(RESULTS):
            whole = total[r] * double_power(N(most[r] - kept))
            words[r] = as_u32(np.float32(as_f64(L(as_u64(whole) & mask))))


def is_small(total: Any, most: Any, kept: int) -> bool:
    """Tell whether a sum may be below the normal singles, unless it is zero."""
    least = -LOW
    for r in range(RESULTS):
        least = min(least, choose(total[r] == 0.0, -LOW, N(most[r])))
    return bool(least < kept - SINGLE_BIAS + 1)


def pattern_of(total: Any, most: Any, kept: int, mask: Any, fraction_bits_c: int) -> Any:
    """Return the pattern of a sum."""
    whole = total * double_power(N(most - kept))
    return half_of(whole) if fraction_bits_c == 10 else single_of(whole, mask)


def is_special(most: Any) -> bool:
    """Tell whether an infinity or a NaN is in any sum."""
    worst = LOW
    for r in range(RESULTS):
        worst = max(worst, most[r])
    return bool(worst > -LOW)


def special(of: Any, exponents: Any, ks: Any, row: int, column: int) -> int:
    """Return what the infinities and NaN of some products make of a result: MORE, LESS, or anything else if NaN."""
    (of_a, of_b), (a, b), found = of, exponents, 0
    for k in range(ks[0], ks[1]):
        p, q = 16 * k + row, 8 * k + column
        found |= special_term(of_a[p], of_b[q], a[p], b[q])
    return found


def special_term(of_a: Any, of_b: Any, a: Any, b: Any) -> int:
    """Return the same of one product, of significands and exponents."""
    worst = max(a, b)
    if worst >= NAN or (worst == INFINITE and min(a, b) == NONE):
        return MORE | LESS
    if worst == INFINITE:
        return LESS if (of_a < 0) != (of_b < 0) else MORE
    return 0


def special_addend(word: Any, exponents: Any, sign: int) -> int:
    """Return the same of C, whose sign is in that bit."""
    if exponents >= NAN:
        return MORE | LESS
    if exponents == INFINITE:
        return LESS if word >> U(sign) != U(0) else MORE
    return 0


def put_specials(to: Any, words: Any, most: Any, addends: Any, of: Any, exponents: Any, ks: Any, sign: int) -> None:
    """Set the patterns of results that are infinities or NaN; `words` are those of C, with the sign in that bit."""
    for r in range(RESULTS):
        if most[r] > -LOW:
            found = special(of, exponents, ks, r & 15, r >> 4) | special_addend(words[r], addends[r], sign)
            to[r] = special_pattern(found, sign)


def special_pattern(found: int, sign: int) -> Any:
    """Return the pattern of a result that is an infinity or a NaN, with its sign in that bit."""
    infinite, nan = (INFINITE_HALF, NAN_HALF) if sign == HALF_SIGN else (INFINITE_SINGLE, NAN_SINGLE)
    return nan if found == MORE | LESS else U(infinite | U(U(found >> 1) << U(sign)))


INLINED = (
    *(
        largest_exponents,
        cut,
        add_terms,
        power,
        add_values,
        begin,
        first_term,
        double_power,
        single_of,
        half_of,
        end,
        is_small,
        pattern_of,
    ),
    *(is_special, special, special_term, special_addend, put_specials, special_pattern),
)
