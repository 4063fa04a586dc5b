"""Sets of inputs: for each source a column of patterns, first edge cases, then numbers near trouble, then random ones.

They are drawn once, by `python -m hardware.record`, and kept in the table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SEED = 20260718
Column = NDArray[np.uint64]
Rows = tuple[Column, Column, Column]


@dataclass(frozen=True)
class Format:
    """An IEEE format by its bits of exponent and fraction."""

    exponent: int
    fraction: int

    @property
    def bits(self) -> int:
        """Bits of a pattern."""
        return 1 + self.exponent + self.fraction

    @property
    def bias(self) -> int:
        """What is added to an exponent."""
        return (1 << (self.exponent - 1)) - 1

    def pattern(self, sign, exponent, fraction) -> Column:
        """Return the patterns of normal numbers, whose exponents are kept within the format."""
        exponent = np.clip(np.asarray(exponent) + self.bias, 0, (1 << self.exponent) - 1).astype(np.uint64)
        fraction = np.asarray(fraction, np.uint64) & np.uint64((1 << self.fraction) - 1)
        sign = np.asarray(sign, np.uint64)
        return (sign << np.uint64(self.bits - 1)) | (exponent << np.uint64(self.fraction)) | fraction

    def edges(self) -> Column:
        """Return zeros, ends of the denormal and normal numbers, small integers, infinities and NaNs of both signs."""
        one = self.bias << self.fraction
        least, infinity = 1 << self.fraction, ((1 << self.exponent) - 1) << self.fraction
        half = 1 << (self.fraction - 1)
        integers = [one + (k << self.fraction) + step for k in (-2, -1, 0, 1, 2, 3) for step in (0, half, 1)]
        numbers = [0, 1, 2, least - 1, least, least + 1, least + half, one - 1, *integers, infinity - 1, infinity]
        nans = [infinity + 1, infinity + half, infinity + half + 5, infinity + 2 * half - 1]
        positive = np.array(numbers + nans, np.uint64)
        return np.concatenate([positive, positive | np.uint64(1 << (self.bits - 1))])


F16, BF16, F32, F64 = Format(5, 10), Format(8, 7), Format(8, 23), Format(11, 52)
E4M3, E5M2 = Format(4, 3), Format(5, 2)


def random_bits(draw: np.random.Generator, bits: int, rows: int) -> Column:
    """Return any patterns."""
    return draw.integers(0, 1 << bits, rows, np.uint64, endpoint=False) if bits < 64 else _words64(draw, rows)


def _words64(draw: np.random.Generator, rows: int) -> Column:
    return draw.integers(0, (1 << 64) - 1, rows, np.uint64, endpoint=True)


def picked(draw: np.random.Generator, edges: Column, rows: int) -> Column:
    """Return edge cases in any order."""
    return draw.choice(edges, rows)


def numbers(draw: np.random.Generator, f: Format, rows: int, low: int, high: int, kept: int = 99) -> Column:
    """Return numbers with exponents from low to high and at most so many bits of fraction."""
    fraction = random_bits(draw, f.fraction, rows)
    cut = np.uint64(max(0, f.fraction - kept))
    return f.pattern(draw.integers(0, 2, rows), draw.integers(low, high + 1, rows), (fraction >> cut) << cut)


def floats(draw: np.random.Generator, f: Format, rows: int) -> Rows:
    """Return triples for a multiply-add: edges, ties, cancellation, underflow, overflow, any; some with a = b."""
    part, least, most = rows // 8, 1 - f.bias, f.bias
    few = (f.fraction + 3) // 2
    groups = [tuple(picked(draw, f.edges(), 2 * part) for _ in "abc")]
    groups.append(tuple(numbers(draw, f, part, -2, 2, few) for _ in "abc"))
    a, b = (numbers(draw, f, part, -3, 3) for _ in "ab")
    other_sign = np.uint64(1 << (f.bits - 1))
    groups.append((a, _beside(draw, a, part) ^ other_sign, a ^ other_sign))
    groups.append((a, b, _opposite(draw, f, a, b)))
    low, high = least // 2, most // 2
    tiny = numbers(draw, f, part, least - f.fraction // 2, least + 1)
    groups.append((numbers(draw, f, part, low - 3, low), numbers(draw, f, part, low - 3, low + 1, few), tiny))
    groups.append(
        (numbers(draw, f, part, high, high + 1), numbers(draw, f, part, high, high + 1, few), _top(draw, f, part))
    )
    groups.append(tuple(random_bits(draw, f.bits, rows - 7 * part) for _ in "abc"))
    a, b, c = (np.concatenate(columns) for columns in zip(*groups, strict=True))
    b[::16] = a[::16]
    return a, b, c


def _beside(draw: np.random.Generator, a: Column, rows: int) -> Column:
    """Return the numbers none, one or two steps further from zero."""
    return a + draw.integers(0, 3, rows).astype(np.uint64)


def _opposite(draw: np.random.Generator, f: Format, a: Column, b: Column) -> Column:
    """Return about -a b: a sum that cancels."""
    product = -(_values(f, a) * _values(f, b))
    return _patterns(f, product) + draw.integers(0, 2, a.size).astype(np.uint64)


def _top(draw: np.random.Generator, f: Format, rows: int) -> Column:
    return numbers(draw, f, rows, f.bias - 2, f.bias)


def _values(f: Format, patterns: Column) -> NDArray[np.float64]:
    """Return the values of patterns as doubles."""
    if f == F64:
        return patterns.view(np.float64)
    if f == F16:
        return patterns.astype(np.uint16).view(np.float16).astype(np.float64)
    return (patterns << np.uint64(32 - f.bits)).astype(np.uint32).view(np.float32).astype(np.float64)


def _patterns(f: Format, values: NDArray[np.float64]) -> Column:
    """Return the patterns of values, cut where the format is a short single."""
    if f == F64:
        return values.view(np.uint64).copy()
    if f == F16:
        return values.astype(np.float16).view(np.uint16).astype(np.uint64)
    return values.astype(np.float32).view(np.uint32).astype(np.uint64) >> np.uint64(32 - f.bits)


def halves(draw: np.random.Generator, f: Format, rows: int) -> Rows:
    """Return triples of two halves in a word, the upper ones in another order."""
    low, high = floats(draw, f, rows), floats(draw, f, rows)
    order = draw.permutation(rows)
    return tuple(x | (y[order] << np.uint64(16)) for x, y in zip(low, high, strict=True))


def integer_edges(bits: int) -> Column:
    """Return the ends of the integer types up to so many bits, both signs, powers of two and patterns."""
    ends = [0, 1, 2, 3, 7, 8, 10, 15, 16, 31, 32, 33, 63, 64, 65, 100, 127, 128, 255, 256, 1000]
    ends += [(1 << k) + step for k in (15, 16, 23, 24, 31, 32, 52, 53, 62, 63, 64) for step in (-2, -1, 0, 1)]
    ends += [0x5555555555555555, 0xAAAAAAAAAAAAAAAA, 0x0123456789ABCDEF, 0xF0F0F0F0F0F0F0F0]
    mask = (1 << bits) - 1
    return np.array(sorted({x & mask for x in ends} | {-x & mask for x in ends}), np.uint64)


def integers(draw: np.random.Generator, bits: int, rows: int) -> Column:
    """Return edges, numbers with few bits, and any."""
    part = rows // 4
    short = random_bits(draw, bits, part) >> draw.integers(0, bits, part).astype(np.uint64)
    negative = (~(random_bits(draw, bits, part) >> draw.integers(0, bits, part).astype(np.uint64))) & np.uint64(
        (1 << bits) - 1
    )
    edges = picked(draw, integer_edges(bits), rows - 3 * part)
    found = np.concatenate([short, negative, edges, random_bits(draw, bits, part)])
    return found[draw.permutation(rows)]


def words(draw: np.random.Generator, bits: int, rows: int) -> Rows:
    """Return triples of integers; a seventh of the pairs are equal."""
    a, b, c = (integers(draw, bits, rows) for _ in "abc")
    b[::7] = a[::7]
    return a, b, c


def shifts(draw: np.random.Generator, bits: int, rows: int) -> Rows:
    """Return words with a shift count in b, most below twice the width, and in c another word."""
    counts = draw.integers(0, 2 * bits, rows).astype(np.uint64)
    counts[::8] = integers(draw, 32, rows)[::8]
    return integers(draw, bits, rows), counts, integers(draw, bits, rows)


def fields(draw: np.random.Generator, bits: int, rows: int) -> Rows:
    """Return words with a place in b and a length in c, both sometimes too large: bits above 7 do not count."""
    place, size = (draw.integers(0, bits + 8, rows).astype(np.uint64) for _ in "bc")
    place[::9] = integers(draw, 32, rows)[::9]
    size[::11] = integers(draw, 32, rows)[::11]
    return integers(draw, bits, rows), place, size


def to_convert(draw: np.random.Generator, f: Format, rows: int) -> Rows:
    """Return numbers to convert: edges, halves between integers, ends of the integer types, ties of shorter formats."""
    near = [_patterns(f, (draw.integers(-300, 300, rows // 8) + 0.5))]
    near[0] = near[0] + draw.integers(-1, 2, rows // 8).astype(np.int64).astype(np.uint64)
    ends = np.array([s * 2.0**k for k in (7, 8, 15, 16, 31, 32, 63, 64) for s in (1, -1)])
    steps = np.concatenate([_patterns(f, ends + s) for s in (-1.0, -0.5, 0.0, 0.5, 1.0)])
    near.append(np.concatenate([steps, steps + np.uint64(1), steps - np.uint64(1)]))
    for shorter in (F32, F16, BF16, E4M3, E5M2):
        if shorter.fraction < f.fraction and shorter.exponent <= f.exponent:
            near.append(_ties(draw, f, shorter, rows // 12))
    groups = [f.edges(), *near, numbers(draw, f, rows // 8, -30, min(f.bias, 70)), random_bits(draw, f.bits, rows)]
    found = np.concatenate(groups)[:rows] & np.uint64((1 << f.bits) - 1)
    order = [draw.permutation(rows) for _ in "bc"]
    return found, found[order[0]], found[order[1]]


def _ties(draw: np.random.Generator, f: Format, shorter: Format, rows: int) -> Column:
    """Return numbers half way between two of a shorter format, or a step off, down to below its denormals."""
    cut = f.fraction - shorter.fraction
    low, high = max(1 - f.bias, -shorter.bias - shorter.fraction - 1), min(f.bias, shorter.bias + 1)
    exponents = draw.integers(low, high + 1, rows)
    lost = np.maximum(0, 1 - shorter.bias - exponents)  # bits that a denormal has less
    places = np.minimum(cut + lost, f.fraction).astype(np.uint64)
    fraction = (random_bits(draw, f.fraction, rows) >> places) << places
    fraction |= np.uint64(1) << (places - np.uint64(1))
    fraction = fraction + draw.integers(-1, 2, rows).astype(np.int64).astype(np.uint64)
    return f.pattern(draw.integers(0, 2, rows), exponents, fraction)


def integers_to_convert(draw: np.random.Generator, bits: int, rows: int) -> Rows:
    """Return integers of all lengths, many half way between two numbers of 8, 11, 24 or 53 bits, or one off."""
    part = rows // 2
    length, kept = draw.integers(2, bits, part), draw.choice([8, 11, 24, 53], part)
    cut = np.maximum(1, length - kept).astype(np.uint64)
    tie = (random_bits(draw, bits, part) | np.uint64(1 << (bits - 1))) >> (bits - 1 - length).astype(np.uint64)
    tie = ((tie >> cut) << cut) | (np.uint64(1) << (cut - np.uint64(1)))
    tie = tie + draw.integers(-1, 2, part).astype(np.int64).astype(np.uint64)
    tie[::2] = -tie[::2]
    mask = np.uint64((1 << bits) - 1)
    rest = [integer_edges(bits), integers(draw, bits, rows)]
    found = np.concatenate([tie & mask, *rest])[:rows]
    return found, found[draw.permutation(rows)], found[draw.permutation(rows)]


def mixed(make: Callable[..., Rows], bits: int, other: Callable[..., Rows], other_bits: int):
    """Return a set whose a and b come from one, c from another."""

    def rows_of(draw: np.random.Generator, rows: int) -> Rows:
        a, b, _ = make(draw, bits, rows)
        return a, b, other(draw, other_bits, rows)[2]

    return rows_of


def function_arguments(low: int, high: int) -> Callable[..., Rows]:
    """Return a set for a function of a single: 4096 evenly spaced patterns of an interval, then others of all sizes."""

    def rows_of(draw: np.random.Generator, rows: int) -> Rows:
        step = (high - low) >> 12
        even = np.arange(low, high, step, dtype=np.uint64)
        even += draw.integers(0, step, even.size).astype(np.uint64)
        others = np.concatenate([F32.edges(), numbers(draw, F32, 700, -30, 10), random_bits(draw, 32, rows)])
        found = np.concatenate([even, others])[:rows]
        return found, found, found

    return rows_of


def every_half(_draw: np.random.Generator, rows: int) -> Rows:
    """Return all patterns of 16 bits, two in a word."""
    low = np.arange(rows, dtype=np.uint64)
    found = low | ((low + np.uint64(rows)) << np.uint64(16))
    return found, found, found


def lanes(draw: np.random.Generator, rows: int) -> Rows:
    """Return words, lane numbers or distances (some beyond a warp), and words with few values."""
    places = draw.integers(0, 32, rows).astype(np.uint64)
    places[rows // 2 :] = np.repeat(draw.integers(0, 40, rows // 64), 32)  # the same in all lanes of a warp
    few = draw.integers(0, 3, rows).astype(np.uint64)
    few[-64:] = np.repeat(draw.integers(0, 2, 2), 32)
    return integers(draw, 32, rows), places, few


def truth_table(_draw: np.random.Generator, rows: int) -> Rows:
    """Return words whose bits go through all combinations of three."""
    index = np.arange(rows, dtype=np.uint64) * np.uint64(0x9E3779B9)
    return tuple(
        np.uint64(pattern) ^ (index & np.uint64(0xFF000000)) for pattern in (0xF0F0F0F0, 0xCCCCCCCC, 0xAAAAAAAA)
    )


@dataclass(frozen=True)
class InputSet:
    """How to draw rows, how many, and the bits of each source in memory."""

    rows: int
    bits: tuple[int, int, int]
    draw: Callable[[np.random.Generator, int], Rows]

    def columns(self, seed: int) -> tuple[NDArray[np.generic], ...]:
        """Return the columns as they lie in memory."""
        with np.errstate(all="ignore"):
            drawn = self.draw(np.random.default_rng(seed), self.rows)
        assert all(column.size == self.rows for column in drawn)
        return tuple(x.astype(f"u{bits // 8}") for x, bits in zip(drawn, self.bits, strict=True))


def _of(make: Callable[..., Rows], *arguments) -> Callable[[np.random.Generator, int], Rows]:
    return lambda draw, rows: make(draw, *arguments, rows)


ONE, EIGHT = 0x3F800000, 0x41000000
SINGLE_WORDS, DOUBLE_WORDS = (32, 32, 32), (64, 64, 64)
SETS = {
    "f32": InputSet(512, SINGLE_WORDS, _of(floats, F32)),
    "f64": InputSet(512, DOUBLE_WORDS, _of(floats, F64)),
    "f16": InputSet(512, SINGLE_WORDS, _of(halves, F16)),
    "bf16": InputSet(512, SINGLE_WORDS, _of(halves, BF16)),
    "b32": InputSet(256, SINGLE_WORDS, _of(words, 32)),
    "b64": InputSet(256, DOUBLE_WORDS, _of(words, 64)),
    "b16": InputSet(256, SINGLE_WORDS, _of(words, 32)),
    "shift32": InputSet(256, SINGLE_WORDS, _of(shifts, 32)),
    "shift64": InputSet(256, (64, 32, 64), _of(shifts, 64)),
    "field32": InputSet(256, SINGLE_WORDS, _of(fields, 32)),
    "field64": InputSet(256, (64, 32, 32), _of(fields, 64)),
    "wide": InputSet(256, (32, 32, 64), mixed(words, 32, words, 64)),
    "select64": InputSet(256, (64, 64, 32), mixed(words, 64, words, 32)),
    "from_f32": InputSet(768, SINGLE_WORDS, _of(to_convert, F32)),
    "from_f64": InputSet(768, DOUBLE_WORDS, _of(to_convert, F64)),
    "from_f16": InputSet(768, SINGLE_WORDS, _of(to_convert, F16)),
    "from_bf16": InputSet(768, SINGLE_WORDS, _of(to_convert, BF16)),
    "from_b32": InputSet(384, SINGLE_WORDS, _of(integers_to_convert, 32)),
    "from_b64": InputSet(384, DOUBLE_WORDS, _of(integers_to_convert, 64)),
    "rcp": InputSet(5120, SINGLE_WORDS, function_arguments(ONE, ONE + (1 << 23))),
    "rsq": InputSet(5120, SINGLE_WORDS, function_arguments(ONE, ONE + (2 << 23))),
    "lg2": InputSet(5120, SINGLE_WORDS, function_arguments(ONE - (1 << 23), ONE + (1 << 23))),
    "ex2": InputSet(5120, SINGLE_WORDS, function_arguments(ONE - (4 << 23), ONE + (4 << 23))),
    "sin": InputSet(5120, SINGLE_WORDS, function_arguments(ONE - (4 << 23), ONE + (4 << 23))),
    "tanh": InputSet(5120, SINGLE_WORDS, function_arguments(ONE - (4 << 23), ONE + (4 << 23))),
    "every_half": InputSet(1 << 15, SINGLE_WORDS, every_half),
    "lanes": InputSet(256, SINGLE_WORDS, lanes),
    "uniform64": InputSet(64, DOUBLE_WORDS, _of(words, 64)),
    "truths": InputSet(32, SINGLE_WORDS, truth_table),
}
