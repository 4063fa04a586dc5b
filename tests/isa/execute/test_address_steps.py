"""How far single addresses move from block to block, also where one block does not determine the others."""

from isa.execute.address_steps import address_steps
from isa.execute.block_step import block_steps
from isa.text.listing import read

HEAD = ".grid 4 3 2\n.block 32\n.buffer x u32 64\nS2R R0, CTAID.X\nS2R R1, CTAID.Y\n"


def test_an_irregular_address_does_not_hide_others():
    """Of two loads, by a product of the coordinates and by one of them, the second one's step is known."""
    kernel = read(f"{HEAD}IMUL R2, R0, R1\nLDG R8, [R2]\nSHL R3, R1, 7\nLDG R9, [R3]\nEXIT")
    assert block_steps(kernel) is None
    assert dict(address_steps(kernel)) == {5: (0, 128, 0)}


def test_a_branch_on_the_block_does_not_hide_addresses():
    """Behind a branch that some blocks take, an address moves as it does on both ways."""
    kernel = read(f"{HEAD}ISETP.LT P0, R0, 2\n@P0 BRA end\nend:\nSHL R3, R0, 5\nLDG R9, [R3]\nEXIT")
    assert block_steps(kernel) is None
    assert list(address_steps(kernel).values()) == [(32, 0, 0)]


def test_only_global_memory_counts():
    """Shared memory's addresses are not listed."""
    kernel = read(f".shared 64\n{HEAD}SHL R3, R0, 2\nLDS R9, [R3]\nEXIT")
    assert dict(address_steps(kernel)) == {}
