import os
from pathlib import Path

import numpy as np
import pytest

from isa import memory
from isa.generators import HashFill
from isa.kernel import Buffer, Kernel
from isa.program import Program

STATM = Path("/proc/self/statm")
FILL = HashFill(1, 1.0, 2.0, "float32")


def of_buffers(*elements):
    buffers = tuple(Buffer(f"b{i}", "float32", number, FILL) for i, number in enumerate(elements))
    return Kernel("k", Program(()), grid=(1, 1, 1), block=(32, 1, 1), buffers=buffers)


@pytest.mark.parametrize("room", [0, 5])
def test_marked_lines_are_filled_as_all_are(room):
    """Marked lines have what the whole image has there, and the others are zero, as is the room behind them."""
    kernel = of_buffers(3000, 700)
    whole = memory.image(kernel, room)
    lines = np.arange(-(-4 * memory.length(kernel) // memory.LINE_BYTES)) % 3 == 0
    some = memory.image(kernel, room, lines)
    marked = np.repeat(lines, memory.LINE_BYTES // 4)[: memory.length(kernel)]
    assert np.array_equal(some[: len(marked)], np.where(marked, whole[: len(marked)], 0))
    assert some[: len(marked)].any()
    assert len(some) == len(whole)
    assert not some[len(marked) :].any()


@pytest.mark.skipif(not STATM.exists(), reason="needs /proc")
def test_what_is_not_filled_takes_no_memory():
    """Of 256 MiB, one line in each 2 MiB is filled: less than 8 MiB is taken, not all that huge pages would take."""
    kernel = of_buffers(1 << 26)
    lines = np.zeros(-(-4 * memory.length(kernel) // memory.LINE_BYTES), bool)
    lines[:: (2 << 20) // memory.LINE_BYTES] = True
    before = int(STATM.read_text().split()[1])
    words = memory.image(kernel, 0, lines)
    taken = (int(STATM.read_text().split()[1]) - before) * os.sysconf("SC_PAGE_SIZE")
    assert words.nbytes > 256 << 20
    assert taken < 8 << 20


def test_a_kernel_without_huge_pages_is_no_obstacle(monkeypatch):
    """Where the system does not know the advice against huge pages, an image is made without it."""
    monkeypatch.setattr(memory.mmap, "MADV_NOHUGEPAGE", 9999, raising=False)
    kernel = of_buffers(3000)
    lines = np.ones(-(-4 * memory.length(kernel) // memory.LINE_BYTES), bool)
    assert np.array_equal(memory.image(kernel, 0, lines), memory.image(kernel))


def test_an_image_without_room_is_out_of_memory():
    """An image that no system has room for raises what NumPy raises, so that the error says what to do."""
    lines = np.zeros(1, bool)
    with pytest.raises(MemoryError):
        memory.image(of_buffers(), 1 << 58, lines)
