import pytest

from gpusim.engines.walks.contended import contended
from isa.text.listing import read

HEAD = ".grid 2\n.block 64\n.shared 512\n.buffer a u32 256\nS2R R0, TID.X\nS2R R1, CTAID.X\nSHL R2, R0, 2\n"


def found(text: str, *loads: int):
    """Return which of the loads contend in both blocks of a listing, whose instructions count from those of HEAD."""
    return {pc - 3 for pc in contended(read(HEAD + text), range(2), frozenset(pc + 3 for pc in loads), 10_000)}


@pytest.mark.parametrize(("address", "contends"), [("RZ", True), ("R2", False)])
def test_atomics_contend_for_words_of_several_warps(address, contends):
    """An atomic on a word that the other warp updates as well contends; one on a thread's own word does not."""
    assert bool(found(f"ATOMS.ADD R3, [{address}], R0\nEXIT", 0)) == contends


def test_blocks_contend_for_words_of_global_memory():
    """A load of what the other block stores contends, before or after; one of what its own warp stores does not."""
    own = "SHL R4, R1, 8\nIADD R4, R4, R2\nIADD R4, R4, c[a]\nLDG R5, [R4]\nSTG [R4], R0\nEXIT"
    assert found(own, 3) == set()
    assert found(own.replace("IADD R4, R4, R2", "MOV R4, R2"), 3) == {3}


def test_a_limit_leaves_all_loads():
    """Where a block has more instructions than may be looked at, each load is taken to contend."""
    text = "ATOMS.ADD R3, [R2], R0\nEXIT"
    assert contended(read(HEAD + text), range(2), frozenset({3}), 3) == {3}


def test_one_warp_contends_with_nobody():
    """The loads of a launch of one warp read what it stores itself, however many instructions it has."""
    text = (
        HEAD.replace(".grid 2", ".grid 1").replace(".block 64", ".block 32")
        + "MOV R4, c[a]\nLDG R5, [R4]\nSTG [R4], R0"
    )
    assert contended(read(text), range(1), frozenset({4}), 2) == set()
    assert contended(read(text.replace(".block 32", ".block 64")), range(1), frozenset({4}), 2) == {4}
