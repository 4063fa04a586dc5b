"""Matrix instructions by definition: which lane has which element (PTX ISA), and sums in exact whole numbers.

Nothing here is of the package: a number is parsed from its bits, a sum is a Python integer, and an element's place
follows from its row and column.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint32]  # by register and lane
QUADS = "HMMA.884"  # products of eight lanes each, by parts: nothing here defines them, but test_quads.py does
BITS = {
    "half": 16,
    "bf16": 16,
    "tf32": 32,
    "e4m3": 8,
    "e5m2": 8,
    "e2m3": 8,
    "e3m2": 8,
    "e2m1": 8,
    "four": 4,
    "f32": 32,
    "f64": 64,
    "b1": 1,
}
FORMATS = {"half": (5, 10), "bf16": (8, 7), "tf32": (8, 10), "e4m3": (4, 3), "e5m2": (5, 2), "f32": (8, 23)}
FORMATS |= {"e2m3": (2, 3), "e3m2": (3, 2), "e2m1": (2, 1), "four": (2, 1)}  # neither infinities nor NaN
SHAPES = {
    **{
        "1684": (16, 4),
        "1688": (16, 8),
        "16816": (16, 16),
        "16832": (16, 32),
        "16864": (16, 64),
        "168128": (16, 128),
        "884": (8, 4),
    },
    **{"8816": (8, 16), "8832": (8, 32), "88128": (8, 128), "168256": (16, 256)},
    **{"8x8x4": (8, 4), "16x8x4": (16, 4), "16x8x8": (16, 8), "16x8x16": (16, 16)},
}


class Adding(NamedTuple):
    """How an architecture adds: bits kept, bytes of k at once; of numbers of 8 bits, bits kept and of the result."""

    kept: int
    at_once: int
    small_kept: int
    small_bits: int


# As MMA-Sim (arXiv 2511.10909) and the H200 have them: bits kept, bytes of k at once; the same of 8-bit floats.
ADDING = {
    75: Adding(24, 16, 24, 23),
    80: Adding(24, 16, 24, 23),
    86: Adding(24, 16, 24, 23),
    87: Adding(24, 16, 24, 23),
    89: Adding(24, 16, 13, 13),
    90: Adding(25, 32, 13, 13),
    **dict.fromkeys((100, 110, 120, 121), Adding(25, 32, 25, 23)),
}


@dataclass(frozen=True)
class Kind:
    """A matrix instruction, as its name says."""

    rows: int
    depth: int
    types: tuple[str, str]
    result: str
    saturates: bool = False
    operation: str = ""
    sparse: bool = False  # half the numbers of a row of A are there
    scales: str = ""  # how many a row of A and a column of B have, and their kind

    @property
    def is_grouped(self) -> bool:
        """Whether sixteen products are one term, with both scales (MMA-Sim)."""
        return bool(self.scales) and self.types[0] == "four"

    @property
    def numbers(self) -> int:
        """How many numbers a row of A has."""
        return self.depth // 2 if self.sparse else self.depth


def kind_of(name: str) -> Kind:
    """Return what a mnemonic names."""
    if ".SP." in name:
        return replace(kind_of(name.replace(".SP.", ".")), sparse=True)
    if ".SF." in name:
        scales = "4ue4m3" if name.endswith(".4X") else "2e8" if name.startswith("OMMA") else "1e8"
        return replace(kind_of(name.replace(".SF.", ".")), scales=scales)
    base, shape, *rest = name.split(".")
    rows, depth = SHAPES[shape]
    if base == "IMMA":
        return Kind(rows, depth, (rest[0].lower(), rest[1].lower()), "s32", "SAT" in rest)
    result = {"DMMA": "f64", "BMMA": "s32"}.get(base) or ("f32" if rest[0] == "F32" else "half")
    return Kind(rows, depth, types_of(base, rest), result, operation=rest[0] if base == "BMMA" else "")


def types_of(base: str, rest: Sequence[str]) -> tuple[str, str]:
    """Return the types of A and B, of a base and what stands behind its shape."""
    if base == "QMMA":
        return rest[1].lower(), rest[2].lower()
    if base == "HMMA":
        return ({"BF16": "bf16", "TF32": "tf32"}.get(rest[-1], "half"),) * 2
    return ({"OMMA": "four", "DMMA": "f64", "BMMA": "b1"}[base],) * 2


def bits_of(of: str) -> int:
    """Return the bits of a type."""
    return BITS.get(of) or int(re.sub(r"\D", "", of))


def place(row: int, k: int, bits: int, rows: int) -> tuple[int, int, int]:
    """Return lane, register and lowest bit of an element of A; of B the row is a column and `rows` is 8."""
    if bits == 64:
        return 4 * (row % 8) + k % 4, 2 * ((rows // 8) * (k // 4) + row // 8), 0
    word = k * bits // 32  # of the row
    return 4 * (row % 8) + word % 4, (rows // 8) * (word // 4) + row // 8, k * bits % 32


def result_place(row: int, column: int, bits: int) -> tuple[int, int, int]:
    """Return lane, register and lowest bit of an element of C or D."""
    lane, odd = 4 * (row % 8) + column // 2, column % 2
    if bits == 16:
        return lane, row // 8, 16 * odd
    return lane, (2 * (row // 8) + odd) * (bits // 32), 0


def taken(words: Words, at: tuple[int, int, int], bits: int) -> int:
    """Return the pattern at a place."""
    lane, register, lowest = at
    if bits == 64:
        return int(words[register, lane]) | int(words[register + 1, lane]) << 32
    return int(words[register, lane]) >> lowest & ((1 << bits) - 1)


def put(words: Words, at: tuple[int, int, int], bits: int, pattern: int) -> None:
    """Add a pattern to registers that are zero there."""
    lane, register, lowest = at
    words[register, lane] |= np.uint32((pattern << lowest) & 0xFFFFFFFF)
    if bits == 64:
        words[register + 1, lane] |= np.uint32(pattern >> 32)


def chosen(kind: Kind, of: Words, row: int, selector: int) -> list[int]:
    """Return the k of the numbers of a row of a sparse A, from the words of its lanes (PTX ISA, "Sparse matrix")."""
    bits = bits_of(kind.types[0])
    group = 2 if bits == 32 else 8 if bits == 4 else 4  # k for which four bits say two places
    lanes = max(kind.depth // group // 4, 1)
    found = []
    for at in range(kind.depth // group):
        if bits <= 8:  # a word has one row
            lane, lowest = 2 * (at // 8) + row // 8, 4 * (at % 8)
        else:
            lane, lowest = at // 4, 16 * (row // 8) + 4 * (at % 4)
        nibble = int(of[4 * (row % 8) + (lanes * selector + lane) % 4]) >> lowest & 15
        places = [nibble >> 1 & 1] if bits == 32 else [nibble & 3, nibble >> 2]
        each = [2 * place + half for place in places for half in (0, 1)] if bits == 4 else places
        found += [group * at + place for place in each]
    return found


def scales_of(kind: Kind, words: Words, lane: int, byte: int) -> list[Number]:
    """Return the scale of each k of a row, whose word a lane has, from a byte on."""
    if not kind.scales:
        return []
    count, of = int(kind.scales[0]), kind.scales[1:]
    held = [int(words[lane]) >> 8 * (byte + i) & 255 for i in range(count)]
    powers = [Number(False, 1, one - 127, one - 127, "nan" if one == 255 else "") for one in held]
    found = powers if of == "e8" else [number(one & 127, "e4m3") for one in held]
    return [found[k * count // kind.depth] for k in range(kind.depth)]


def times(x: Number, y: Number) -> Number:
    """Return the product of two numbers, the exponent that of both."""
    specials = {x.special, y.special} - {""}
    zero = any(one.significand == 0 and not one.special for one in (x, y))
    special = "nan" if "nan" in specials or (specials and zero) else "infinity" if specials else ""
    whole, negative = x.significand * y.significand, x.negative != y.negative
    return Number(negative, whole, x.exponent + y.exponent, x.power + y.power, special)


def multiplied(name: str, a: Words, b: Words, c: Words, adding: Adding, selector: int = 0) -> Words:
    """Return D, in registers; behind A's lie which numbers a sparse one has, and its scales."""
    kind = kind_of(name)
    bits, wide = bits_of(kind.types[0]), bits_of(kind.result)
    d = np.zeros((kind.rows // 4 * wide // 32, 32), np.uint32)
    for row in range(kind.rows):
        of_row = [taken(a, place(row, k, bits, kind.rows), bits) for k in range(kind.numbers)]
        there = (
            chosen(kind, a[-2 if kind.scales else -1], row, 0 if kind.scales else selector)
            if kind.sparse
            else range(kind.depth)
        )
        for column in range(8):
            of_column = [taken(b, place(column, k, bits, 8), bits) for k in there]
            at = result_place(row, column, wide)
            of_a = scales_of(kind, a[-1], 4 * (row % 8) + 2 * (selector >> 2 & 1) + row // 8, selector & 3)
            of_b = scales_of(kind, b[-1], 4 * column + (selector >> 5 & 3), selector >> 3 & 3)
            scales = [times(of_a[k], of_b[k]) for k in there] if kind.scales else []
            put(d, at, wide, dot(kind, of_row, of_column, taken(c, at, wide), adding, scales))
    return d


def dot(kind: Kind, a: Sequence[int], b: Sequence[int], c: int, adding: Adding, scales: Sequence[Number] = ()) -> int:
    """Return an element of D."""
    if kind.types[0] == "f64":
        for x, y in zip(a, b, strict=True):
            c = fused(x, y, c)
        return c
    if kind.result == "s32":
        return whole(kind, a, b, c)
    step = kind.numbers if kind.is_grouped else 8 * adding.at_once // bits_of(kind.types[0])
    for first in range(0, kind.numbers, step):
        part = slice(first, first + step)
        c = added(kind, a[part], b[part], c, adding, scales[part])
    return c


def whole(kind: Kind, a: Sequence[int], b: Sequence[int], c: int) -> int:
    """Return a sum of whole numbers."""
    if kind.operation:
        total = sum(x & y if kind.operation == "AND" else x ^ y for x, y in zip(a, b, strict=True))
    else:
        total = sum(signed(x, kind.types[0]) * signed(y, kind.types[1]) for x, y in zip(a, b, strict=True))
    total += signed(c, "s32")
    if kind.saturates:
        total = max(-(1 << 31), min((1 << 31) - 1, total))
    return total & 0xFFFFFFFF


def signed(pattern: int, of: str) -> int:
    """Return the whole number of a pattern."""
    bits = bits_of(of)
    return pattern - (1 << bits) if of[0] == "s" and pattern >> (bits - 1) else pattern


class Number(NamedTuple):
    """(-1)**negative significand 2**exponent; or an infinity, or no number."""

    negative: bool
    significand: int
    exponent: int  # of its lowest digit
    power: int  # of its highest place: of a subnormal the least of normal numbers
    special: str = ""


def number(pattern: int, of: str) -> Number:
    """Return the number of a pattern."""
    pattern >>= {"tf32": 13, "e2m1": 2}.get(of, 0)
    exponent_bits, digits = FORMATS[of]
    field, fraction = pattern >> digits & ((1 << exponent_bits) - 1), pattern & ((1 << digits) - 1)
    negative, last = bool(pattern >> (exponent_bits + digits) & 1), (1 << exponent_bits) - 1
    if bits_of(of) < 8 or exponent_bits < 4:
        special = ""
    elif of == "e4m3":
        special = "nan" if (field, fraction) == (last, 7) else ""
    else:
        special = "" if field != last else "nan" if fraction else "infinity"
    power = max(field, 1) - ((1 << (exponent_bits - 1)) - 1)
    return Number(negative, fraction | bool(field) << digits, power - digits, power, special)


def group(a: Sequence[int], b: Sequence[int], scale: Number) -> Number:
    """Return the term of a group of products: their exact sum times its scale, with the exponent of that alone."""
    products = [times(number(x, "four"), number(y, "four")) for x, y in zip(a, b, strict=True)]
    found = sum((-1) ** one.negative * one.significand * Fraction(2) ** one.exponent for one in products)
    quarters = int(4 * found)
    return Number(quarters < 0, abs(quarters) * scale.significand, scale.exponent - 2, scale.power, scale.special)


def terms(kind: Kind, a: Sequence[int], b: Sequence[int], c: int, scales: Sequence[Number]) -> Iterator[Number]:
    """Yield the products, or groups of them, and C."""
    if kind.is_grouped:
        yield from (group(a[k : k + 16], b[k : k + 16], scales[k]) for k in range(0, len(a), 16))
        yield number(c, kind.result)
        return
    for k, (x, y) in enumerate(zip(a, b, strict=True)):
        product = times(number(x, kind.types[0]), number(y, kind.types[1]))
        yield times(product, scales[k]) if scales else product
    yield number(c, kind.result)


def added(kind: Kind, a: Sequence[int], b: Sequence[int], c: int, adding: Adding, scales: Sequence[Number] = ()) -> int:
    """Return the pattern of one sum of products and C."""
    every, small = list(terms(kind, a, b, c, scales)), bits_of(kind.types[0]) <= 8
    infinities = {one.negative for one in every if one.special == "infinity"}
    if any(one.special == "nan" for one in every) or len(infinities) == 2:
        return 0x7FFFFFFF if kind.result == "f32" else 0x7FFF
    if infinities:
        return infinite(kind.result, infinities.pop())
    kept = 35 if kind.is_grouped else adding.small_kept if small else adding.kept
    largest = max((one.power for one in every if one.significand), default=0)
    unit, total = largest - kept, 0
    for one in every:
        cut = math.floor(Fraction(one.significand) * Fraction(2) ** (one.exponent - unit))
        total += -cut if one.negative else cut
    digits = 10 if kind.result == "half" else adding.small_bits if small else 23
    return rounded(total, unit, kind.result, digits)


def infinite(result: str, negative: bool) -> int:
    """Return the pattern of an infinity."""
    return (0x7F800000 if result == "f32" else 0x7C00) | negative << (bits_of(result) - 1)


def rounded(total: int, unit: int, result: str, digits: int) -> int:
    """Return the pattern of total 2**unit: a half is the nearest one, a single is cut to so many digits."""
    exponent_bits, fraction = FORMATS[result]
    bias = (1 << (exponent_bits - 1)) - 1
    size, negative = abs(total), total < 0
    power = max(size.bit_length() - 1 + unit, 1 - bias)
    scaled = Fraction(size) * Fraction(2) ** (unit - power + digits)
    steps = round(scaled) if result == "half" else math.floor(scaled)  # Python rounds to the even one
    if steps == 2 << digits:
        steps, power = 1 << digits, power + 1
    if steps == 0:
        return 0
    if power > bias:
        return infinite(result, negative)
    steps <<= fraction - digits
    pattern = steps if steps < 1 << fraction else (power + bias << fraction) + steps - (1 << fraction)
    return pattern | negative << (bits_of(result) - 1)


def double(pattern: int) -> float:
    """Return the double of a pattern."""
    (found,) = struct.unpack("<d", struct.pack("<Q", pattern))
    return float(found)


def fused(a: int, b: int, c: int) -> int:
    """Return the pattern of the double a b + c, rounded once; a NaN goes through made quiet, c's before a's."""
    for one in (c, a, b):
        if math.isnan(double(one)):
            return one | 1 << 51
    x, y, z = map(double, (a, b, c))
    if not all(map(math.isfinite, (x, y, z))):
        invalid = (math.isinf(x) and y == 0) or (math.isinf(y) and x == 0)
        found = math.nan if invalid else x * y + z if not math.isfinite(x * y) else z
        if not math.isfinite(z) and math.isfinite(x) and math.isfinite(y):
            found = z
        return 0xFFF8000000000000 if math.isnan(found) else _pattern(found)
    exact = Fraction(x) * Fraction(y) + Fraction(z)
    if exact == 0:
        both = math.copysign(1, x) * math.copysign(1, y) < 0 and math.copysign(1, z) < 0
        return 1 << 63 if both and (x == 0 or y == 0) else 0
    try:
        found = float(exact)
    except OverflowError:
        found = math.inf if exact > 0 else -math.inf
    return _pattern(math.copysign(found, exact) if found == 0 else found)


def _pattern(value: float) -> int:
    (found,) = struct.unpack("<Q", struct.pack("<d", value))
    return int(found)
