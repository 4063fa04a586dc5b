"""What a launch passes for an argument, by Triton's name of its type."""

from types import SimpleNamespace

import numpy as np
import pytest

from gpusim.api.triton.array import array, passed, scalar
from gpusim.api.triton.descriptor import of_descriptor
from gpusim.api.triton.scratch import scratch
from isa.errors import UserError


def test_an_array_is_a_view_with_an_address():
    """It shares the memory, and says its address, elements and strides as a tensor does."""
    held = np.zeros((3, 4), np.float16)
    seen = array(held)
    seen[1, 2] = 5
    assert held[1, 2] == 5
    assert (seen.data_ptr(), seen.element_size(), seen.numel()) == (held.ctypes.data, 2, 12)
    assert (seen.stride(0), seen.stride(1)) == (4, 1)
    assert type(passed(seen, "*fp16")) is np.ndarray


def test_a_pointer_may_be_null():
    """None is passed as a null pointer, which has no memory."""
    assert passed(None, "*fp32") is None


@pytest.mark.parametrize(
    ("value", "kind", "expected"),
    [
        (7, "i32", "07000000"),
        (-1, "i64", "ff" * 8),
        (200, "u8", "c8"),
        (True, "i1", "01"),
        (1.5, "fp32", "0000c03f"),
        (1.5, "fp64", "000000000000f83f"),
        (1.5, "fp16", "003e"),
        (1.5, "bf16", "c03f"),
    ],
)
def test_numbers_have_the_bytes_of_their_type(value, kind, expected):
    """Whole numbers are little-endian of so many bits, a bfloat16 is the upper half of a float."""
    assert scalar(value, kind).tobytes().hex() == expected


def test_a_tensor_is_a_view_of_its_storage():
    """A slice begins inside the storage, whose memory is all there, of types that NumPy lacks too."""
    torch = pytest.importorskip("torch")
    whole = torch.arange(8, dtype=torch.bfloat16)
    seen = passed(whole[3:5], "*bf16")
    assert seen.nbytes == 10
    assert seen.base.nbytes == 16
    seen[:2] = 0
    assert whole[3] == 0


def test_a_descriptor_stays_within_its_tensor():
    """The map is of the tensor's own memory, with its strides; a shape beyond it is refused."""
    whole = array(np.arange(64 * 128, dtype=np.float16).reshape(64, 128))
    told = {"elem_size": 2, "elem_type": 6, "swizzle": 0, "block_size": [8, 8], "fp4_padded": False}
    one = SimpleNamespace(base=whole[:, 64:], shape=[64, 64], strides=[128, 1], padding="zero", round_f32_to_tf32=False)
    made, *numbers = of_descriptor(one, told)
    assert (made.array.__array_interface__["data"][0], made.map.sizes, made.map.strides) == (
        whole[:, 64:].data_ptr(), (64, 64), (256,),
    )  # fmt: skip
    assert [int(each) for each in numbers] == [64, 64, 128, 1]
    one.shape = [65, 64]
    with pytest.raises(UserError, match=r"shape \[65, 64\], which goes beyond its tensor"):
        of_descriptor(one, told)


def test_what_has_no_memory_is_refused():
    """One line says what to give."""
    with pytest.raises(UserError, match="object: no memory; give a tensor of PyTorch"):
        passed(object(), "*fp32")


def test_scratch_memory_is_the_first_added_pointer():
    """Programs have so many bytes each; other pointers are null, and a kernel without scratch has null ones alone."""
    memory, profile = scratch(2, 16, 3)
    assert (memory.nbytes, profile) == (48, None)
    assert scratch(1, 0, 3) == [None]
