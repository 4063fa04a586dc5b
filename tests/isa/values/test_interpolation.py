"""The special function unit's interpolation and the functions that are made of it."""

import math

import numpy as np
import pytest
from draws import draws
from hypothesis import given
from hypothesis import strategies as st

from isa.table import machine_row
from isa.values.floating import interpolation, special_function

NOTHING = np.uint64(0)
FRACTIONS = st.integers(0, (1 << 23) - 1)
SINGLES = st.floats(width=32, allow_nan=True)


def of(function, argument):
    """Return the pattern of a function at a pattern."""
    with np.errstate(all="ignore"):
        return int(function(np.uint64(argument), NOTHING, NOTHING, np.uint32(0), NOTHING))


def bits(number):
    return int(np.float32(number).view(np.uint32))


def single(pattern):
    return float(np.uint32(pattern).view(np.float32))


@given(st.integers(0, (1 << 17) - 1))
def test_the_square_lacks_its_low_columns(x):
    """Of the products of two bits of a number, each counted twice, those of 2**18 and less are left out."""
    places = [i for i in range(17) if x >> i & 1]
    kept = sum(1 << (i + j) for i in places for j in places if (i + j + (i != j)) > 18)
    assert int(interpolation.short_square(np.uint64(x))) << 19 == kept


@given(st.integers(1, (1 << 41) - 1), st.integers(-200, 200))
def test_a_value_is_cut_to_a_single(value, exponent):
    """A value becomes the single with its first 24 digits; one below the normal numbers 0, one above them infinity."""
    with np.errstate(over="ignore"):
        got = int(interpolation.as_single(np.uint64(value), np.uint64(exponent % 2**64)))
    shift = max(0, value.bit_length() - 24)
    exact = math.ldexp(value >> shift << shift, exponent - 40)
    least, most = 2.0**-126, 2.0**128
    assert single(got) == (0.0 if exact < least else math.inf if exact >= most else exact)


TRUTHS = {
    "RCP": (lambda x: 1 / x, 1.0, 2.0),
    "RSQ": (lambda x: 1 / math.sqrt(x), 1.0, 4.0),
    "SQRT": (math.sqrt, 1.0, 4.0),
    "LG2": (math.log2, 2.0, 1e30),
    "EX2": (lambda x: 2.0**x, -20.0, 20.0),
    "TANH": (math.tanh, 2.0**-8, 8.0),
}
# Units in the last place, on every single of the interval but for LG2 (four binades of it); the error of EX2 and TANH
# comes from digits of the argument that are cut.
MOST_ERRORS = {"RCP": 0.98, "RSQ": 1.52, "SQRT": 0.95, "LG2": 1.39, "EX2": 2.06, "TANH": 134.0}


@pytest.mark.parametrize("name", TRUTHS)
def test_functions_come_near_the_truth(name):
    """On 4000 arguments each function differs from the true value by no more than its tables allow."""
    function, low, high = TRUTHS[name]
    arguments = np.random.default_rng(5).uniform(low, high, draws(4000, 500)).astype(np.float32)
    row = machine_row(f"MUFU.{name}")
    for x in arguments:
        true = function(float(x))
        unit = float(np.spacing(np.float32(abs(true))))
        assert abs(single(of(row.result, bits(x))) - true) <= MOST_ERRORS[name] * unit, x


@given(SINGLES)
def test_waves_repeat_and_mirror(x):
    """The sine of -x is that of x negated, the cosine the same; infinities and NaNs have neither."""
    sine, cosine = (of(f, bits(x)) for f in (special_function.sine, special_function.cosine))
    if math.isfinite(x):
        assert of(special_function.sine, bits(-x)) == sine ^ 0x80000000
        assert of(special_function.cosine, bits(-x)) == cosine
        assert single(sine) == pytest.approx(math.sin(2 * math.pi * math.fmod(x, 1.0)), abs=2.0**-21)
    else:
        assert sine == cosine == 0x7FFFFFFF


LIMITS = [
    ("RCP", math.inf, 0.0), ("RCP", -0.0, -math.inf), ("RCP", 2.0**127, 0.0), ("RCP", 2.0**-127, math.inf),
    ("RSQ", 0.0, math.inf), ("RSQ", -0.0, -math.inf), ("RSQ", math.inf, 0.0), ("RSQ", 4.0, 0.5),
    ("SQRT", -0.0, -0.0), ("SQRT", math.inf, math.inf), ("SQRT", 9.0, 3.0), ("SQRT", 2.0**-127, 0.0),
    ("LG2", 1.0, 0.0), ("LG2", 0.0, -math.inf), ("LG2", math.inf, math.inf), ("LG2", 1024.0, 10.0),
    ("EX2", -1.0, 0.5), ("EX2", 128.0, math.inf), ("EX2", -127.0, 0.0), ("EX2", -math.inf, 0.0), ("EX2", 0.0, 1.0),
    ("TANH", 2.0**-140, 2.0**-140), ("TANH", 100.0, 1.0), ("TANH", -math.inf, -1.0),
]  # fmt: skip


@pytest.mark.every
@pytest.mark.parametrize(("name", "argument", "expected"), LIMITS)
def test_limits_and_exact_points(name, argument, expected):
    """Zeros, infinities, denormals and exact points give what an H200 gives."""
    assert of(machine_row(f"MUFU.{name}").result, bits(argument)) == bits(expected)


@pytest.mark.parametrize("name", ["RSQ", "SQRT", "LG2"])
def test_negative_numbers_have_no_result(name):
    """Roots and the logarithm of a negative number are the one NaN; a negative denormal counts as -0."""
    result = machine_row(f"MUFU.{name}").result
    assert of(result, bits(-2.0)) == 0x7FFFFFFF
    assert of(result, bits(-(2.0**-130))) == of(result, bits(-0.0))
