"""Update functions of atomics against arithmetic on Python's numbers."""

import math
import struct
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies.launches import patterns32, patterns64

from isa.table import machine_row

BITS32, BITS64 = 1 << 32, 1 << 64


def updated(mnemonic, a, b, c):
    """Return the word that a row stores, as a Python int; the function gets arrays of its width."""
    row = machine_row(mnemonic)
    kind = np.uint64 if row.width == 64 else np.uint32
    with np.errstate(all="ignore"):
        return int(row.update(*(np.array([x], kind) for x in (a, b, c)))[0])


def signed(x, bits):
    """Return a pattern of so many bits as a signed number."""
    return x - (1 << bits) if x >> (bits - 1) else x


ORACLES = {  # of the word c and the operand a, in so many bits
    "ADD": lambda c, a, bits: (c + a) % (1 << bits),
    "MIN": lambda c, a, _: min(c, a),
    "MAX": lambda c, a, _: max(c, a),
    "MIN signed": lambda c, a, bits: min(c, a, key=partial(signed, bits=bits)),
    "MAX signed": lambda c, a, bits: max(c, a, key=partial(signed, bits=bits)),
    "AND": lambda c, a, _: c & a,
    "OR": lambda c, a, _: c | a,
    "XOR": lambda c, a, _: c ^ a,
    "EXCH": lambda _c, a, _: a,
    "INC": lambda c, a, _: 0 if c >= a else c + 1,
    "DEC": lambda c, a, _: a if c == 0 or c > a else c - 1,
}
NAMES = {  # of rows, and their oracle
    32: {
        **{name: name for name in ("ADD", "MIN", "MAX", "AND", "OR", "XOR", "EXCH", "INC", "DEC")},
        "MIN.S32": "MIN signed",
        "MAX.S32": "MAX signed",
    },
    64: {
        **{f"{name}.64": name for name in ("ADD", "MIN", "MAX", "AND", "OR", "XOR", "EXCH")},
        "MIN.S64": "MIN signed",
        "MAX.S64": "MAX signed",
    },
}


@pytest.mark.every
@pytest.mark.parametrize(("bits", "name"), [(bits, name) for bits, names in NAMES.items() for name in names])
@given(data=st.data())
def test_integers_are_updated_as_the_ptx_isa_says(bits, name, data):
    """Sums wrap, minima and maxima have signs where the type has, INC and DEC turn around at the operand."""
    pattern = patterns32() if bits == 32 else patterns64()
    a, c = data.draw(pattern), data.draw(pattern)
    c = data.draw(st.sampled_from((c, a, (a + 1) % (1 << bits), 0)))
    expected = ORACLES[NAMES[bits][name]](c, a, bits)
    assert updated(f"ATOMG.E.{name}.STRONG.GPU", a, 0, c) == expected
    if machine_row(f"ATOMS.{name}"):
        assert updated(f"ATOMS.{name}", a, 0, c) == expected


@pytest.mark.parametrize(("suffix", "pattern"), [("", patterns32()), (".64", patterns64())])
@given(data=st.data())
def test_a_swap_needs_the_word_that_it_expects(suffix, pattern, data):
    """CAS and CAST.SPIN put b in the place of a word that equals a, and leave any other."""
    a, b, other = (data.draw(pattern) for _ in range(3))
    c = data.draw(st.sampled_from((a, other)))
    for base in ("ATOMS", "ATOMG.E", "ATOM.E"):
        assert updated(f"{base}.CAS{suffix}", a, b, c) == (b if c == a else c)
        assert updated(f"{base}.CAST.SPIN{suffix}", a, b, c) == (b if c == a else c)


def single(bits):
    """Return the number of a single's pattern, a denormal as 0."""
    value = struct.unpack("<f", struct.pack("<I", bits))[0]
    return 0.0 if abs(value) < 2.0**-126 else value


@given(*[patterns32()] * 4)
def test_two_singles_are_added_each_on_its_own(a, b, c, d):
    """ADD.F32x2 is ADD.F32 of the lower words, and of the upper ones."""
    one = "ATOMG.E.ADD.F32{}.FTZ.RN.STRONG.GPU".format
    halves = (updated(one(""), a, 0, c), updated(one(""), b, 0, d))
    assert updated(one("x2"), a | b << 32, 0, c | d << 32) == halves[0] | halves[1] << 32


