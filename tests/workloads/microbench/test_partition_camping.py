from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from isa.errors import UserError
from isa.execute.interpret import interpret
from isa.kernel import Kernel
from isa.memory import bases, view
from workloads.microbench.partition_camping import partition_camping


@pytest.mark.parametrize(("rows", "columns", "pad"), [(32, 32, 0), (64, 96, 0), (96, 32, 5), (64, 64, 64)])
def test_the_matrix_is_transposed(check, rows, columns, pad):
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
def test_bad_parameters_are_refused(bad):
    """Sizes that are no multiple of the tile, a negative pad and matrices beyond 32-bit addresses raise UserError."""
    with pytest.raises(UserError, match=r"^partition-camping: "):
        partition_camping(**bad)
