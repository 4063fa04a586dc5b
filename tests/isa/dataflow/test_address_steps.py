"""How far single addresses move from block to block, also where one block does not determine the others."""

import pytest

from isa.dataflow.block_step import block_steps
from isa.dataflow.memory.address_steps import address_steps
from isa.text.listing import read

HEAD = ".grid 4 3 2\n.block 32\n.buffer x u32 64\nS2R R0, CTAID.X\nS2R R1, CTAID.Y\n"


def test_an_irregular_address_does_not_hide_others():
    """Of two loads, by a product of the coordinates and by one of them, the second one's step is known."""
    kernel = read(f"{HEAD}IMUL R2, R0, R1\nLDG R8, [R2]\nSHL R3, R1, 7\nLDG R9, [R3]\nEXIT")
    assert block_steps(kernel) is None
    assert dict(address_steps(kernel)) == {5: (0, 128, 0)}


@pytest.mark.parametrize(
    "text",
    [
        "ISETP.LT P0, R0, 2\nMOV R3, 0\n@P0 MOV R3, 128",
        "MOV R3, 0\nISETP.LT P0, R0, 2\n@P0 BRA end\nMOV R3, 128\nend:",
        "again:\nIADD R3, R3, 128\nISETP.LT P0, R3, R0\n@P0 BRA again",
    ],
)
def test_nothing_is_known_where_blocks_go_different_ways(text):
    """An address that guards, branches or rounds of a loop decide block by block has no step."""
    assert dict(address_steps(read(f"{HEAD}{text}\nLDG R9, [R3]\nEXIT"))) == {}


def test_only_global_memory_counts():
    """Shared memory's addresses are not listed."""
    kernel = read(f".shared 64\n{HEAD}SHL R3, R0, 2\nLDS R9, [R3]\nEXIT")
    assert dict(address_steps(kernel)) == {}
