"""Integer functions with carries, mixed widths and immediate shifts (signature: isa.values.general).

Carries: an IADD3 of three numbers may carry twice, and P and p together hold how often. With X a row adds Q and q.
A negated number came as 2**32 - x, so that a difference carries where it does not borrow.
"""

# ruff: noqa: ARG001  (every function takes a, b, c, p and n; few need all)
from __future__ import annotations

from typing import Any

import numpy as np

from isa.values.general import MINUS, code, number
from isa.values.lanes import choose, narrow, widen
from isa.values.semantics import ALL, LAST, find_leading_one

X = 1  # code: add the predicates read
SIGNED, RIGHT, HIGH, LONG = 1, 2, 4, 8  # codes of shifts: of signed numbers, to the right, the upper word, of 64 bits
BITS = 8 | 16  # code of a part of a word: how many bits it has
WRAP = 16  # the count modulo the width, in place of the width at most
LOW32 = np.uint64(0xFFFFFFFF)
TOP = np.uint64(0x80000000)
ABOVE = np.uint64(0xFFFFFFFF00000000)
NEXT = np.uint64(1 << 32)
WORD, PAIR = np.uint64(32), np.uint64(64)
NONE, ONE, TWO = np.uint64(0), np.uint64(1), np.uint64(2)
EVERY = np.uint64(0xFFFFFFFFFFFFFFFF)


def has(n: Any, bit: int) -> Any:
    """Tell whether the modifiers' code has that bit."""
    return (code(n) & np.uint32(bit)) != np.uint32(0)


def extended(a: Any) -> Any:
    """Return the lower word with its sign in all bits above."""
    low = a & LOW32
    return choose((low & TOP) != NONE, low | ABOVE, low)


def carried(p: Any, n: Any) -> Any:
    """Return how many of Q and q are true, as uint64, where the row has X; else 0."""
    both = (p & np.uint32(1)) + ((p >> np.uint32(1)) & np.uint32(1))
    return choose(has(n, X), widen(both), NONE)


def carries(total: Any) -> Any:
    """Return the word of truths of a sum's carry: P from 1 on, p from 2 on."""
    times = total >> WORD
    return narrow(choose(times >= ONE, ONE, NONE) | choose(times >= TWO, TWO, NONE))


