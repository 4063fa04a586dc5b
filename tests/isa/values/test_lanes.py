from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import launches as strategies

from isa.values import lanes

SINGLE = (np.float32, np.uint32, 24, -149)  # type, pattern type, precision, exponent of the last denormal place
DOUBLE = (np.float64, np.uint64, 53, -1074)


def _nearest(exact, dtype, precision, lowest):
    """Round a Fraction to nearest even by its definition: a whole number of last places."""
    exponent = exact.numerator.bit_length() - exact.denominator.bit_length()
    exponent -= abs(exact) < Fraction(2) ** exponent
    place = Fraction(2) ** max(exponent - precision + 1, lowest)
    value = round(abs(exact) / place) * place
    magnitude = np.inf if value > Fraction(float(np.finfo(dtype).max)) else float(value)
    return dtype(magnitude if exact > 0 else -magnitude)


def _expected(a, b, c, kind):
    dtype, _, precision, lowest = kind
    if np.isinf(c) and np.isfinite(a) and np.isfinite(b):
        return c
    finite = np.isfinite(a) and np.isfinite(b) and np.isfinite(c)
    exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c)) if finite else 0
    with np.errstate(all="ignore"):
        # Special values and exact zeros need no rounding, so the plain sum has the right value and sign.
        return _nearest(exact, dtype, precision, lowest) if exact else a * b + c


def _check(fma, triples, kind):
    dtype, bits, *_ = kind
    a, b, c = (np.array(column, bits).view(dtype) for column in zip(*triples, strict=True))
    with np.errstate(all="ignore"):
        got = np.asarray(fma(a, b, c))
    expected = np.array([_expected(*x, kind) for x in zip(a, b, c, strict=True)], dtype)
    same = (got.view(bits) == expected.view(bits)) | (np.isnan(got) & np.isnan(expected))
    assert got.dtype == dtype
    assert same.all(), [hex(x) for x in triples[int(np.argmin(same))]]


P32, P64 = strategies.patterns32(), strategies.patterns64()


@given(st.lists(st.tuples(P32, P32, P32) | strategies.cancelling(32) | strategies.halfway(32), min_size=1, max_size=40))
def test_fma32_is_the_exact_value_rounded_once(triples):
    """Single a b + c equals the exact rational rounded once, denormals, overflow, halfway and cancelling included."""
    _check(lanes.fma32, triples, SINGLE)


@given(st.lists(st.tuples(P64, P64, P64) | strategies.cancelling(64) | strategies.halfway(64), min_size=1, max_size=40))
def test_fma64_is_the_exact_value_rounded_once(triples):
    """Double a b + c equals the exact rational rounded once, denormals, overflow, halfway and cancelling included."""
    _check(lanes.fma64, triples, DOUBLE)


MODERATE = st.builds(
    lambda m, e, s: s << 63 | e << 52 | m, st.integers(0, 2**52 - 1), st.integers(990, 1056), st.integers(0, 1)
)


@given(st.lists(st.tuples(MODERATE, MODERATE, MODERATE | P64), min_size=1, max_size=40))
def test_fma64_is_exact_where_it_uses_transformations(triples):
    """With exponents near one another, where no rational fallback runs, a double a b + c is rounded once as well."""
    _check(lanes.fma64, triples, DOUBLE)


def test_fma_keeps_what_separate_rounding_loses():
    """(1 + e)(1 - e) - 1 is -e**2 fused and 0 with two roundings."""
    for fma, dtype, e in ((lanes.fma32, np.float32, 2.0**-20), (lanes.fma64, np.float64, 2.0**-40)):
        a, b, c = dtype(1 + e), dtype(1 - e), dtype(-1)
        assert a * b + c == 0
        assert fma(a, b, c) == -(e**2)


def test_fma32_is_right_though_rounding_to_double_first_is_wrong():
    """1 + 2**-24 + 2**-60 is just above the middle of two singles; its double is that middle, which rounds down."""
    x = 2.0**-12
    a, b = np.float32(2.0**-24 * (1 + x)), np.float32(1 - x + x**2)  # the product is 2**-24 (1 + x**3)
    assert np.float32(np.float64(a) * np.float64(b) + 1) == 1
    assert lanes.fma32(a, b, np.float32(1)) == np.float32(1 + 2.0**-23)


