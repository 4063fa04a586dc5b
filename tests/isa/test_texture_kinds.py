"""Texture objects: what none is, and their table."""

import pytest

from isa.texture import TextureObject, table
from isa.values.texture import texel


def made(**changes):
    return TextureObject(**({"buffer": "b", "size": (4, 2, 1), "dtype": "u1", "channels": 4, "pitch": 16} | changes))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"dtype": "f8"}, "'f8' is no type"),
        ({"channels": 3}, "3 is no number of channels"),
        ({"sampling": "cubic"}, "'cubic' is no filter"),
        ({"address": ("clamp", "edge", "clamp")}, "'edge' is no address mode"),
        ({"reads": "raw"}, "'raw' is no way to read"),
        ({"reads": "normalized", "dtype": "u4"}, "only 8 and 16 bits"),
        ({"sampling": "linear"}, "needs floats"),
        ({"size": (0, 1, 1)}, "take 1 to"),
    ],
)
def test_what_no_texture_is_has_a_reason(changes, said):
    """Each wrong field is refused by its name, with what it may be."""
    with pytest.raises(ValueError, match=said):
        made(**changes)


def test_the_first_row_is_no_texture():
    """Handle 1 is the first object, at its buffer's place and its own offset; row 0 has no texels."""
    rows = table([made(offset=32), made(reads="normalized", sampling="linear")], {"b": 4096})
    assert rows[0].tolist() == [0] * texel.COLUMNS
    assert rows[1][[texel.FIRST, texel.WIDTH, texel.SLICE, texel.LINEAR]].tolist() == [4128, 4, 32, 0]
    assert rows[2][[texel.LINEAR, texel.AS_FLOAT]].tolist() == [1, 1]
