"""Which stores all blocks send to the same places."""

import pytest

from isa.dataflow.memory.shared_places import shared_places
from isa.text.listing import read

HEAD = ".grid {}\n.block 32\n.buffer x u32 64\nS2R R0, CTAID.X\nMOV R2, c[x]\nMOV R3, 7\n"


@pytest.mark.parametrize(
    ("body", "grid", "found"),
    [
        ("STG [R2], R3", 4, {3}),  # one place
        ("ISETP.LT P0, R0, 2\n@P0 STG [R2], R3", 4, {4}),  # of some blocks
        ("LDG R4, [R2]\nIADD R2, R2, R4\nSTG [R2], R3", 4, set()),  # where memory says
        ("SHL R0, R0, 2\nIADD R2, R2, R0\nSTG [R2], R3", 4, set()),  # each block's own place
        ("IMUL R0, R0, R0\nIADD R2, R2, R0\nSTG [R2], R3", 4, set()),  # somewhere else
        ("LDG R3, [R2]\nSHL R0, R0, 2\nIADD R2, R2, R0\nSTG [R2], R3", 4, set()),  # what is stored says nothing
        ("RED.ADD [R2], R3", 4, set()),  # no store
        ("STG [R2], R3", 1, set()),  # no other block
        ("STG [R2], R3", "1 4", {3}),
        ("SHL R0, R0, 2\nIADD R2, R2, R0\nSTG [R2], R3", "1 4", {5}),  # moves along an axis without blocks
    ],
)
def test_stores_to_shared_places(body, grid, found):
    """Those whose address is the same in all blocks."""
    assert shared_places(read(HEAD.format(grid) + body + "\nEXIT")) == found
