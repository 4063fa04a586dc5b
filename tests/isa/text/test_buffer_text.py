import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isa import generators
from isa.errors import UserError
from isa.kernel import Buffer
from isa.reading.source import Token
from isa.text import buffer_text
from isa.text.assembler import AssemblyError


def buffer(text):
    """Return the buffer of a text."""
    return buffer_text.buffer(Token(text, "f", 3, 9), {"taken"})


TEXTS = [
    "x f32 4", "x f64 4 = iota", "x i32 2 = values -1 7", "x f32 3 = values 0.1 inf nan",
    "x u32 9 = constant 4294967295",
    "x f32 5 = hash 3 -1.0 1.0", "x i32 5 = hash 3 0.0 10.0", "x f64 1 = constant -0.0",
]  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
def test_text_and_buffer_are_inverse(text):
    """A buffer's text gives the buffer, whose text is the same."""
    assert buffer_text.show_buffer(buffer(text)) == text


@given(st.lists(st.floats(width=32), min_size=1, max_size=8))
def test_contents_without_a_generator_are_spelt_out_exactly(values):
    """A fill that is any function is written as values, which read back to the same bits."""
    array = np.array(values, np.float32)
    text = buffer_text.show_buffer(Buffer("x", "f4", len(values), lambda index: array[index]))
    again = buffer(text).fill(np.arange(len(values)))
    assert np.array_equal(again, array, equal_nan=True)
    assert np.array_equal(np.signbit(again[~np.isnan(array)]), np.signbit(array[~np.isnan(array)]))


def test_contents_before_the_launch():
    """`contents` gives zeros for a buffer without a generator, else the generator's values, as doubles."""
    assert buffer_text.contents(buffer("x i32 2")).tolist() == [0, 0]
    assert buffer_text.contents(buffer("x u32 2 = constant 4294967295")).tolist() == [2**32 - 1] * 2
    assert buffer_text.contents(buffer("x f32 1 = constant 0.1"))[0] == np.float32(0.1)


def test_generators_are_those_of_the_module():
    """`hash SEED` is `hash_fill(SEED)`, so a listing and a workload see the same numbers."""
    assert buffer("x f32 8 = hash 5").fill == generators.hash_fill(5)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x f32", "write .buffer name dtype elements"),
        ("x f32 4 =", "is incomplete"),
        ("x f18 4", "unknown type f18; did you mean f"),
        ("x f32 0", "at least 1"),
        ("taken f32 4", "defined twice"),
        ("1x f32 4", "no name"),
        ("x f32 4 = hsh 1", "did you mean hash?"),
        ("x f32 4 = values 1 2", "values and 4 numbers"),
        ("x f32 4 = iota 1", "can't take 1 numbers"),
        ("x f32 4 = constant a", "not a floating-point number"),
        ("x i32 4 = constant 1.5", "not an integer"),
        ("x u32 4 = constant -1", "does not fit"),
        ("x f32 4 = hash 1 2.0 1.0", "must be below"),
        ("x u32 4 = hash 1", "no integers that u4 holds"),
        ("x f32 4 = hash -1", "at least 0"),
    ],
)
def test_mistakes_are_reported_with_a_place(text, message):
    """A mistake in a buffer's text raises AssemblyError with its line and a fix."""
    with pytest.raises(AssemblyError) as caught:
        buffer(text)
    assert message in str(caught.value)
    assert caught.value.line == 3
    assert ";" in str(caught.value)


def test_a_buffer_without_a_text_form_is_refused():
    """Long contents without a generator, and types that listings lack, raise UserError."""
    long = Buffer("x", "f4", buffer_text.LONGEST + 1, lambda index: index.astype("f4"))
    with pytest.raises(UserError, match="x: its contents have no text form"):
        buffer_text.show_buffer(long)
    with pytest.raises(UserError, match="int16 has no text form"):
        buffer_text.show_buffer(Buffer("x", "i2", 4))
