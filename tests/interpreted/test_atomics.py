"""Atomics and bytes in shared memory, by the interpreter and by the engines."""

import numpy as np
import pytest
from interpreter.interpret import interpret
from timing import run_text

from gpusim.engines.walks.races import races
from isa.errors import ExecutionError
from isa.text.listing import read

HEAD = """
.block 64
.shared 64
.buffer y u32 64
    S2R R0, TID.X
    SHL R1, R0, 2
    IADD R1, R1, c[y]
    LOP.AND R2, R0, 12
    S2R R4, LANEID
    MOV R3, 99
    ISETP.NE P0, R4, 5
"""
TAIL = "    STG [R1], R3\n    EXIT\n"
RUNS = [lambda text: interpret(read(text)), run_text]


def result(run, text):
    """Return the words that the listing leaves in its only buffer."""
    return run(HEAD + text + TAIL).memory[1024 : 1024 + 64].tolist()


@pytest.mark.parametrize("run", RUNS, ids=["program order", "engine"])
def test_lanes_that_add_to_one_word_do_so_one_after_the_other(run):
    """Four words count the lanes of warp 0 that add to them: lane 16 k + 4 j + i finds 4 k + i in word j."""
    text = "ISETP.LT P1, R0, 32\n@P1 ATOMS.ADD R3, [R2+16], 1\n"
    lane = np.arange(32)
    assert result(run, text) == (lane // 16 * 4 + lane % 4).tolist() + [99] * 32


@pytest.mark.parametrize("run", RUNS, ids=["program order", "engine"])
def test_a_lane_that_is_off_adds_nothing(run):
    """A lane whose guard is false keeps its register and adds nothing to the word."""
    text = "ISETP.LT P0, R4, 3\nISETP.LT P1, R0, 32\n@!P1 EXIT\n@P0 ATOMS.ADD R3, [RZ], R0\n"
    assert result(run, text)[:32] == [0, 0, 1] + [99] * 29


@pytest.mark.parametrize("run", RUNS, ids=["program order", "engine"])
def test_only_the_first_lane_swaps(run):
    """All 32 lanes compare and swap 0 for lane + 7: lane 0 finds 0, and the others find the 7 that it left."""
    text = "ISETP.LT P1, R0, 32\n@!P1 EXIT\nIADD R5, R4, 7\nATOMS.CAS R3, [RZ], RZ, R5\n"
    assert result(run, text)[:32] == [0] + [7] * 31


@pytest.mark.parametrize("run", RUNS, ids=["program order", "engine"])
def test_a_byte_is_loaded_from_any_address(run):
    """A load from byte 4 + i of the little-endian word 0x84030201 gives that byte, with zeros above it."""
    text = "MOV R5, 0x84030201\nSTS [4], R5\nLOP.AND R6, R0, 3\nLDS.U8 R3, [R6+4]\n"
    assert result(run, text) == [1, 2, 3, 0x84] * 16


@pytest.mark.parametrize("run", RUNS, ids=["program order", "engine"])
def test_a_byte_after_the_end_is_outside(run):
    """The last byte of shared memory can be loaded, the one after it cannot; an atomic needs an aligned word."""
    assert result(run, "LDS.U8 R3, [63]\n") == [0] * 64
    with pytest.raises(ExecutionError, match="1 bytes at 0x40 lie outside the 64 bytes"):
        result(run, "LDS.U8 R3, [64]\n")
    with pytest.raises(ExecutionError, match="misaligned for 4 bytes"):
        result(run, "LOP.AND R2, R0, 1\nATOMS.ADD R3, [R2], 1\n")


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("ATOMS.ADD R3, [RZ], 1", 0),
        ("ATOMS.ADD R3, [RZ], 1\nATOMS.CAS R3, [RZ], 1, R4", 0),
        ("ATOMS.ADD R3, [RZ], 1\nLDS R3, [RZ]", 1),
        ("LDS.U8 R3, [2]\nATOMS.ADD R3, [RZ], 1", 1),
        ("ATOMS.ADD R3, [RZ], 1\nSTS [RZ], R4", 2),
        ("ATOMS.ADD R3, [RZ], 1\nBAR.SYNC 0\nLDS R3, [RZ]", 0),
    ],
)
def test_atomics_race_with_loads_and_stores_only(text, count):
    """Atomics of different warps do not race with each other; an atomic and a plain access race without a barrier."""
    assert len(races(read(HEAD + text + "\n" + TAIL))) == count
