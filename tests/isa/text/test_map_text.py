import numpy as np
import pytest

import gpusim
from isa import memory
from isa.text import listing
from isa.text.assembler import AssemblyError

TEXT = ".buffer x f16 1024\n.buffer y i32 6\n.map t = x 16x64 box 8x64 swizzle 128B\n.map u = y 6 box 4\nEXIT\n"


def test_a_map_is_that_of_an_array():
    """Its words are those of `gpusim.tensor_map` for an array of these sizes, at the buffer's address."""
    kernel = listing.read(TEXT)
    buffers = {one.name: one for one in kernel.buffers}
    array, where = np.zeros((16, 64), np.float16), memory.bases(kernel.buffers)
    words = buffers["t"].fill(np.arange(32)).astype("<u4").tobytes()
    assert words == gpusim.tensor_map(array, box=(8, 64), swizzle="128B").encode(where["x"])
    again = {one.name: one for one in listing.read(listing.write(kernel)).buffers}
    assert all(np.array_equal(again[name].fill(np.arange(32)), buffers[name].fill(np.arange(32))) for name in "tu")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("t = x 16x64", r"'x 16x64' is no tensor map; write \.map name = buffer"),
        ("t = z 16x64 box 8x64", "unknown buffer z"),
        ("t = x 16x32 box 8x32", "x has 1024 elements, not 512; write all"),
        ("t = x 16xA box 8x32", "'16xA' are no sizes of 1 to 5 dimensions; write 64x256"),
        ("t = x 16x64 box 8x64 swizzle 32B", "swizzled by 32; take 32 at most, or another swizzle"),
        ("t = x 16x64 box 8x64 swizzle 7B", "'7B' is no swizzle"),
        ("x = x 16x64 box 8x64", "x"),
    ],
)
def test_what_is_no_map_is_refused(line, message):
    """Another form, an unknown buffer, other sizes, and what the driver refuses end with a cause and a fix."""
    with pytest.raises(AssemblyError, match=message):
        listing.read(f".buffer x f16 1024\n.map {line}\nEXIT\n")
