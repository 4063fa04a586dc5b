from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import launches as strategies

from isa.reading import literals


@given(strategies.patterns32(), strategies.patterns64())
def test_text_of_a_pattern_reads_back(word, double):
    """Integers and floats of both widths survive writing and reading, bit by bit."""
    for bits, width in ((word, 32), (double, 64)):
        assert literals.integer_bits(literals.show_integer(bits, width), width) == bits
        assert literals.real_bits(literals.show_real(bits, width), width) == bits


@given(st.floats(1e-30, 1e30), st.integers(0, 40))
def test_a_decimal_is_rounded_once_to_single(x, digits):
    """No neighbouring single is nearer to the decimal than the one read, whatever its number of digits."""
    text = f"{x:.{digits}e}"
    bits, exact = literals.real_bits(text), Fraction(text)
    near = [Fraction(float(np.uint32(b).view(np.float32))) for b in (bits - 1, bits, bits + 1)]
    assert abs(near[1] - exact) <= min(abs(near[0] - exact), abs(near[2] - exact))


def test_a_decimal_just_above_a_middle_is_rounded_up():
    """1 + 2**-24 + 1e-30 is nearer to 1 + 2**-23, though its double is the middle, which rounds to 1."""
    assert literals.real_bits("1.000000059604644775390625") == 0x3F800000
    assert literals.real_bits("1.000000059604644775390625000001") == 0x3F800001
    assert literals.real_bits("-1.000000059604644775390625000001") == 0xBF800001


def test_special_values_and_patterns():
    """inf, nan, signed zero, underflow and PTX patterns give their IEEE patterns."""
    assert [literals.real_bits(t) for t in ("inf", "-inf", "nan", "-0.0", "1e-60", "0f12345678")] == [
        0x7F800000, 0xFF800000, 0x7FFFFFFF, 0x80000000, 0, 0x12345678,
    ]  # fmt: skip
    assert literals.real_bits("nan", 64) == 0xFFF8000000000000
    assert literals.real_bits("0d0000000000000001", 64) == 1


@pytest.mark.parametrize("text", ["", "1", "x", "1.0f", "1e", "--1.0", "1e39", "0f123", "1_0.0"])
def test_text_that_is_no_float_is_refused(text):
    """Integers, stray letters, half a pattern and numbers beyond single precision raise ValueError."""
    with pytest.raises(ValueError, match="; write"):
        literals.real_bits(text)


@pytest.mark.parametrize("text", ["", "1.0", "0x", "1e3", "x", "1_0", "4294967296", "-2147483649"])
def test_text_that_is_no_32_bit_integer_is_refused(text):
    """Other text, and numbers beyond 32 bits signed or unsigned, raise ValueError."""
    with pytest.raises(ValueError, match="; write"):
        literals.integer_bits(text)
