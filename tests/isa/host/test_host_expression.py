"""Constant expressions of C, against those of Python, and what is not known of them."""

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isa.nvidia.host.expression import LARGEST, UnknownError, evaluate

NAMES = {"n": 1000, "T": 256, "block": (16, 8), "r": 0.5}


def known(name, _depth):
    """Return the value of a name."""
    if name not in NAMES:
        raise UnknownError(name)
    return NAMES[name]


def value(text):
    """Return the value of an expression in which no macro is called."""
    return evaluate(text, known, lambda *_: None)


def binary(inner):
    """Return two expressions with an operator that Python has, with C's order of precedence for whole numbers."""
    return st.tuples(inner, st.sampled_from(["+", "*", "/", "%", "<<", "&", "^", "|"]), inner).map(
        lambda three: f"{three[0]} {three[1]} {three[2]}"
    )


EXPRESSIONS = st.recursive(
    st.integers(0, 40).map(str), lambda inner: binary(inner) | inner.map(lambda one: f"({one})"), max_leaves=12
)


@given(text=EXPRESSIONS)
def test_whole_numbers_are_pythons(text):
    """Operators on natural numbers have the order and the values that Python's have, or a value isn't known."""
    try:
        expected = eval(text.replace("/", "//"), {})
    except (ZeroDivisionError, OverflowError, MemoryError, ValueError):
        expected = None
    try:
        found = value(text)
    except UnknownError:
        assert expected is None or expected >= 64 or "<<" in text
    else:
        assert found == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(n + 255) / 256", 4),
        ("-7 / 2", -3),
        ("-7 % 2", -1),
        ("7.0 / 2", 3.5),
        ("(int)ceil(n / 256.0)", 4),
        ("(int)ceilf((float)n / T)", 4),
        ("static_cast<size_t>(n) * sizeof(float)", 4000),
        ("sizeof(float4) + sizeof(double *)", 24),
        ("n > 5 ? T : unknown", 256),
        ("(n < 5 ? unknown : 2) + 1", 3),
        ("n == 1000 && T != 1 ? 7 : 8", 7),
        ("std::min(n, T) + max(1, 2)", 258),
        ("block.x * block.y * block.z", 128),
        ("dim3(2, 3)", (2, 3)),
        ("dim3((n + block.x - 1) / block.x)", (63,)),
        ("0x10 + 010 + 0b11 + 1'000u + 1ULL", 1028),
        ("1e3f + .5", 1000.5),
        ("true + !n", 1),
        ("argc > 1 ? atoi(argv[1]) : 64", 64),
        ("int(r * 5)", 2),
        ("(unsigned char)300", 44),
        ("(int)3000000000", -1294967296),
        ("static_cast<unsigned>(-1)", (1 << 32) - 1),
        ("(size_t)-1", (1 << 64) - 1),
        ("int16_t(40000)", -25536),
        ("(const uint8_t)257", 1),
        ("(bool)7", 1),
        ("(unsigned long long)3.9", 3),
        ("(char)-129", 127),
    ],
)
def test_what_host_code_has(text, expected):
    """Casts, sizes of types, choices, dim3 and its members, and the functions that sizes are computed with."""
    assert value(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "m",
        "f(3)",
        "n +",
        "a[3]",
        "1 / 0",
        "1 << 200",
        "block + 1",
        "x.y",
        "(3",
        "3)",
        "n->m",
        "",
        "-" * 1900 + "1",
        "(" * 900,
        "(int)1e999",
        "(float)1" + "0" * 400,
        "(int)3e9",
        "(unsigned)-1.5",
        "int999999999_t(3)",
        "0b'",
        "0x'",
    ],
)
def test_what_is_not_known(text):
    """Other names, calls, memory, and texts that are no expression, are said not to be known; none takes long."""
    with pytest.raises(UnknownError):
        value(text)


def test_a_number_too_large_for_a_size_is_not_known():
    """Products of large numbers end before they are long."""
    with pytest.raises(UnknownError):
        value(f"{LARGEST - 1} * 2")


def test_names_within_each_other_end():
    """A name that means itself is not known."""

    def again(name, depth):
        return evaluate(name, again, lambda *_: None, depth)

    with pytest.raises(UnknownError):
        evaluate("x", again, lambda *_: None)


def test_an_argument_that_is_given_is_used():
    """A macro gets the texts of its arguments."""
    called = partial(lambda name, words, _depth: int(words[0]) * int(words[1]) if name == "TIMES" else None)
    assert evaluate("TIMES(3, 4) + 1", known, called) == 13
