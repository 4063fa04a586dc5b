"""Stores that surely move: whatever order warps take, they join none of the lines that wait."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies.launches import REPEATABLE

from gpusim.bounds.memory import sent
from isa.text.listing import read

accesses = st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=6, unique=True), min_size=1, max_size=6)


def asked(each):
    """Return the requests of accesses, each a list of lines."""
    access = np.repeat(np.arange(len(each)), [len(one) for one in each])
    line = np.array([line for one in each for line in one])
    ones = np.ones(len(line), np.int64)
    return sent._Requests(access, 0 * ones, line, ones, ones)


def joining(each, order, waiting):
    """Return the places of the requests that join a line that waits, if accesses come in that order."""
    begins, held, found = np.cumsum([0, *map(len, each)]), [], set()
    for access in order:
        for place, line in enumerate(each[access]):
            if line in held:
                found.add(int(begins[access]) + place)
            else:
                held = [*held, line][-waiting:] if waiting else []
    return found


@settings(REPEATABLE, max_examples=300)
@given(accesses, st.integers(0, 6), st.randoms(use_true_random=False))
def test_in_no_order_does_one_join(each, waiting, random):
    """Of random accesses in a random order, with 0 to 6 lines that wait, none joins that is said to move alone."""
    order = random.sample(range(len(each)), len(each))
    alone = set(np.flatnonzero(sent._alone(asked(each), waiting)).tolist())
    assert not alone & joining(each, order, waiting)


@pytest.mark.parametrize(("waiting", "sectors"), [(0, 96), (7, 96), (31, 96), (32, 0)])
def test_a_column_moves_again_and_again(waiting, sectors):
    """Three warps of a block store to the same 32 lines, a word each: with 31 others between they join none of 31."""
    text = ".block 96\n.buffer a u32 2048\nS2R R0, LANEID\nS2R R1, WARPID\nSHL R0, R0, 7\nSHL R1, R1, 2\n"
    kernel = read(text + "IADD R0, R0, R1\nIADD R0, R0, c[a]\nSTG [R0], R2\nEXIT")
    _, found = sent.sent(kernel, ((0,), ()), frozenset({6}), waiting, 128, 1000)
    assert (found.sectors.sum(), found.partial.sum(), len(found.lines)) == (sectors, sectors, sectors // 3)


@pytest.mark.parametrize(("word", "sectors", "partial"), [("", 4, 0), (".128", 16, 0)])
def test_whole_lines_move_once(word, sectors, partial):
    """A warp that stores 4 or 16 bytes a lane, side by side, moves 4 or 16 sectors, and leaves none in part."""
    size = 16 if word else 4
    text = f".buffer a u32 128\nS2R R0, LANEID\nIMUL R0, R0, {size}\nIADD R0, R0, c[a]\nSTG{word} [R0], R4\nEXIT"
    _, found = sent.sent(read(text), ((0,), ()), frozenset({3}), 24, 128, 1000)
    assert (found.sectors.sum(), found.partial.sum(), len(found.lines)) == (sectors, partial, sectors // 4)
