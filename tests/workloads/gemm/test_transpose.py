from __future__ import annotations

import pytest

from isa.errors import UserError
from isa.execute.races import races
from isa.table import Unit
from workloads.gemm.transpose import transpose


@pytest.mark.parametrize(("rows", "columns"), [(32, 32), (64, 32), (32, 96)])
def test_every_element_is_where_it_belongs(check, rows, columns):
    """Square and oblong matrices are transposed, element by element, and no accesses race."""
    kernel = transpose(rows, columns)
    check(kernel)
    assert races(kernel) == []


def test_each_element_is_moved_once():
    """A thread has four elements, each loaded, stored to and loaded from shared memory, and stored."""
    code = transpose().program.instructions
    moves = [i.row.mnemonic for i in code if i.row.unit in (Unit.GLOBAL, Unit.SHARED)]
    assert moves == 4 * ["LDG.64"] + 4 * ["STS.64"] + 4 * ["LDS.64"] + 4 * ["STG.64"]


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"rows": 48}, "rows=48 is not a positive multiple of 32; the nearest is 64"),
        ({"rows": 32768, "columns": 16384}, "rows=32768 columns=16384: buffers need .*; give smaller sizes"),
    ],
)
def test_bad_sizes_are_refused_in_one_line(sizes, message):
    """Sizes that don't tile, and matrices that 32-bit addresses do not reach, are refused."""
    with pytest.raises(UserError, match=f"^transpose: {message}$"):
        transpose(**sizes)
