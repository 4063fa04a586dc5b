"""Integers of 8 and 16 bits, several in a word, with minima and dot products (signature: isa.values.general)."""

# ruff: noqa: ARG001  (every function takes a, b, c, p and n; few need all)
from __future__ import annotations

from typing import Any

import numpy as np

from isa.values.general import code
from isa.values.integer import LOW32, NONE, ONE, TOP, X, extended, has
from isa.values.lanes import choose, narrow, widen

UNSIGNED, HALVES, RELU, SUM = 1, 2, 4, 8  # codes of minima and of differences: SUM adds the bytes' onto c
A_SIGNED, B_SIGNED, HIGH = 1, 2, 4  # codes of dot products
BYTE, BYTE_TOP, HALF, HALF_TOP = np.uint64(0xFF), np.uint64(0x80), np.uint64(0xFFFF), np.uint64(0x8000)
SIXTEEN = np.uint64(16)
TO_8, TO_16, TO_UNSIGNED, TO_4, TO_2, UPPER = 1, 2, 4, 8, 16, 32  # codes of saturation: UPPER takes c's upper half


def low_half(x: Any) -> Any:
    """Return the lower 16 bits of a word."""
    return x & HALF


def high_half(x: Any) -> Any:
    """Return bits 16 to 31 of a word."""
    return (x >> SIXTEEN) & HALF


def joined(low: Any, high: Any) -> Any:
    """Return the word of two halves, of which 16 bits count."""
    return (low & HALF) | ((high & HALF) << SIXTEEN)


