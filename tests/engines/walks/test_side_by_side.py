"""Blocks on several threads leave what they leave in program order, or are walked in it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gpusim.engines.walks import program_order, side_by_side
from isa.errors import ExecutionError
from isa.memory import bases, image
from isa.text.listing import read

OWN_WORDS = """
.grid 23
.block 64
.shared 256
.buffer x u32 1472 = iota
    S2R R0, TID.X
    S2R R1, CTAID.X
    IMAD R2, R1, 64, R0
    SHL R2, R2, 2
    IADD R2, R2, c[x]
    LDG R3, [R2]
    SHL R4, R0, 2
    STS [R4], R3
    BAR.SYNC 0
    LOP.XOR R5, R4, 128
    LDS R6, [R5]
    STG [R2], R6
    EXIT
"""
NEXT_WORD = """
.grid 23
.block 32
.buffer x u32 24 = iota
    S2R R1, CTAID.X
    SHL R2, R1, 2
    IADD R2, R2, c[x]
    LDG R3, [R2]
    IADD R3, R3, 5
    STG [R2+4], R3
    EXIT
"""
ATOMICS = """
.grid 400
.block 32
.buffer x u32 32
    S2R R0, TID.X
    SHL R2, R0, 2
    IADD R2, R2, c[x]
    MOV R4, 1
    ATOMG.ADD R3, [R2], R4
    EXIT
"""


def kernel(text):
    """Return the launch of a listing, as on a chip of five SMs."""
    return replace(read(text, "listing"), sms=5)


def in_order(one, blocks):
    """Return what blocks leave in program order."""
    return program_order.walk(one, blocks, left=image(one, 0))


@pytest.mark.parametrize("threads", [2, 3])
def test_blocks_with_words_of_their_own_run_side_by_side(threads, monkeypatch):
    """Memory and counts are those of program order, and program order is not needed."""
    one, blocks = kernel(OWN_WORDS), [*range(2, 23)]
    expected = in_order(one, blocks)
    monkeypatch.delattr(program_order, "walk")
    found = side_by_side.walk(one, blocks, image(one, 0), threads)
    assert np.array_equal(found.memory, expected.memory)
    assert np.array_equal(found.counts, expected.counts)
    assert np.array_equal(found.active, expected.active)


def test_blocks_that_meet_are_walked_in_program_order():
    """Each block adds to what the block before it has stored: the sum goes through all of them."""
    one = kernel(NEXT_WORD)
    found = side_by_side.walk(one, range(23), image(one, 0), 2)
    first = bases(one.buffers)["x"] // 4
    assert found.memory[first : first + 24].tolist() == [5 * block for block in range(24)]
    assert np.array_equal(found.counts, in_order(one, range(23)).counts)


def test_blocks_whose_only_stores_are_atomics_meet():
    """An atomic that gives what was there stores, too: its words have owners, and no addition is lost."""
    one = kernel(ATOMICS)
    assert program_order.walker(one, image(one, 0), threads=2).launch.sm.ahead.owners > 0
    found = side_by_side.walk(one, range(400), image(one, 0), 2)
    first = bases(one.buffers)["x"] // 4
    assert found.memory[first : first + 32].tolist() == [400] * 32


def test_an_error_is_that_of_program_order():
    """Of several blocks that store behind all buffers the first is named."""
    one = kernel(OWN_WORDS.replace("1472", "640"))
    with pytest.raises(ExecutionError) as expected:
        in_order(one, range(23))
    with pytest.raises(ExecutionError) as found:
        side_by_side.walk(one, range(23), image(one, 0), 2)
    assert str(found.value) == str(expected.value)
