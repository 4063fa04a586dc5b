"""Double arithmetic in each rounding mode, in whole numbers (signature: isa.values.general).

A product of two doubles has 106 bits. It and the addend are moved into 128 bits, their highest 1 at bit 125; the lesser
is shifted right, and a 1 that it loses stays as its lowest bit: one digit is kept below all that decide the rounding
(the guard and sticky bits of IEEE hardware). Such a word is a pair: upper and lower 64 bits.

A NaN among the operands is the result, made quiet: b's before c's before a's, as an H200 has it.
"""

# ruff: noqa: ARG001  (every function takes a, b, c, p and n; few need all)
from __future__ import annotations

from typing import Any

import numpy as np

from isa.values.floating.single import DOWN, UP, ZERO
from isa.values.integer import has
from isa.values.lanes import as_f64, as_u64, choose, fma64
from isa.values.semantics import nan_of

NONE, ONE, WORD, PAIR = np.uint64(0), np.uint64(1), np.uint64(32), np.uint64(64)
LOW = np.uint64(0xFFFFFFFF)
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
SIGN, HIDDEN, DIGITS = np.uint64(1 << 63), np.uint64(1 << 52), np.uint64((1 << 52) - 1)
INFINITY = np.uint64(0x7FF0000000000000)
ONE64 = np.uint64(0x3FF0000000000000)
PLACE, MOST = np.uint64(126), np.uint64(127)  # digits of a word that is in place; the most by which one is shifted
ABOVE_ZERO = np.uint64(1024)  # is added to exponents, so that none is negative
FROM_PRODUCT = np.uint64(1075)  # a product counts in units of 2**-2150, an addend in 2**-1075


