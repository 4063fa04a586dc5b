"""Update functions of atomics: the word that takes the place of another, on bit patterns.

`update(a, b, c)` takes and gives patterns like the functions of isa.values.semantics, uint32 or uint64: c is the word
in memory, a the operand, b what a compare and swap puts in its place. Functions whose name says no width serve both.
Those of 128 bits are computed for each half; a compare and swap is, where both halves are what is expected.

Singles are added as global memory adds them: denormals are flushed to zeros of their sign (PTX ISA, atom.add.f32).
"""

# ruff: noqa: ARG001  (every update function takes a, b and c; few need all three)
from __future__ import annotations

from typing import Any

import numpy as np

from isa.values.lanes import as_f32, as_f64, as_u32, choose, fma16, narrow, widen
from isa.values.semantics import NAN32, ONE16, ZERO, dadd

SIGN32, SIGN64 = np.uint32(0x80000000), np.uint64(1 << 63)
EXPONENT = np.uint32(0x7F800000)  # of a single
UPPER_HALF = np.uint32(0xFFFF0000)
NAN16 = np.uint32(0x7FFF)
LOW, SIGN16 = np.uint32(0xFFFF), np.uint32(0x8000)
HALF_INFINITY, BFLOAT_INFINITY = np.uint32(0x7C00), np.uint32(0x7F80)
BEGINS, WANTED, EVERY = np.uint32(1 << 30), np.uint32((1 << 30) - 1), np.uint32(0xFFFFFFFF)  # of a barrier
ONE = np.uint32(1)
WORD = np.uint64(32)


def add(a: Any, b: Any, c: Any) -> Any:
    """Sum, modulo the width."""
    return c + a


def exchange(a: Any, b: Any, c: Any) -> Any:
    """Pattern a itself."""
    return a


def compare_and_swap(a: Any, b: Any, c: Any) -> Any:
    """Pattern b if the word equals a, else the word."""
    return choose(c == a, b, c)


def minimum(a: Any, b: Any, c: Any) -> Any:
    """Unsigned minimum."""
    return choose(a < c, a, c)


def maximum(a: Any, b: Any, c: Any) -> Any:
    """Unsigned maximum."""
    return choose(a < c, c, a)


def signed_minimum32(a: Any, b: Any, c: Any) -> Any:
    """Signed minimum of 32 bits: without their signs the order of negative numbers stays, and they lie below others."""
    return choose((a ^ SIGN32) < (c ^ SIGN32), a, c)


def signed_maximum32(a: Any, b: Any, c: Any) -> Any:
    """Signed maximum of 32 bits."""
    return choose((a ^ SIGN32) < (c ^ SIGN32), c, a)


def signed_minimum64(a: Any, b: Any, c: Any) -> Any:
    """Signed minimum of 64 bits."""
    return choose((a ^ SIGN64) < (c ^ SIGN64), a, c)


def signed_maximum64(a: Any, b: Any, c: Any) -> Any:
    """Signed maximum of 64 bits."""
    return choose((a ^ SIGN64) < (c ^ SIGN64), c, a)


def increment(a: Any, b: Any, c: Any) -> Any:
    """Next number after the word, 0 behind a (PTX ISA, atom.inc)."""
    return choose(c >= a, ZERO, c + ONE)


def decrement(a: Any, b: Any, c: Any) -> Any:
    """Number before the word, a before 0 and for words above a (PTX ISA, atom.dec)."""
    return choose((c == ZERO) | (c > a), a, c - ONE)


def arrive(a: Any, b: Any, c: Any) -> Any:
    """An arrival at a barrier of sm_80 (mbarrier), in 64 bits: its upper word counts up to the phase, bit 31.

    Then it begins anew at minus the arrivals that the lower word has: 30 bits, below a one (read off what ptxas 13
    stores at first, and off its tests of states; no such chip was at hand).
    """
    low, high = narrow(c), narrow(c >> WORD)
    anew = ((high ^ SIGN32) & SIGN32) | BEGINS | (low & WANTED)
    return widen(low) | widen(as_u32(choose((high | SIGN32) == EVERY, anew, high + ONE))) << WORD


def both_bits(a: Any, b: Any, c: Any) -> Any:
    """Bitwise and."""
    return c & a


def either_bit(a: Any, b: Any, c: Any) -> Any:
    """Bitwise or."""
    return c | a


def odd_bit(a: Any, b: Any, c: Any) -> Any:
    """Bitwise exclusive or."""
    return c ^ a


