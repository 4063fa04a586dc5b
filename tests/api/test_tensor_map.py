"""Tensor maps that Python programs give: what they say of an array, and what is refused."""

import numpy as np
import pytest

import gpusim
from isa.errors import UserError
from isa.nvidia.tensor_map import TensorMap


def test_a_map_of_an_array_has_its_shape_and_strides_innermost_first():
    """Sizes, strides, box and steps are those of the array's axes in the map's order; views keep their strides."""
    array = np.zeros((6, 8, 16), np.float16)[:, ::2]
    found = gpusim.tensor_map(array, box=(2, 4, 16), steps=(1, 2, 1), swizzle="32B", fill="nan").map
    assert found == TensorMap("float16", (16, 4, 6), (64, 256), (16, 4, 2), (1, 2, 1), swizzle="32B", fill="nan")
    assert found.box_bytes == 2 * 16 * 2 * 2


def test_a_type_may_be_another_of_the_same_size():
    """Bits of uint16 may be bfloat16, singles tfloat32."""
    assert gpusim.tensor_map(np.zeros(64, np.uint16), box=(64,), dtype="bfloat16").map.dtype == "bfloat16"
    assert gpusim.tensor_map(np.zeros(64, np.float32), box=(64,), dtype="tfloat32").map.dtype == "tfloat32"


PLAIN = np.zeros((64, 64), np.float32)


@pytest.mark.parametrize(
    ("array", "given", "words"),
    [
        ([1, 2], {"box": (2,)}, "a tensor map of list; give a NumPy array"),
        (np.zeros((2, 3), np.complex64), {"box": (2, 2)}, "elements of complex64, where the array has complex64"),
        (PLAIN[:, ::2], {"box": (4, 4)}, "whose last axis has gaps"),
        (PLAIN, {"box": (4,)}, "1 sizes of a box for 2 dimensions; give 2"),
        (PLAIN, {"box": (4, 5)}, "a box of 20 bytes in its innermost dimension; take a multiple of 16"),
        (PLAIN, {"box": (257, 4)}, "a box of 4 x 257; take 1 to 256"),
        (PLAIN, {"box": (4, 64), "swizzle": "128B"}, "a box of 256 bytes in its innermost dimension, swizzled by 128"),
        (PLAIN, {"box": (4, 4), "swizzle": "16B"}, "'16B' is no swizzle of a tensor map; take none, 32B, 64B, 128B"),
        (PLAIN, {"box": (4, 4), "interleave": "16B"}, "an interleave of 16B with 2 dimensions; take 3 at least"),
        (PLAIN.view(np.uint32), {"box": (4, 4), "fill": "nan"}, "a fill with NaNs, where elements are uint32"),
        (PLAIN, {"box": (4, 4), "steps": (9, 1)}, "element strides of 1 x 9; take 1 to 8"),
        (np.zeros((4, 5), np.float32), {"box": (4, 4)}, "a stride of 20 bytes in dimension 1; take a multiple of 16"),
        (np.zeros((1,) * 6, np.float32), {"box": (1,) * 6}, "a tensor map of 6 dimensions; take 1 to 5"),
    ],
)
def test_what_the_driver_refuses_is_refused_in_one_line(array, given, words):
    """The line says what is wrong and what to take."""
    with pytest.raises(UserError, match=words) as raised:
        gpusim.tensor_map(array, **given)
    assert "\n" not in str(raised.value)


def test_a_tensor_must_begin_at_a_multiple_of_16_bytes():
    """An array's address in the launch counts when the kernel is called."""
    made = gpusim.tensor_map(PLAIN, box=(4, 4))
    with pytest.raises(UserError, match="a tensor at 0x7f0000000008; it must begin at a multiple of 16 bytes"):
        made.encode(0x7F0000000008)
