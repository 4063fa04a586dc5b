"""Coordinates of texture fetches: indices and weights, address modes, and texels beyond the edge."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isa.texture import MODES, TextureObject, table
from isa.values.texture import texel, texture
from isa.values.texture.texture_filter import weights

SIZE = 13
FRACTIONS = st.integers(0, 255)


def made(mode="clamp", *, normalized=False, sampling="point", size=SIZE):
    """Return the table of one texture whose texels are 0, 1, 2, ..., and its memory."""
    one = TextureObject("b", (size, 1, 1), "f4", 1, 4 * size, (mode,) * 3, sampling, normalized)
    return table([one], {"b": 0}), np.arange(size, dtype=np.float32).view(np.uint32)


def sampled(coordinates, **how):
    """Return the red channel at x coordinates of a texture of one row."""
    rows, memory = made(**how)
    x = np.array(coordinates, np.float32).view(np.uint32)
    nothing = np.zeros_like(x)
    with np.errstate(all="ignore"):
        found = texture.fetched(rows, np.ones(x.shape, np.int64), memory, x, nothing, nothing, 2, 0)
    return found.view(np.float32).tolist()


def test_the_nearest_texel_is_the_one_whose_place_has_the_coordinate():
    """Texel i lies from i to i + 1; beyond the edge is the last one, and a NaN is 0."""
    assert sampled([0, 0.99, 1, 12.5, 13, 99, -5, np.nan, np.inf]) == [0, 0, 1, 12, 12, 12, 0, 0, 12]


@pytest.mark.parametrize(
    ("mode", "expected"),
    [("clamp", [0, 12, 12]), ("border", [0, 0, 0]), ("wrap", [12, 0, 6]), ("mirror", [0, 12, 6])],
)
def test_address_modes_beyond_the_edge(mode, expected):
    """Just before 0, at 1, and at one and a half: clamped, the border's 0, repeated, and mirrored."""
    assert sampled([-0.01, 1.0, 1.5], mode=mode, normalized=True) == expected


@pytest.mark.parametrize("mode", sorted(MODES))
def test_coordinates_in_texels_are_never_repeated(mode):
    """Wrap and mirror without normalized coordinates are clamp, as CUDA's guide has it."""
    expected = [0, 0] if mode == "border" else [0, 12]
    assert sampled([-3.0, 20.0], mode=mode) == expected


def test_the_filter_rounds_its_weight_to_8_bits():
    """Between texels 0 and 1 the result is a whole number of 256ths: half of one is rounded up."""
    assert sampled([0.5 + 3 / 512, 1.0, 1.5], sampling="linear") == [2 / 256, 0.5, 1]


@given(FRACTIONS, FRACTIONS, FRACTIONS)
def test_weights_add_up(across, down, whole):
    """The four weights are not negative, and add up to what they share."""
    found = [int(x) for x in weights(np.int64(across), np.int64(down), np.int64(whole))]
    assert sum(found) == whole
    assert min(found) >= 0


@given(FRACTIONS, FRACTIONS)
def test_each_weight_is_within_one_of_the_product(across, down):
    """A weight is the product of its fractions to within one 256th."""
    found = [int(x) for x in weights(np.int64(across), np.int64(down), np.int64(256))]
    exact = [(256 - across) * (256 - down), across * (256 - down), (256 - across) * down, across * down]
    assert all(abs(256 * one - product) <= 256 for one, product in zip(found, exact, strict=True))


def test_whole_coordinates_outside_find_nothing():
    """A fetch by index beyond either end is 0 whatever the address mode."""
    rows, memory = made()
    x = np.array([-1, 0, 12, 13, 2**31 - 1], np.int64).astype(np.uint32)
    nothing, handle = np.zeros_like(x), np.ones(x.shape, np.int64)
    found = texture.fetched(rows, handle, memory, x, nothing, nothing, 1 | texture.WHOLE, 0)
    assert found.view(np.float32).tolist() == [0, 0, 12, 0, 0]


def test_a_fetch_takes_only_texels_that_count():
    """A filter between two texels has both addresses; at the middle of one, its own alone; without a filter, one."""
    for sampling, x, places in (("linear", 3.0, [8, 12]), ("linear", 3.5, [12]), ("point", 3.0, [12])):
        rows, _ = made(sampling=sampling)
        bits = np.float32(x).view(np.uint32)
        found = [int(texture.texel(rows, 1, bits, np.uint32(0), np.uint32(0), 2, corner)) for corner in range(8)]
        assert [place for place in found if place >= texel.NONE] == places


def test_the_size_is_asked_for():
    """A query gives width, height and depth."""
    rows, memory = made()
    nothing = np.uint32(0)
    asked = [int(texture.fetched(rows, 1, memory, nothing, nothing, nothing, texture.ASKS, k)) for k in range(3)]
    assert asked == [SIZE, 1, 1]