def add_single(a: Any, b: Any, c: Any) -> Any:
    """Single sum without denormals."""
    r = as_f32(flushed(c)) + as_f32(flushed(a))
    return choose(np.isnan(r), NAN32, flushed(as_u32(r)))


def add_two_singles(a: Any, b: Any, c: Any) -> Any:
    """Two singles' sums, each as `add_single` has it."""
    low = add_single(narrow(a), b, narrow(c))
    high = add_single(narrow(a >> WORD), b, narrow(c >> WORD))
    return widen(low) | widen(high) << WORD


def add_double(a: Any, b: Any, c: Any) -> Any:
    """Double sum; a NaN stays as it is, a's before the word's (seen on an H200)."""
    return choose(np.isnan(as_f64(a)), a, choose(np.isnan(as_f64(c)), c, dadd(c, a, c)))


def add_halves(a: Any, b: Any, c: Any) -> Any:
    """Two halves' sums."""
    return fma16(c, ONE16, a) | (fma16(c >> 16, ONE16, a >> 16) << 16)


def add_bfloats(a: Any, b: Any, c: Any) -> Any:
    """Two bfloat16 numbers' sums, a NaN 0x7FFF (PTX ISA)."""
    return bfloat_sum(c << 16, a << 16) | (bfloat_sum(c & UPPER_HALF, a & UPPER_HALF) << 16)


def min_halves(a: Any, b: Any, c: Any) -> Any:
    """Two halves' minima, a number in place of a NaN (seen on an H200)."""
    return lesser(a & LOW, c & LOW, HALF_INFINITY) | (lesser(a >> 16, c >> 16, HALF_INFINITY) << 16)


def max_halves(a: Any, b: Any, c: Any) -> Any:
    """Two halves' maxima."""
    return greater(a & LOW, c & LOW, HALF_INFINITY) | (greater(a >> 16, c >> 16, HALF_INFINITY) << 16)


def min_bfloats(a: Any, b: Any, c: Any) -> Any:
    """Two bfloat16 numbers' minima, a number in place of a NaN (seen on an H200)."""
    return lesser(a & LOW, c & LOW, BFLOAT_INFINITY) | (lesser(a >> 16, c >> 16, BFLOAT_INFINITY) << 16)


def max_bfloats(a: Any, b: Any, c: Any) -> Any:
    """Two bfloat16 numbers' maxima."""
    return greater(a & LOW, c & LOW, BFLOAT_INFINITY) | (greater(a >> 16, c >> 16, BFLOAT_INFINITY) << 16)


def lesser(x: Any, y: Any, infinity: Any) -> Any:
    """Return the smaller of two numbers of 16 bits, -0 below +0; above infinity is NaN."""
    return number_of(x, y, infinity, choose(ordered(x) < ordered(y), x, y))


def greater(x: Any, y: Any, infinity: Any) -> Any:
    """Return the greater of two numbers of 16 bits."""
    return number_of(x, y, infinity, choose(ordered(x) < ordered(y), y, x))


def number_of(x: Any, y: Any, infinity: Any, found: Any) -> Any:
    """Return what was found of two numbers; one of them if the other is no number, and NaN if neither is."""
    no_x, no_y = (x & NAN16) > infinity, (y & NAN16) > infinity
    return as_u32(choose(no_x & no_y, NAN16, choose(no_x, y, choose(no_y, x, found))))


def ordered(x: Any) -> Any:
    """Return a pattern of 16 bits as an unsigned number in the order of what it stands for."""
    return choose((x & SIGN16) != ZERO, x ^ LOW, x | SIGN16)


def flushed(x: Any) -> Any:
    """Return a single's pattern, of a denormal that of the zero with its sign."""
    return choose((x & EXPONENT) == ZERO, x & SIGN32, x)


def bfloat_sum(x: Any, y: Any) -> Any:
    """Return the bfloat16 sum of two that lie in the upper half of words.

    The single sum is rounded again: 24 bits are enough for no error from that, being 2 times 8 and 2 more (Figueroa,
    SIGNUM Newsletter 30(3), 1995).
    """
    r = as_f32(x) + as_f32(y)
    bits = as_u32(r)
    rounded = as_u32(bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return choose(np.isnan(r), NAN16, rounded)


PARTS = (arrive, dadd, add_single, flushed, bfloat_sum, lesser, greater, number_of, ordered)  # of update functions