TIE = 2.0**-24  # half the last place of 1 as a single
SMALLEST = 2.0**-149
HARD = [  # a, b, c, and a b + c rounded once, by hand
    (TIE, 1, 1, 1),  # exact ties go to the even neighbour
    (TIE, 1, 1 + 2 * TIE, 1 + 4 * TIE),
    (-TIE, 1, 1 + 2 * TIE, 1),
    (TIE * (1 + 2.0**-15), 1 - 2.0**-15, 1 + 2 * TIE, 1 + 2 * TIE),  # just below the tie, which would go up
    (TIE * (1 + 2.0**-15), -1 + 2.0**-15, -1 - 2 * TIE, -1 - 2 * TIE),
    (1, 1, 2.0**-60, 1),  # a sum whose double is inexact and far from a tie
    (2.0**-75, 2.0**-75, SMALLEST, 2 * SMALLEST),  # ties among denormals: 1.5 places, up to even
    (2.0**-75, -(2.0**-75), SMALLEST, 0),  # 0.5 places, down to even
    (2.0**-75 * (1 + 2.0**-20), 2.0**-75 * (1 - 2.0**-20), 2.0**-127, 2.0**-127),  # just below half a place
    (2.0**-75 * (1 + 2.0**-12), 2.0**-75 * (1 - 2.0**-12 + 2.0**-24), 2.0**-127, 2.0**-127 + SMALLEST),  # just above
    (2.0**-75 * (1 + 2.0**-20), 2.0**-75 * (1 - 2.0**-20), 2.0**-126 - SMALLEST, 2.0**-126 - SMALLEST),
    (2.0**127, 2 - 2.0**-23, 2.0**102, 2.0**128 - 2.0**104),  # below the tie with the next power of two: finite
    (2.0**127, 2 - 2.0**-23, 2.0**103, np.inf),  # on it: beyond the range
    (2.0**64, 2.0**64, -np.inf, -np.inf),
    (np.inf, 0, 1, np.nan),
    (np.inf, 1, -np.inf, np.nan),
    (-0.0, 1, -0.0, -0.0),  # the sign of zero: both summands negative, else positive
    (-0.0, 1, 0.0, 0.0),
    (1, 1, -1, 0.0),
]


@pytest.mark.every
@pytest.mark.parametrize("others", [[], [(1.0, 1.0, 1.0)] * 31])
@pytest.mark.parametrize(("a", "b", "c", "expected"), HARD)
def test_fma32_rounds_the_hard_cases_once(a, b, c, expected, others):
    """Ties, near ties, denormals, the range's end and special values are rounded once, whatever other lanes hold."""
    columns = [np.array(column, np.float32) for column in zip((a, b, c), *others, strict=True)]
    with np.errstate(all="ignore"):
        got = lanes.fma32(*columns)
    assert np.array_equal(got[:1], np.float32([expected]), equal_nan=True)
    assert np.signbit(got[0]) == np.signbit(np.float32(expected)) or np.isnan(expected)
    assert (got[1:] == 2).all()


def test_an_infinite_addend_wins_over_a_product_beyond_the_range():
    """1e200 * 1e200 - inf is -inf: the product is finite until it is rounded."""
    with np.errstate(all="ignore"):
        assert lanes.fma64(np.float64(1e200), np.float64(1e200), np.float64(-np.inf)) == -np.inf


def test_fma_takes_arrays_of_any_shape_and_broadcasts():
    """Shapes follow NumPy: a matrix, a row and a scalar give a matrix."""
    a, b = np.ones((3, 4)), np.arange(4.0)
    for fma, dtype in ((lanes.fma32, np.float32), (lanes.fma64, np.float64)):
        got = fma(a.astype(dtype), b.astype(dtype), dtype(0.5))
        assert np.array_equal(got, np.broadcast_to(b + 0.5, (3, 4)))


@given(strategies.patterns32(), strategies.patterns64())
def test_reinterpretation_keeps_the_bits(word, double):
    """Going to another type of the same width and back changes no bit."""
    w, d = np.array([word], np.uint32), np.array([double], np.uint64)
    assert lanes.as_u32(lanes.as_f32(w))[0] == lanes.as_u32(lanes.as_i32(w))[0] == word
    assert lanes.as_u64(lanes.as_f64(d))[0] == double


@given(strategies.patterns64())
def test_narrow_keeps_the_low_word_and_widen_adds_zeros(pattern):
    """`narrow` is modulo 2**32 and `widen` keeps the value."""
    low = lanes.narrow(np.uint64(pattern))
    assert int(low) == pattern % 2**32
    assert int(lanes.widen(low)) == int(low)
    assert lanes.widen(low).dtype == np.uint64


@pytest.mark.parametrize("condition", [True, False])
def test_choose_is_a_selection(condition):
    """`choose` gives its second argument where the condition holds and its third elsewhere."""
    assert lanes.choose(np.bool_(condition), np.uint32(1), np.uint32(2)) == (1 if condition else 2)


def test_words_of_a_quads_lanes_lie_apart_and_come_back():
    """Word t of quad g comes to first + distance t + g, and nothing else changes."""
    words, to, back = np.arange(100, 132, dtype=np.uint32), lanes.room_for_words(), np.zeros(32, np.uint32)
    lanes.spread(to, 5, 16, words)
    assert all(to[5 + 16 * t + g] == words[4 * g + t] for g in range(8) for t in range(4))
    assert np.count_nonzero(to) == len(words)
    lanes.collect(back, to, 5, 16)
    assert np.array_equal(back, words)