def add3(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """Sum of three and of the carries read."""
    return a + b + c + carried(p, n)


def add3_carry(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """Carries of that sum."""
    return carries(a + b + c + carried(p, n))


def add_pairs(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """IADD.64: sum of two pairs and of the carry read, modulo 2**64."""
    return a + b + carried(p, n)


def add_three_pairs(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """UIADD3.64: sum of three pairs, modulo 2**64."""
    return a + b + c


def add_pairs_carry(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """Carry of that sum: it is smaller than a then, or as small where one was carried in."""
    first = a + b
    total = first + carried(p, n)
    return narrow(choose((first < a) | (total < first), ONE, NONE))


def multiply_add(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """Lower word of a b + c and the carry read."""
    return a * b + c + carried(p, n)


def wide_signed(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """Signed product of 64 bits plus the pair c, modulo 2**64."""
    return extended(a) * extended(b) + c + carried(p, n)


def wide_unsigned(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """Unsigned product of 64 bits plus the pair c, modulo 2**64."""
    return (a & LOW32) * (b & LOW32) + c + carried(p, n)


def wide_carry(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """Carry of that unsigned sum: it is smaller than the product then, or as small where one was carried in."""
    product = (a & LOW32) * (b & LOW32)
    first = product + c
    total = first + carried(p, n)
    return narrow(choose((first < product) | (total < first), ONE, NONE))


def high_signed(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """Upper word of the signed product plus the pair c and the carry read."""
    return wide_signed(a, b, c, p, n) >> WORD


def high_unsigned(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """Upper word of the unsigned product plus the pair c and the carry read."""
    return wide_unsigned(a, b, c, p, n) >> WORD


def shifted_add(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """LEA: a shifted left by n, its lower word, plus b and the carry read."""
    return lower_shifted(a, n) + b + carried(p, n)


def shifted_add_carry(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """Carry of that sum."""
    return carries(shifted_add(a, b, c, p, n))


def lower_shifted(a: Any, n: Any) -> Any:
    """Return the lower word of a shifted left by n; where a has a minus, 2**32 minus that: an H200 carries so."""
    minus = has(n, MINUS)
    low = (choose(minus, NEXT - a, a) << widen(number(n))) & LOW32
    return choose(minus, NEXT - low, low)


def upper_shifted_add(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """LEA.HI: the upper word of the pair c:a shifted left by n, plus b and the carry read."""
    pair = ((c & LOW32) << WORD) | (a & LOW32)
    return ((pair << widen(number(n))) >> WORD) + b + carried(p, n)


def upper_shifted_carry(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """Carry of that sum."""
    return carries(upper_shifted_add(a, b, c, p, n))


def upper_extended_add(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """LEA.HI.SX32: the same of a with its sign above it."""
    return ((extended(a) << widen(number(n))) >> WORD) + b + carried(p, n)


def upper_extended_carry(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """Carry of that sum."""
    return carries(upper_extended_add(a, b, c, p, n))


def shift(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """SHF: the lower word of the pair c:a shifted by b, or with HIGH the upper one; zeros or signs come in.

    A count beyond the width of 32 or, with LONG, 64 bits shifts out all of it (PTX shl, shr, shf.clamp).
    """
    pair = ((c & LOW32) << WORD) | (a & LOW32)
    alone = choose(has(n, SIGNED), extended(c), c & LOW32)
    whole = choose(is_word(n), alone, pair)
    width = choose(has(n, LONG), PAIR, WORD)
    count = b & LOW32
    count = choose(has(n, WRAP), count & (width - ONE), choose(count < width, count, width))
    return moved(whole, count, n)


def is_word(n: Any) -> Any:
    """Tell whether a shift moves c alone to the right."""
    return has(n, RIGHT) & has(n, HIGH) & (has(n, LONG) == False)  # noqa: E712  (`~` of a Numba bool is an integer)


def moved(whole: Any, count: Any, n: Any) -> Any:
    """Return 64 bits shifted by at most 64 as the code of a shift says, and the word of them that it names."""
    most = count >= PAIR
    safe = choose(most, NONE, count)
    negative = has(n, SIGNED) & ((whole >> np.uint64(63)) != NONE)
    signs = choose(negative, ~(EVERY >> safe), NONE)
    to_right = choose(most, choose(negative, EVERY, NONE), (whole >> safe) | signs)
    to_left = choose(most, NONE, whole << safe)
    found = choose(has(n, RIGHT), to_right, to_left)
    return choose(has(n, HIGH) & (is_word(n) == False), found >> WORD, found)  # noqa: E712  (as above)


def minimum(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """Minimum where Q is true, maximum where it is false; signed, or unsigned without SIGNED."""
    flip = choose(has(n, SIGNED), TOP, NONE)
    below = ((a & LOW32) ^ flip) < ((b & LOW32) ^ flip)
    wanted = (p & np.uint32(1)) != np.uint32(0)
    return choose(below == wanted, a, b)


def minimum_of_pairs(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """The same of pairs."""
    flip = choose(has(n, SIGNED), TOP << WORD, NONE)
    wanted = (p & np.uint32(1)) != np.uint32(0)
    return choose(((a ^ flip) < (b ^ flip)) == wanted, a, b)


def magnitude(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """IABS: the absolute value, -2**31 itself."""
    return choose((a & TOP) != NONE, ~a + ONE, a)


def shift_to_top(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """FLO.SH: by how many places the leading one lies below the top; 2**32 - 1 if there is none."""
    place = find_leading_one(narrow(a), np.uint32(0), code(n) & np.uint32(SIGNED))
    return widen(choose(place == ALL, ALL, LAST - place))


def bit_mask(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """BMSK: b ones from bit a on (PTX bmsk); counts modulo 32 with WRAP, else 32 at most."""
    first, count = a & LOW32, b & LOW32
    first = choose(has(n, WRAP), first & np.uint64(31), choose(first < WORD, first, WORD))
    count = choose(has(n, WRAP), count & np.uint64(31), choose(count < WORD, count, WORD))
    return ((ONE << count) - ONE) << first


def part(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """Part of a constant: the lowest 8 or 16 bits of a, as `code` counts them, with their sign above if SIGNED."""
    count = n & np.uint64(BITS)
    kept = a & ((ONE << count) - ONE)
    return choose(has(n, SIGNED) & (kept >> (count - ONE) != NONE), kept | (EVERY << count), kept)


def sign_extended(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """SGXT: the lowest b bits of a, with their sign above them if SIGNED, else zeros (PTX szext)."""
    count = b & LOW32
    count = choose(has(n, WRAP), count & np.uint64(31), choose(count < WORD, count, WORD))
    kept = a & ((ONE << count) - ONE)
    top = choose(count == NONE, NONE, (a >> (choose(count == NONE, ONE, count) - ONE)) & ONE)
    return choose(has(n, SIGNED) & (top != NONE), kept | (EVERY << count), kept)


PARTS = (
    has,
    extended,
    carried,
    carries,
    lower_shifted,
    moved,
    is_word,
    wide_signed,
    wide_unsigned,
    find_leading_one,
    shifted_add,
    upper_shifted_add,
    upper_extended_add,
)  # of other functions
