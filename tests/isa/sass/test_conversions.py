"""Conversions of printf: the oracle is the C library's snprintf."""

import ctypes
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isa.nvidia.system.conversions import WIDEST, Arguments, text

LIBC = ctypes.CDLL(None)
FLAGS = st.text("-+ #0", max_size=3)
WIDTH = st.one_of(st.just(""), st.integers(1, 30).map(str))
PRECISION = st.one_of(st.just(""), st.just("."), st.integers(0, 20).map(lambda n: f".{n}"))
WORDS = st.text(st.characters(codec="latin-1", exclude_characters="\0"), max_size=12).map(lambda s: s.encode("latin-1"))
SPECIAL = [0.0, -0.0, float("inf"), float("-inf"), float("nan"), 5e-324, 1.7976931348623157e308, 0.5, 1.5, 2.5]


def shown(format, data, string=b""):
    """The text of a format with these arguments."""
    return text(format.encode("latin-1"), Arguments(data, lambda _: string))


def snprintf(format, *arguments):
    """What the C library makes of the same."""
    buffer = ctypes.create_string_buffer(2048)
    LIBC.snprintf(buffer, len(buffer), format.encode("latin-1"), *arguments)
    return buffer.value


@given(FLAGS, WIDTH, PRECISION, st.sampled_from(["hh", "h", "", "l", "ll"]), st.sampled_from("diuoxX"), st.data())
def test_whole_numbers(flags, width, precision, size, kind, data):
    """Of all sizes, signed or not, in all bases."""
    number = data.draw(st.one_of(st.sampled_from([0, 1, -1, 2**31 - 1, -(2**31)]), st.integers(-(2**63), 2**63 - 1)))
    format, wide = f"<%{flags}{width}{precision}{size}{kind}>", "l" in size
    laid = struct.pack("<q", number)[: 8 if wide else 4]
    assert shown(format, laid) == snprintf(
        format, ctypes.c_longlong(number) if wide else ctypes.c_int(number & 0xFFFFFFFF)
    )


@given(FLAGS, WIDTH, PRECISION, st.sampled_from("fFeEgGaA"), st.one_of(st.sampled_from(SPECIAL), st.floats()))
def test_real_numbers(flags, width, precision, kind, number):
    """With infinities, NaNs of both signs, denormals and ties."""
    format = f"<%{flags}{width}{precision}{kind}>"
    assert shown(format, struct.pack("<d", number)) == snprintf(format, ctypes.c_double(number))


@given(st.text("-", max_size=1), WIDTH, PRECISION, WORDS)
def test_strings(flags, width, precision, word):
    """Cut to the precision, padded to the width."""
    format = f"<%{flags}{width}{precision}s>"
    assert shown(format, bytes(8), word) == snprintf(format, ctypes.c_char_p(word))


@given(st.text("-", max_size=1), WIDTH, st.integers(0, 2**48), st.integers(1, 255))
def test_pointers_and_letters(flags, width, address, letter):
    """NULL is (nil)."""
    format = f"<%{flags}{width}p%{flags}{width}c>"
    laid = struct.pack("<Qi", address, letter)
    assert shown(format, laid) == snprintf(format, ctypes.c_void_p(address), ctypes.c_int(letter))


@given(st.integers(-20, 20), st.integers(-3, 12), st.floats(allow_nan=False))
def test_width_and_precision_of_arguments(width, precision, number):
    """Negative ones are a flag, and none."""
    laid = struct.pack("<iid", width, precision, number)
    assert shown("<%*.*f>", laid) == snprintf("<%*.*f>", width, precision, ctypes.c_double(number))


@pytest.mark.parametrize(
    ("format", "laid", "expected"),
    [
        ("100%", b"", b"100%"),
        ("%d %d", struct.pack("<i", 7), b"7 %d"),
        ("%k %d", struct.pack("<i", 7), b"%k 7"),
        ("%d %lld %d", struct.pack("<ixxxxqi", 1, -2, 3), b"1 -2 3"),
        ("%%%c", struct.pack("<i", 65), b"%A"),
        ("%d" * 34, struct.pack("<34i", *range(34)), b"".join(b"%d" % i for i in range(32)) + b"%d%d"),
    ],
)
def test_the_rest_is_printed_as_it_is(format, laid, expected):
    """What is no conversion, or has no argument left: 32 at most; each lies at a multiple of its size."""
    assert shown(format, laid) == expected


@pytest.mark.parametrize(
    ("format", "laid", "nbytes"),
    [
        (f"%{'1' * 5000}d", struct.pack("<i", 7), WIDEST),
        ("%900000000d", struct.pack("<i", 7), WIDEST),
        ("%99999999999999999999d", struct.pack("<i", 7), WIDEST),
        ("%.900000000d", struct.pack("<i", 7), WIDEST),
        ("%.99999999999f", struct.pack("<d", 1.5), WIDEST + 2),
        ("%.99999999999e", struct.pack("<d", 1.5), WIDEST + 6),
        ("%.99999999999a", struct.pack("<d", 1.5), WIDEST + 7),
        ("%.99999999999g", struct.pack("<d", 1.5), 3),
        ("%*d", struct.pack("<ii", 2**31 - 1, 7), WIDEST),
        ("%*d", struct.pack("<ii", -(2**31), 7), WIDEST),
        ("%.*d", struct.pack("<ii", 2**31 - 1, 7), WIDEST),
        (f"%.{'0' * 5000}3d", struct.pack("<i", 7), 3),
    ],
)
def test_widths_and_precisions_have_an_end(format, laid, nbytes):
    """Whatever number a stranger's format has, a conversion has so many characters and no error."""
    assert len(shown(format, laid)) == nbytes