def fused(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """DFMA: a b + c, rounded once."""
    special = is_special(a) | is_special(b) | is_special(c)
    plain = fma64(as_f64(choose(special, a, NONE)), as_f64(choose(special, b, NONE)), as_f64(choose(special, c, NONE)))
    return choose(special, choose(np.isnan(plain), nan_of(a, b, c), as_u64(plain)), exact_sum(a, b, c, n))


def add(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """DADD: a + b."""
    return fused(a, ONE64 | (b & NONE), b, p, n)


def multiply(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """DMUL: a b; the zero that is added has the product's sign, and changes nothing."""
    return fused(a, b, (a ^ b) & SIGN, p, n)


def is_special(x: Any) -> Any:
    """Tell whether a pattern is no number, or infinite."""
    return (x & INFINITY) == INFINITY


def exponent(x: Any) -> Any:
    """Return the exponent field of a double, that of a denormal as 1."""
    field = (x & INFINITY) >> np.uint64(52)
    return choose(field == NONE, ONE, field)


def significand(x: Any) -> Any:
    """Return the digits of a double as a whole number."""
    return (x & DIGITS) | choose((x & INFINITY) == NONE, NONE, HIDDEN)


def product(x: Any, y: Any) -> Any:
    """Return the 128-bit product of two whole numbers below 2**53."""
    low, middle = (x & LOW) * (y & LOW), (x & LOW) * (y >> WORD) + (x >> WORD) * (y & LOW)
    lower = low + (middle << WORD)
    carry = choose(lower < low, ONE, NONE)
    return (x >> WORD) * (y >> WORD) + (middle >> WORD) + carry, lower


def digits_of(high: Any, low: Any) -> Any:
    """Return the number of binary digits of a 128-bit word."""
    wide = high != NONE
    rest = choose(wide, high, low)
    count = choose(wide, PAIR, NONE)
    for step in (32, 16, 8, 4, 2, 1):
        more = (rest >> np.uint64(step)) != NONE
        count = count + choose(more, np.uint64(step), NONE)
        rest = choose(more, rest >> np.uint64(step), rest)
    return count + choose(rest != NONE, ONE, NONE)


def left(high: Any, low: Any, count: Any) -> Any:
    """Return a 128-bit word shifted left by 0 to 127."""
    far = count >= PAIR
    short = count & np.uint64(63)
    over = choose(short == NONE, NONE, (low >> ONE) >> (np.uint64(63) - short))
    return choose(far, low << short, (high << short) | over), choose(far, NONE, low << short)


def right(high: Any, low: Any, count: Any) -> Any:
    """Return a 128-bit word shifted right by 0 to 127."""
    far = count >= PAIR
    short = count & np.uint64(63)
    over = choose(short == NONE, NONE, (high << ONE) << (np.uint64(63) - short))
    return choose(far, NONE, high >> short), choose(far, high >> short, (low >> short) | over)


def below(high: Any, low: Any, count: Any) -> Any:
    """Tell whether any of the lowest 0 to 127 bits of a 128-bit word is set."""
    far = count >= PAIR
    mask = (ONE << (count & np.uint64(63))) - ONE
    return choose(far, (low | (high & mask)) != NONE, (low & mask) != NONE)


def exact_sum(a: Any, b: Any, c: Any, n: Any) -> Any:
    """Return a b + c of finite numbers, rounded once."""
    high, low = product(significand(a), significand(b))
    shift = PLACE - digits_of(high, low)
    to = exponent(a) + exponent(b) + ABOVE_ZERO - shift
    high, low = left(high, low, shift)
    addend, addend_low = NONE & c, significand(c)
    other_shift = PLACE - digits_of(addend, addend_low)
    other_to = exponent(c) + FROM_PRODUCT + ABOVE_ZERO - other_shift
    addend, addend_low = left(addend, addend_low, other_shift)
    to, other_to = choose((high | low) == NONE, NONE, to), choose((addend | addend_low) == NONE, NONE, other_to)
    sign, other_sign = (a ^ b) & SIGN, c & SIGN
    same = (to == other_to) & ((high < addend) | ((high == addend) & (low < addend_low)))
    swap = (to < other_to) | same
    first, first_low = choose(swap, addend, high), choose(swap, addend_low, low)
    second, second_low = choose(swap, high, addend), choose(swap, low, addend_low)
    most, least = choose(swap, other_to, to), choose(swap, to, other_to)
    apart = choose(most - least < MOST, most - least, MOST)
    lost = choose(below(second, second_low, apart), ONE, NONE)
    second, second_low = right(second, second_low, apart)
    total, total_low = combined(first, first_low, second, second_low | lost, sign != other_sign)
    return placed(total, total_low, most, choose(swap, other_sign, sign), sign != other_sign, n)


def combined(high: Any, low: Any, other: Any, other_low: Any, apart: Any) -> Any:
    """Return the sum of two 128-bit words, or their difference where signs are apart."""
    total = low + other_low
    carry = choose(total < low, ONE, NONE)
    borrow = choose(low < other_low, ONE, NONE)
    return choose(apart, high - other - borrow, high + other + carry), choose(apart, low - other_low, total)


def placed(high: Any, low: Any, to: Any, sign: Any, apart: Any, n: Any) -> Any:
    """Return the double of a 128-bit word times 2**(to - 3174), rounded as the code says; 0 is -0 where signs say so.

    Of its digits 53 are kept, or fewer: none below 2**-1074. `to` and the digits dropped are above 2**11 less 1074
    then, so no difference here is negative.
    """
    base = np.uint64(1 << 14)
    least = base + np.uint64(2100) - to  # digits to drop, plus base, where the lowest that is kept is 2**-1074
    wanted = base + digits_of(high, low) - np.uint64(53)
    drop = choose(wanted > least, wanted, least)
    down = choose(drop > base, drop - base, NONE)
    up = choose(drop > base, NONE, base - drop)
    down = choose(down < MOST, down, MOST)
    _, kept = right(high, low, down)
    _, raised = left(high, low, choose(up < MOST, up, MOST))
    kept = choose(drop > base, kept, raised)
    half = choose(down == NONE, NONE, right(high, low, choose(down == NONE, NONE, down - ONE))[1] & ONE)
    rest = below(high, low, choose(down == NONE, NONE, down - ONE)) & (down != NONE)
    inexact = (half != NONE) | rest
    nearest = (half != NONE) & (rest | ((kept & ONE) != NONE))
    negative = sign != NONE
    outward = (has(n, DOWN) & negative) | (has(n, UP) & (negative == False))  # noqa: E712  (`~` of a Numba bool)
    directed = has(n, DOWN) | has(n, UP) | has(n, ZERO)
    kept = kept + choose(choose(directed, inexact & outward, nearest), ONE, NONE)
    field = to + drop - base - np.uint64(2100)
    pattern = (choose(field < np.uint64(2047), field, np.uint64(2047)) << np.uint64(52)) + kept
    most = choose(directed & (outward == False), INFINITY - ONE, INFINITY)  # noqa: E712
    pattern = choose(pattern >= INFINITY, most, pattern)
    zero = choose(apart, choose(has(n, DOWN), SIGN, NONE), sign)
    return choose((high | low) == NONE, zero, pattern | sign)


PARTS = (
    fused, is_special, exponent, significand, product, digits_of, left, right, below, exact_sum, combined, placed,
    nan_of,
)  # fmt: skip