@given(patterns32(), patterns32())
def test_singles_are_added_without_denormals(a, c):
    """The sum of two doubles that hold singles, rounded once, is theirs; denormals count as zeros, and so do such sums.

    A NaN is 0x7FFFFFFF.
    """
    found, (x, y) = updated("RED.E.ADD.F32.FTZ.RN.STRONG.GPU", a, 0, c), (single(a), single(c))
    total = x + y  # of two singles, exact or too far from a midpoint to matter
    if math.isnan(total):
        assert found == 0x7FFFFFFF
    else:
        with np.errstate(over="ignore"):
            rounded = np.float32(total)
        assert single(found) == (0.0 if abs(float(rounded)) < 2.0**-126 else float(rounded))
        assert found & 0x7F800000 or not found & 0x7FFFFF


@given(patterns64(), patterns64())
def test_doubles_are_added_as_ieee_says(a, c):
    """A sum of numbers is that of Python's floats; of a NaN and a number it is the NaN."""
    x, y = (struct.unpack("<d", struct.pack("<Q", bits))[0] for bits in (a, c))
    found = updated("ATOM.E.ADD.F64.RN.STRONG.GPU", a, 0, c)
    if math.isnan(x) or math.isnan(y):
        assert found == (a if math.isnan(x) else c)
    elif not math.isnan(x + y):
        assert found == struct.unpack("<Q", struct.pack("<d", x + y))[0]
    else:
        assert found == 0xFFF8000000000000


def halves(bits):
    """Return the two 16-bit patterns of a word, the lower first."""
    return bits & 0xFFFF, bits >> 16


@given(patterns32(), patterns32())
def test_two_halves_are_added_each_on_its_own(a, c):
    """Each half of the word is the half nearest to the sum; a NaN is 0x7FFF."""
    found = halves(updated("ATOM.E.ADD.F16x2.RN.STRONG.GPU", a, 0, c))
    for ours, x, y in zip(found, halves(a), halves(c), strict=True):
        with np.errstate(all="ignore"):
            total = np.uint16(x).view(np.float16) + np.uint16(y).view(np.float16)
        assert ours == (0x7FFF if np.isnan(total) else int(total.view(np.uint16)))


def bfloat(bits):
    """Return the number of a bfloat16's pattern."""
    return struct.unpack("<f", struct.pack("<I", bits << 16))[0]


def nearest_bfloat(total):
    """Return the pattern of the bfloat16 nearest to an exact number, to even between two."""
    patterns = range(0x7F80)
    exact = abs(total)
    low, high = 0, 0x7F7F
    while low < high:  # the greatest that is not above
        middle = (low + high + 1) // 2
        low, high = (middle, high) if Fraction(bfloat(middle)) <= exact else (low, middle - 1)
    below = Fraction(bfloat(low))
    above = Fraction(bfloat(low + 1)) if low + 1 in patterns and low + 1 < 0x7F80 else Fraction(2) ** 128
    up = exact - below > above - exact or (exact - below == above - exact and low & 1)
    return low + bool(up)


@given(patterns32(), patterns32())
def test_two_bfloats_are_added_each_on_its_own(a, c):
    """Each half of the word is the bfloat16 nearest to the exact sum, to even between two; a NaN is 0x7FFF."""
    found = halves(updated("ATOM.E.ADD.BF16x2.RN.STRONG.GPU", a, 0, c))
    for ours, x, y in zip(found, map(bfloat, halves(a)), map(bfloat, halves(c)), strict=True):
        if math.isnan(x + y):
            assert ours == 0x7FFF
        elif np.isinf(x + y):
            assert ours == (0x7F80 if x + y > 0 else 0xFF80)
        else:
            assert ours & 0x7FFF == nearest_bfloat(Fraction(x) + Fraction(y))
            assert ours & 0x7FFF == 0 or ours >> 15 == (x + y < 0)
