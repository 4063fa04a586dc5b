"""Comparisons that write two predicates (signature: isa.values.general).

P is the relation combined with Q, p the opposite relation combined with Q; AND where the code names neither OR nor XOR.
"""

# ruff: noqa: ARG001  (every function takes a, b, c, p and n; few need all)
from __future__ import annotations

from typing import Any

import numpy as np

from isa.values.general import code
from isa.values.integer import LOW32, NONE, TOP, WORD, has
from isa.values.lanes import as_f32, as_f64, as_u32, choose, narrow
from isa.values.semantics import EQ, GT, LT, UNORDERED

UNSIGNED, OR, XOR, CARRY, FLUSH = 16, 32, 64, 128, 256  # codes, beside those of the relations
RELATIONS = {
    "F": 0, "LT": LT, "EQ": EQ, "LE": LT | EQ, "GT": GT, "NE": LT | GT, "GE": GT | EQ, "T": 15,
}  # fmt: skip
UNORDERED_RELATIONS = {
    "NUM": LT | EQ | GT, "NAN": UNORDERED, "LTU": LT | UNORDERED, "EQU": EQ | UNORDERED, "LEU": LT | EQ | UNORDERED,
    "GTU": GT | UNORDERED, "NEU": LT | GT | UNORDERED, "GEU": GT | EQ | UNORDERED,
}  # fmt: skip
FIRST, SIGN_PLACE = np.uint32(1), np.uint64(63)
SMALLEST32 = np.uint32(0x00800000)  # normal single
MAGNITUDE32, SIGN32 = np.uint32(0x7FFFFFFF), np.uint32(0x80000000)


def combined(holds: Any, p: Any, n: Any) -> Any:
    """Return the word of truths of a relation: it and its opposite, each combined with Q."""
    other = (p & FIRST) != np.uint32(0)
    either, apart = has(n, OR), has(n, XOR)
    opposite = holds == False  # noqa: E712  (`~` of a Numba bool is an integer)
    first = choose(either, holds | other, choose(apart, holds ^ other, holds & other))
    second = choose(either, opposite | other, choose(apart, opposite ^ other, opposite & other))
    return choose(first, np.uint32(1), np.uint32(0)) | choose(second, np.uint32(2), np.uint32(0))


def related(below: Any, equal: Any, above: Any, unordered: Any, n: Any) -> Any:
    """Tell whether the relation that holds is one of the code's."""
    return (has(n, LT) & below) | (has(n, EQ) & equal) | (has(n, GT) & above) | (has(n, UNORDERED) & unordered)


def integers(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """ISETP. With EX the lower words have been compared before: where the upper ones are equal, q decides."""
    flip = choose(has(n, UNSIGNED), NONE, TOP)
    x, y = (a & LOW32) ^ flip, (b & LOW32) ^ flip
    holds = related(x < y, x == y, x > y, has(n, 0), n)
    lower = ((p >> FIRST) & FIRST) != np.uint32(0)
    holds = choose(has(n, CARRY) & (x == y), lower, holds)
    return combined(holds, p, n)


def pairs(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """ISETP of 64 bits."""
    flip = choose(has(n, UNSIGNED), NONE, TOP << WORD)
    x, y = a ^ flip, b ^ flip
    return combined(related(x < y, x == y, x > y, has(n, 0), n), p, n)


def singles(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """FSETP; with FTZ denormals count as zeros."""
    x, y = as_f32(flushed(narrow(a), n)), as_f32(flushed(narrow(b), n))
    return combined(related(x < y, x == y, x > y, np.isnan(x) | np.isnan(y), n), p, n)


def doubles(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """DSETP."""
    x, y = as_f64(a), as_f64(b)
    return combined(related(x < y, x == y, x > y, np.isnan(x) | np.isnan(y), n), p, n)


def extreme_of_doubles(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """DSETP.MIN and MAX: P whether a is the one, a number before a NaN; p whether both are NaNs. Each and Q."""
    x, y = as_f64(a), as_f64(b)
    a_below, a_above = (a >> SIGN_PLACE) > (b >> SIGN_PLACE), (a >> SIGN_PLACE) < (b >> SIGN_PLACE)  # of equal zeros
    first = choose(has(n, LT), (x < y) | ((x == y) & a_below), (x > y) | ((x == y) & a_above))
    bad, wanted = np.isnan(x), (p & FIRST) != np.uint32(0)
    taken = wanted & (bad == False) & (first | np.isnan(y))  # noqa: E712  (`~` of a Numba bool is an integer)
    both = wanted & bad & np.isnan(y)
    return choose(taken, np.uint32(1), np.uint32(0)) | choose(both, np.uint32(2), np.uint32(0))


def singles_as_mask(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """FSET: all bits set where FSETP's P would be true, else none."""
    return choose((singles(a, b, c, p, n) & FIRST) != np.uint32(0), LOW32, NONE)


def singles_as_number(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """FSET.BF: the single 1 where FSETP's P would be true, else 0."""
    return choose((singles(a, b, c, p, n) & FIRST) != np.uint32(0), np.uint64(0x3F800000), NONE)


def hard_to_divide(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """FCHK: whether a / b may leave the range in which a reciprocal and multiply-adds give it rounded right.

    The chip's own limits are not published; these are wider, so a program takes its slow way sooner.
    """
    x, y = (narrow(a) & MAGNITUDE32) >> np.uint32(23), (narrow(b) & MAGNITUDE32) >> np.uint32(23)
    apart = (x + np.uint32(256)) - y  # exponents, 256 for equal ones
    extreme = (y < np.uint32(2)) | (y > np.uint32(252)) | (x > np.uint32(253)) | (x < np.uint32(26))
    far = (apart > np.uint32(256 + 125)) | (apart < np.uint32(256 - 124))
    return choose(extreme | far, np.uint32(1), np.uint32(0))


def flushed(pattern: Any, n: Any) -> Any:
    """Return a single's pattern, with FTZ zero of its sign in place of a denormal."""
    small = (pattern & MAGNITUDE32) < SMALLEST32
    return as_u32(choose(has(n, FLUSH) & small, pattern & SIGN32, pattern))


PARTS = (combined, related, flushed, code, singles)
