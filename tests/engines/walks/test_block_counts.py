"""Counts of many blocks in one call: those of the interpreter, kind by kind."""

import numpy as np
import pytest
from draws import draws
from hypothesis import given, settings
from hypothesis import strategies as st
from interpreter.interpret import interpret
from strategies.launches import REPEATABLE, kernels, looping_kernels, parting_kernels

from gpusim.engines.walks.counting import block_counts
from gpusim.engines.walks.counting.block_counts import COUNTED, FAULTY, counted, counter
from gpusim.launch.feed import countable
from isa.errors import LimitError
from isa.text.listing import read

# Block b goes round 1 + (b mod 3) times; from block 9 on it stores behind its buffer.
ROUNDS = """
.grid 12
.block 64
.buffer x u32 9
S2R R0, CTAID.X
LOP.AND R1, R0, 3
again:
IADD R1, R1, -1
ISETP.GE P0, R1, 0
@P0 BRA again
SHL R3, R0, 2
IADD R3, R3, c[x]
STG [R3], R1
EXIT
"""


def test_each_block_has_the_counts_of_its_kind():
    """Blocks 0 to 8 have rounds by their two lowest bits: four kinds, whose counts are those of the interpreter."""
    kernel = read(ROUNDS)
    one = counter(kernel, threads=True)
    found = counted(one, range(9), 1000)
    assert found.of.tolist() == [0, 1, 2, 3, 0, 1, 2, 3, 0]
    for block in range(9):
        counts = interpret(kernel, [block]).counts
        assert np.array_equal(one.kinds[found.of[block]].reshape(COUNTED, -1)[0], counts)
        assert found.work[block] == counts.sum()


def test_a_block_that_fails_is_told_apart_and_the_others_go_on():
    """Block 9 stores behind its buffer, and block 1 after it is counted as if nothing had happened."""
    found = counted(counter(read(ROUNDS), threads=True), [0, 9, 1], 1000)
    assert (found.of.tolist(), int(found.work[1])) == ([0, FAULTY, 1], 0)
    assert found.work[2] == interpret(read(ROUNDS), [1]).counts.sum()


def test_a_block_beyond_the_limit_is_an_error():
    """Block 3 executes 2 x 18 warp instructions: with a limit of one less it is refused, block 0 before it is not."""
    most = int(interpret(read(ROUNDS), [3]).counts.sum())
    assert counted(counter(read(ROUNDS), threads=True), [0, 3], most).work[1] == most
    with pytest.raises(LimitError, match=f"more than {most - 1} warp instructions"):
        counted(counter(read(ROUNDS), threads=True), [0, 3], most - 1)


@pytest.mark.parametrize("warps_of_block", [32, 64])
def test_the_path_alone_has_the_same_counts(warps_of_block):
    """Walks that compute the path alone execute as much, instruction by instruction; stores can't fail in them."""
    kernel = read(ROUNDS.replace(".block 64", f".block {warps_of_block}"))
    path, whole = counter(kernel), counter(kernel, threads=True)
    assert (len(path.runs) > 0, len(whole.runs)) == (True, 0)
    blocks = range(9)
    by_path, by_all = counted(path, blocks, 1000), counted(whole, blocks, 1000)
    assert by_path.work.tolist() == by_all.work.tolist()
    for block in blocks:
        counts = [
            one.kinds[found.of[block]].reshape(COUNTED, -1)[0] for one, found in ((path, by_path), (whole, by_all))
        ]
        assert np.array_equal(*counts)
    assert counted(path, [9], 1000).work[0] == by_all.work[1]
    with pytest.raises(LimitError, match="more than 8 warp instructions"):
        counted(path, [3], 8)


def test_parted_lanes_execute_both_ways():
    """Lanes that go round 1 to 32 times, and two ways that meet again, count on the path as in the interpreter."""
    parted = """.grid 2
.block 48
.buffer x u32 4096
S2R R0, TID.X
S2R R4, CTAID.X
IADD R1, R0, R4
again:
IADD R1, R1, -1
ISETP.GE P0, R1, 0
@P0 BRA again
LOP.AND R2, R0, 1
ISETP.EQ P1, R2, 0
@P1 BRA even
FADD R5, R5, 1.0
BRA meet
even:
FADD R5, R5, 2.0
meet:
FADD R6, R6, 1.0
SHL R3, R0, 2
IADD R3, R3, c[x]
STG [R3], R5
EXIT
"""
    kernel = read(parted)
    path = counter(kernel)
    found = counted(path, [0, 1], 10_000)
    for block in (0, 1):
        counts = path.kinds[found.of[block]].reshape(COUNTED, -1)[0]
        assert np.array_equal(counts, interpret(kernel, [block]).counts)


def test_an_access_before_lanes_meet_is_not_made_on_the_path():
    """A load, whose address is not computed, stands where lanes meet behind it: it counts, and can't fail."""
    parted = "S2R R0, TID.X\nISETP.GE P0, R0, 8\n@P0 BRA meet\nSHL R3, R0, 2\nIADD R3, R3, c[x]\nLDG R4, [R3]\n"
    kernel = read(f".block 32\n.buffer x u32 64\n{parted}meet:\nEXIT")
    path = counter(kernel)
    found = counted(path, [0], 100)
    assert len(path.runs) > 0
    assert (found.of[0], found.work[0]) == (0, interpret(kernel, [0]).counts.sum())


@pytest.mark.jit
@pytest.mark.long
@settings(REPEATABLE, max_examples=draws(300))
@given(st.one_of(kernels(), parting_kernels(), looping_kernels(rounds=(2, 9))))
def test_random_paths_have_the_interpreters_counts(kernel):
    """Whatever lanes do, and wherever they meet, a path has the interpreter's counts, instruction by instruction."""
    if not countable(kernel):
        return
    path, blocks = counter(kernel), range(min(3, kernel.blocks))
    found = counted(path, blocks, 1_000_000)
    for block in blocks:
        counts = path.kinds[found.of[block]].reshape(COUNTED, -1)[0]
        assert np.array_equal(counts, interpret(kernel, [block]).counts)


def test_further_kinds_are_one(monkeypatch):
    """With room for two kinds, blocks of the third and fourth are of kind 2, with the right work."""
    monkeypatch.setattr(block_counts, "KINDS", 2)
    found = counted(counter(read(ROUNDS), threads=True), range(5), 1000)
    assert found.of.tolist() == [0, 1, 2, 2, 0]
    assert found.work[3] == interpret(read(ROUNDS), [3]).counts.sum()
