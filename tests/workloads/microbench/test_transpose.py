from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from interpreter.interpret import interpret

from gpusim.engines.walks.races import races
from isa.errors import UserError
from isa.kernel import Kernel
from isa.memory import bases, view
from isa.row import Unit
from workloads.microbench.memory.transpose import partition_camping, transpose


@pytest.mark.parametrize(("rows", "columns"), [(32, 32), (64, 32), (32, 96)])
def test_every_element_is_where_it_belongs(check, rows, columns):
    """Square and oblong column-major matrices are transposed, element by element, and no accesses race."""
    kernel = transpose(rows, columns)
    check(kernel)
    where, memory = bases(kernel.buffers), interpret(kernel).memory
    read, written = (view(memory, b, where[b.name]) for b in kernel.buffers)
    assert np.array_equal(written.reshape((columns, rows), order="F"), read.reshape((rows, columns), order="F").T)
    assert races(kernel) == []


def test_each_element_is_moved_once():
    """A thread has four elements, each loaded, stored to and loaded from shared memory, and stored."""
    code = transpose().program.instructions
    moves = [i.row.mnemonic for i in code if i.row.unit in (Unit.GLOBAL, Unit.SHARED)]
    assert moves == 4 * ["LDG.64"] + 4 * ["STS.64"] + 4 * ["LDS.64"] + 4 * ["STG.64"]


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"rows": 48}, "rows=48 is not a positive multiple of 32 \\(a tile\\); the nearest is 64"),
        ({"rows": 32768, "columns": 16384}, "rows=32768 columns=16384: buffers need .*; give smaller sizes"),
    ],
)
def test_bad_sizes_are_refused_in_one_line(sizes, message):
    """Sizes that don't tile, and matrices that 32-bit addresses do not reach, are refused."""
    with pytest.raises(UserError, match=f"^transpose: {message}$"):
        transpose(**sizes)


@pytest.mark.parametrize(("rows", "columns", "pad"), [(32, 32, 0), (64, 96, 0), (96, 32, 5), (64, 64, 64)])
def test_words_are_transposed_and_pads_are_left(check, rows, columns, pad):
    """Every word lies in its column's row, and words between the rows stay as they were."""
    kernel = partition_camping(rows, columns, pad)
    check(kernel)
    where, memory = bases(kernel.buffers), interpret(kernel).memory
    read, written = (view(memory, b, where[b.name]) for b in kernel.buffers)
    matrix, turned = read.reshape(rows, -1), written.reshape(columns, -1)
    assert np.array_equal(turned[:, :rows], matrix[:, :columns].T)
    assert not turned[:, rows:].any()


def stored(kernel: Kernel, block: int) -> Iterator[int]:
    """Yield the first byte of each of the block's stores, from the start of the matrix that is written."""
    stores = {pc for pc, i in enumerate(kernel.program.instructions) if i.row.mnemonic == "STG"}
    first: list[int] = []
    interpret(kernel, [block], lambda pc, _, at, __: first.extend(at[:, 0].tolist()) if pc in stores else None)
    yield from (int(byte) - bases(kernel.buffers)["out"] for byte in first)


@pytest.mark.parametrize(("pad", "channels"), [(0, 1), (64, 6)])
def test_stores_camp_unless_the_rows_are_padded(pad, channels):
    """Rows of 384 words leave the stores of a block in one of six channels of 256 bytes; 64 words more, in all six."""
    kernel = partition_camping(384, 64, pad)
    for block in range(2):
        assert len({byte // 256 % 6 for byte in stored(kernel, block)}) == channels


@pytest.mark.parametrize("bad", [{"rows": 33}, {"columns": 0}, {"pad": -1}, {"rows": 2**18, "columns": 2**18}])
def test_bad_parameters_of_the_words_are_refused(bad):
    """Sizes that are no multiple of the tile, a negative pad and matrices beyond 32-bit addresses raise UserError."""
    with pytest.raises(UserError, match=r"^partition-camping: "):
        partition_camping(**bad)
