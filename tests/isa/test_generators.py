import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isa import generators

INDEX = np.arange(1 << 16, dtype=np.int64)


@given(st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1000), st.integers(1, 100))
def test_a_fill_can_be_made_in_parts(seed, start, length):
    """An element depends on its index and the seed alone, not on what else is asked for."""
    fill = generators.hash_fill(seed)
    index = np.arange(start, start + length, dtype=np.int64)
    assert np.array_equal(fill(index), np.concatenate([fill(index[i : i + 1]) for i in range(length)]))


def test_the_hash_never_changes():
    """The first words of seed 1, and a float of them, are fixed, so that recorded results stay comparable."""
    words = generators.hash32(INDEX[:3], 1)
    assert [hex(w) for w in words] == ["0x662d3302", "0x1fce552", "0x3f654155"]
    assert generators.hash_fill(1)(INDEX[:1])[0] == np.float32(-1 + 2 * 0x662D / 65536)


def test_the_hash_is_well_mixed():
    """Over 65,536 indices each bit is 1 half the time, seeds are uncorrelated, and an index bit flips half of them."""
    words = generators.hash32(INDEX, 7)
    bits = (words[:, None] >> np.arange(32, dtype=np.uint32)) & 1
    assert np.abs(bits.mean(axis=0) - 0.5).max() < 0.01
    assert len(np.unique(words)) == len(words)
    other = generators.hash32(INDEX, 8)
    assert abs(np.corrcoef(words.astype(float), other.astype(float))[0, 1]) < 0.02
    for bit in range(16):
        changed = words ^ generators.hash32(INDEX ^ (1 << bit), 7)
        assert abs(np.bitwise_count(changed).mean() - 16) < 0.25


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_floats_are_exact_multiples_inside_the_limits(dtype):
    """With integer limits every value is low + k (high - low) / 2**16, unrounded, from low up to but not high."""
    values = generators.hash_fill(3, -4.0, 4.0, dtype)(INDEX)
    assert values.dtype == np.dtype(dtype)
    assert values.min() >= -4
    assert values.max() < 4
    steps = (values.astype(np.float64) + 4) * 8192
    assert np.array_equal(steps, np.floor(steps))


@pytest.mark.parametrize(("low", "high"), [(-1.0, 1.0), (-64.0, 64.0)])
def test_halves_are_exact_multiples_inside_the_limits(low, high):
    """A half has 10 bits of the hash: all low + k (high - low) / 2**10 occur, unrounded, up to but not high."""
    values = generators.hash_fill(3, low, high, "f2")(INDEX)
    assert values.dtype == np.float16
    assert np.array_equal(np.unique(values.astype(np.float64)), low + (high - low) * np.arange(1024) / 1024)


@pytest.mark.parametrize(("dtype", "low", "high"), [("i4", -5, 6), ("u4", 0, 2**32), ("i4", -(2**31), 2**31)])
def test_integers_fill_their_limits(dtype, low, high):
    """Integer values are in [low, high), and those of a short range include both ends."""
    values = generators.hash_fill(3, low, high, dtype)(INDEX).astype(np.int64)
    assert low <= values.min() <= values.max() < high
    if high - low < 100:
        assert (values.min(), values.max()) == (low, high - 1)


@pytest.mark.parametrize(
    ("low", "high", "dtype"), [(1.0, 1.0, "f4"), (2.0, 1.0, "f8"), (1e6, 1e6 + 1, "f4"), (0.5, 2, "i4"), (-1, 1, "u4")]
)
def test_limits_that_cannot_be_kept_are_refused(low, high, dtype):
    """Empty ranges, ranges too narrow for the type, and limits that an integer type does not hold raise ValueError."""
    with pytest.raises(ValueError, match="limits"):
        generators.hash_fill(1, low, high, dtype)


def test_plain_fills():
    """Iota, constant and listed fills give the values that their names say, in the type asked for."""
    index = np.array([2, 0], np.int64)
    cases = [
        (generators.iota_fill("u4"), [2, 0]),
        (generators.constant_fill(1.5), [1.5, 1.5]),
        (generators.values_fill((7, 8, 9), "f8"), [9, 7]),
    ]
    for fill, expected in cases:
        assert fill(index).tolist() == expected
        assert fill(index).dtype == np.dtype(fill.dtype)
