"""Structs by value with addresses of arrays in them."""

import shutil
import struct

import numpy as np
import pytest

import gpusim
from gpusim.api import raw_arguments
from gpusim.api.raw_arguments import Variables
from isa import memory
from isa.errors import UserError
from isa.nvidia.abi.launch import WINDOW
from isa.nvidia.compiler import tools

NOTHING = Variables(np.zeros(0, np.uint8), np.zeros(0, np.uint8))


def test_addresses_stand_at_their_offsets():
    """Bytes stay as they are but at the offsets, where addresses of elements stand: also of views, and twice."""
    x, y = np.arange(8, dtype=np.float32), np.zeros(3)
    arguments = [gpusim.Struct(b"\xaa" * 40, {0: x, 8: x[2:], 24: y}), x]
    found = raw_arguments.regions(arguments, NOTHING)
    assert [(one.name, one.stop - one.start) for one in found] == [("argument1+0", 32), ("argument1+24", 24)]
    buffers = raw_arguments.buffers(found)
    where = memory.bases(buffers)
    first, second = WINDOW + where["argument1+0"], WINDOW + where["argument1+24"]
    made, again = raw_arguments.values(arguments, [40, 8], None, found, buffers, NOTHING)
    assert made.data == struct.pack("<QQ8sQ8s", first, first + 8, b"\xaa" * 8, second, b"\xaa" * 8)
    assert again.data == struct.pack("<Q", first)


@pytest.mark.parametrize(
    ("data", "pointers", "message"),
    [
        (b"", {}, "a struct of bytes; give its bytes, one at least"),
        ([1, 2], {}, "a struct of list; give its bytes, one at least"),
        (bytes(12), {8: np.zeros(1)}, "a struct's address at byte 8, of 8 bytes: the struct has 12 bytes"),
        (bytes(12), {-1: np.zeros(1)}, "a struct's address at byte -1, of 8 bytes: another one ends at byte 0"),
        (bytes(32), {0: np.zeros(1), 4: np.zeros(1)}, "a struct's address at byte 4, of 8 bytes: another one ends at"),
        (bytes(32), {0: 7}, "a struct's address at byte 0: int; give a NumPy array"),
        (bytes(32), {0: np.zeros(0)}, "a struct's address at byte 0: ndarray; give a NumPy array"),
    ],
)
def test_what_is_no_struct_is_refused(data, pointers, message):
    """Each error is one line with the place."""
    with pytest.raises(UserError) as raised:
        gpusim.Struct(data, pointers)
    assert str(raised.value).startswith(message)


SOURCE = """
struct sizes { int n; float a; const float *x; float *y; };
extern "C" __global__ void axpy(sizes s) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < s.n) s.y[i] += s.a * s.x[i];
}
"""


@pytest.mark.skipif(
    not (tools.installed("nvcc") and shutil.which("g++")), reason="nvcc (extra cuda) or g++ is not installed"
)
@pytest.mark.long
def test_a_kernel_reads_and_writes_through_a_struct():
    """A kernel whose only parameter is a struct with two pointers leaves its results in the array."""
    x, y = np.arange(100, dtype=np.float32), np.ones(100, np.float32)
    data = struct.pack("<if16x", 100, 2.0)
    function = gpusim.RawModule(SOURCE).get_function("axpy")
    function((1,), (128,), (gpusim.Struct(data, {8: x, 16: y}),))
    assert np.array_equal(y, 2 * x + 1)
