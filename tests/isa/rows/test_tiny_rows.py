"""Rows of numbers of 6 and 4 bits and of powers of two in 8, against all numbers that a format has."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies.bit_patterns import patterns32
from strategies.launches import REPEATABLE

from isa.nvidia.lowering.lower import lowered

FORMATS = {"E2M3": (2, 3), "E3M2": (3, 2), "E2M1": (2, 1)}
NAN16 = 0x7FFF
SMALL = st.floats(-64, 64, width=32).map(lambda x: int(np.float32(x).view(np.uint32)))
WORDS = patterns32() | SMALL


def computed(text, *words):
    """Return the word that an instruction gives for source words, whose registers are R5, R6 and R7."""
    form = lowered(text)
    sources = dict(zip((x for x in form.row.form if x in "abc"), words, strict=True))
    given = [np.array([sources.get(x, 0)], np.uint64) for x in "abc"]
    with np.errstate(all="ignore"):
        found = form.row.result(*given, np.zeros(1, np.uint32), np.array([form.row.code], np.uint64))
    return int(found[0]) & 0xFFFFFFFF


def value(pattern, name):
    """Return the number of a pattern of 6 or 4 bits."""
    exponent, fraction = FORMATS[name]
    field, digits = pattern >> fraction & ((1 << exponent) - 1), pattern & ((1 << fraction) - 1)
    least = 2 - (1 << (exponent - 1))
    whole = Fraction(digits + (min(field, 1) << fraction), 1 << fraction) * Fraction(2) ** (max(field, 1) - 1 + least)
    return -whole if pattern >> (exponent + fraction) else whole


def nearest(word, name, relu):
    """Return the pattern next to a single, of two the even one; the greatest one for what is beyond, and NaN."""
    number, size = float(np.uint32(word).view(np.float32)), 1 << sum(FORMATS[name])
    if math.isnan(number):
        return size - 1
    if relu and word >> 31:
        return 0
    exact = Fraction(abs(number)) if math.isfinite(number) else Fraction(10**9)
    found = min(range(size), key=lambda p: (abs(value(p, name) - exact), p & 1))
    return found | (size if word >> 31 else 0)


@pytest.mark.parametrize("name", FORMATS)
@REPEATABLE
@given(a=WORDS, b=WORDS, c=patterns32(), relu=st.booleans())
def test_singles_become_the_nearest_number(name, a, b, c, relu):
    """F2FP packs a above b, in bytes or half bytes, below what c has."""
    found = computed(f"F2FP.SATFINITE.{'RELU.' * relu}{name}.F32.PACK_AB_MERGE_C R4, R5, R6, R7", a, b, c)
    bits = 4 if name == "E2M1" else 8
    pair = nearest(a, name, relu) << bits | nearest(b, name, relu)
    assert found == (pair | c << 2 * bits) & 0xFFFFFFFF


@pytest.mark.parametrize("relu", ["", "RELU."])
@pytest.mark.parametrize("name", FORMATS)
def test_every_number_has_a_half(name, relu):
    """F2FP.UNPACK_B gives the halves of all pairs of patterns, of each byte that it may be told."""
    bits = 4 if name == "E2M1" else 8
    parts = {"": 0, ".B1": 8, ".B2": 16, ".B3": 24} if bits == 4 else {"": 0, ".H1": 16}
    for pattern in range(1 << (1 + sum(FORMATS[name]))):
        number = value(pattern, name)
        sign = 0x8000 if pattern >> sum(FORMATS[name]) else 0
        half = int(np.float16(abs(number)).view(np.uint16)) | sign
        expected = 0 if relu and sign else half
        for part, lowest in parts.items():
            found = computed(f"F2FP.{relu}F16.{name}.UNPACK_B R4, R5{part}", (pattern << bits | 1) << lowest)
            assert found == expected << 16 | int(np.float16(value(1, name)).view(np.uint16)), (pattern, part)


def power(word, up, finite):
    """Return the E8 pattern of a single's size."""
    number = abs(float(np.uint32(word).view(np.float32)))
    if math.isnan(number):
        return 255
    below = 0 if number < 2.0**-126 else 255 if math.isinf(number) else math.frexp(number)[1] - 1 + 127
    above = up and math.isfinite(number) and number > 2.0 ** (below - 127)
    return min(below + above, 254 if finite else 255)


@REPEATABLE
@given(a=WORDS, b=WORDS, c=patterns32(), up=st.booleans(), finite=st.booleans())
def test_sizes_become_powers_of_two(a, b, c, up, finite):
    """F2FP to E8 cuts a size to a power of two, or takes the next one; beyond is NaN, or the greatest."""
    name, mode = ("SATFINITE." if finite else "") + "E8", "RP" if up else "RZ"
    found = computed(f"F2FP.{name}.F32.PACK_AB_MERGE_C.{mode} R4, R5, R6, R7", a, b, c)
    assert found == power(a, up, finite) << 8 | power(b, up, finite) | (c & 0xFFFF) << 16
    pair = a & 0xFFFF0000 | b >> 16
    high, low = (power(one << 16, up, finite) for one in (pair >> 16, pair & 0xFFFF))
    found = computed(f"F2FP.{name}.BF16.UNPACK_B_MERGE_C.{mode} R4, R5, R7", pair, c)
    assert found == high << 8 | low | (c & 0xFFFF) << 16


def test_powers_of_two_become_bfloats():
    """F2FP.BF16.E8.UNPACK_B gives 2**(pattern - 127), and NaN for 255."""
    for pattern in range(256):
        half = NAN16 if pattern == 255 else int(np.float32(2.0 ** (pattern - 127)).view(np.uint32)) >> 16
        for part, lowest in (("", 0), (".H1", 16)):
            assert computed(f"F2FP.BF16.E8.UNPACK_B R4, R5{part}", pattern << lowest) == half | 0x40 << 16