def add_halves(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """VIADD.16x2: two sums, each modulo 2**16."""
    return joined(a + b, high_half(a) + high_half(b))


def add_bytes(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """VIADD.U8x4: four sums, each modulo 2**8, and with X one more."""
    word, more = a & NONE, choose(has(n, X), ONE, NONE)
    for place in (0, 8, 16, 24):
        total = (a >> np.uint64(place)) + (b >> np.uint64(place)) + more
        word = word | ((total & BYTE) << np.uint64(place))
    return word


def add_saturated(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """VIADD.S32.ISAT: a signed sum, and with X one more; beyond a word it is the nearest one."""
    total = extended(a) + extended(b) + choose(has(n, X), ONE, NONE)
    negative = (total >> np.uint64(63)) != NONE
    return choose(extended(total) == total, total, choose(negative, TOP, TOP - ONE))


def chosen(x: Any, y: Any, top: Any, p: Any, n: Any) -> Any:
    """Return the lesser of two numbers where Q is true, else the greater; `top` is the weight of their sign bit."""
    flip = choose(has(n, UNSIGNED), NONE, top)
    below = (x ^ flip) < (y ^ flip)
    wanted = (p & np.uint32(1)) != np.uint32(0)
    return choose(below == wanted, x, y)


def not_negative(x: Any, top: Any, n: Any) -> Any:
    """Return a number, with RELU 0 in place of a negative one."""
    return choose(has(n, RELU) & ((x & top) != NONE), NONE, x)


def extreme(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """VIMNMX: minimum where Q is true, else maximum, of words or of each half."""
    word = not_negative(chosen(a & LOW32, b & LOW32, TOP, p, n), TOP, n)
    low = not_negative(chosen(low_half(a), low_half(b), HALF_TOP, p, n), HALF_TOP, n)
    high = not_negative(chosen(high_half(a), high_half(b), HALF_TOP, p, n), HALF_TOP, n)
    return choose(has(n, HALVES), joined(low, high), word)


def extreme_of_bytes(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """VIMNMX.U8x4: minimum where Q is true, else maximum, of each byte."""
    word, wanted = a & NONE, (p & np.uint32(1)) != np.uint32(0)
    for place in (0, 8, 16, 24):
        x, y = (a >> np.uint64(place)) & BYTE, (b >> np.uint64(place)) & BYTE
        word = word | (choose((x < y) == wanted, x, y) << np.uint64(place))
    return word


def extreme_is_first(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """VIMNMX's predicates: whether the result is a's; P of the word or the lower half, p of the upper half."""
    low = chosen(low_half(a), low_half(b), HALF_TOP, p, n) == low_half(a)
    high = chosen(high_half(a), high_half(b), HALF_TOP, p, n) == high_half(a)
    word = chosen(a & LOW32, b & LOW32, TOP, p, n) == (a & LOW32)
    first = choose(choose(has(n, HALVES), low, word), np.uint32(1), np.uint32(0))
    return first | choose(has(n, HALVES) & high, np.uint32(2), np.uint32(0))


def extreme_of_three(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """VIMNMX3: the same of three."""
    return extreme(extreme(a, b, c, p, n), c, c, p, n)


def extreme_of_sum(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """VIADDMNMX: the same of a + b, which wraps, and c."""
    total = choose(has(n, HALVES), add_halves(a, b, c, p, n), a + b)
    return extreme(total, c, c, p, n)


def difference(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """VABSDIFF: `|a - b| + c`."""
    flip = choose(has(n, UNSIGNED), NONE, TOP)
    x, y = (a & LOW32) ^ flip, (b & LOW32) ^ flip
    return choose(x < y, y - x, x - y) + c


def byte_differences(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """VABSDIFF4: `|a - b|` of each byte, signed without U8; with ACC their sum onto c."""
    word, total, flip = a & NONE, c, choose(has(n, UNSIGNED), NONE, BYTE_TOP)
    for place in (0, 8, 16, 24):
        x, y = ((a >> np.uint64(place)) & BYTE) ^ flip, ((b >> np.uint64(place)) & BYTE) ^ flip
        apart = choose(x < y, y - x, x - y)
        word, total = word | (apart << np.uint64(place)), total + apart
    return choose(has(n, SUM), total, word)


def part(x: Any, place: int, bits: int, signed: Any) -> Any:
    """Return the field of a word from a bit on, signed in 64 bits where it says so."""
    top = ONE << np.uint64(bits - 1)
    field = (x >> np.uint64(place)) & ((top << ONE) - ONE)
    return choose(signed & ((field & top) != NONE), field - (top << ONE), field)


def dot_of_four(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """IDP.4A: products of the bytes of a with those of b, summed onto c."""
    total = c
    for place in (0, 8, 16, 24):
        total = total + part(a, place, 8, has(n, A_SIGNED)) * part(b, place, 8, has(n, B_SIGNED))
    return total


def dot_of_two(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """IDP.2A: products of the halves of a with the lower or upper two bytes of b, summed onto c."""
    bytes_of_b = choose(has(n, HIGH), b >> SIXTEEN, b)
    low = part(a, 0, 16, has(n, A_SIGNED)) * part(bytes_of_b, 0, 8, has(n, B_SIGNED))
    return c + low + part(a, 16, 16, has(n, A_SIGNED)) * part(bytes_of_b, 8, 8, has(n, B_SIGNED))


def narrow_bits(n: Any) -> Any:
    """Return the bits of the type to which a word is saturated."""
    large = choose(has(n, TO_8), np.uint64(8), choose(has(n, TO_16), SIXTEEN, np.uint64(32)))
    return choose(has(n, TO_4), np.uint64(4), choose(has(n, TO_2), np.uint64(2), large))


def saturated_pair(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """I2IP: two signed words as narrower integers, a above b, below the lower bits of c (PTX: cvt.pack)."""
    bits = narrow_bits(n)
    field = (ONE << bits) - ONE
    pair = (saturated(b, b, c, p, n) & field) | ((saturated(a, b, c, p, n) & field) << bits)
    return pair | (choose(has(n, UPPER), high_half(c), c) << (bits + bits))


def saturated(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """I2I.SAT: the signed word, or the nearest integer of the narrower type."""
    bits = narrow_bits(n)
    unsigned = has(n, TO_UNSIGNED)
    span = ONE << bits
    most = choose(unsigned, span, span >> ONE) - ONE
    least = choose(unsigned, NONE, NONE - (span >> ONE))
    negative = (a & TOP) != NONE
    word = choose(negative, a | ~LOW32, a & LOW32)
    under = negative & (unsigned | (word < least))
    return choose(under, least, choose((negative == False) & (word > most), most, word))  # noqa: E712  (a Numba bool)


def permuted(a: Any, b: Any, c: Any, p: Any, n: Any) -> Any:
    """PRMT with a mode: four of the eight bytes of c:a, which the mode and the lowest two bits of b name."""
    pair = ((c & LOW32) << np.uint64(32)) | (a & LOW32)
    at, word = widen(narrow(b) & np.uint32(3)), a & NONE
    for place in range(4):
        word = word | (((pair >> (named_byte(at, place, code(n)) << np.uint64(3))) & BYTE) << np.uint64(8 * place))
    return word


F4E, B4E, RC8, ECL, ECR, RC16 = 1, 2, 4, 8, 16, 32  # modes: PTX prmt


def named_byte(at: Any, place: int, mode: Any) -> Any:
    """Return which of eight bytes a mode of PRMT takes to a place, by PTX's table of prmt."""
    here = at & NONE | np.uint64(place)
    forward, backward = at + here, (at + np.uint64(8) - here) & np.uint64(7)
    left, right = choose(at > here, at, here), choose(at < here, at, here)
    pair = (at & ONE) * np.uint64(2) + (here & ONE)
    found = choose((mode & np.uint32(F4E)) != np.uint32(0), forward, pair)
    found = choose((mode & np.uint32(B4E)) != np.uint32(0), backward, found)
    found = choose((mode & np.uint32(RC8)) != np.uint32(0), at, found)
    found = choose((mode & np.uint32(ECL)) != np.uint32(0), left, found)
    return choose((mode & np.uint32(ECR)) != np.uint32(0), right, found)


PARTS = (
    low_half, high_half, joined, add_halves, chosen, not_negative, extreme, part, named_byte, narrow_bits,
    saturated,
)  # fmt: skip
