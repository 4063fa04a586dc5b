from __future__ import annotations

from itertools import product

import pytest
from draws import few

from workloads.gemm.tiles import (
    DEPTH,
    SIDE,
    THREADS,
    Tile,
    elements,
    place_of,
    pointer_steps,
    row_of,
    tile_bytes,
)

TILES = [Tile(*t) for t in product(range(1, 13), (1, 2, 4), (True, False))]
PITCH = 1000  # words from one stored column to the next


def thread_in_tile(tile: Tile, thread: int) -> tuple[int, int]:
    """Return row and k at which a thread starts to fetch."""
    if tile.contiguous:
        return thread % tile.span, thread // tile.span
    return thread // DEPTH, thread % DEPTH


@pytest.mark.parametrize("tile", TILES, ids=str)
def test_threads_own_every_row_once(tile):
    """Values 0 to blocking - 1 of 16 threads are the rows of the tile, each once."""
    rows = [row_of(tile, thread, value) for thread in range(SIDE) for value in range(tile.blocking)]
    assert sorted(rows) == list(range(tile.rows))


@pytest.mark.parametrize("tile", TILES, ids=str)
def test_a_load_brings_a_threads_values_side_by_side(tile):
    """Value v of thread t is word v mod width of its load number v / width, and loads are aligned to their width."""
    for thread, value in product(range(SIDE), range(tile.blocking)):
        group, word = divmod(value, tile.width)
        start = SIDE * tile.width * group + tile.width * thread
        assert place_of(tile, row_of(tile, thread, value)) == start + word
    assert tile.pitch % tile.width == 0


@pytest.mark.parametrize("tile", few(TILES, 13), ids=str)
def test_each_element_is_fetched_once_and_stored_in_its_place(tile):
    """Following the pointers, 256 threads fetch every element of the tile, and store it where its load reads it."""
    step, following = pointer_steps(tile, PITCH)
    seen = set()
    for thread in range(THREADS):
        row, k = thread_in_tile(tile, thread)
        start = pointer = 4 * (row + PITCH * k if tile.contiguous else k + PITCH * row)
        store = 4 * (k * tile.pitch + place_of(tile, row))
        fetched = list(elements(tile))
        assert len(fetched) == tile.blocking
        for i, element in enumerate(fetched):
            index = (pointer + element.fetch_offset) // 4
            far, near = divmod(index, PITCH)
            at_row, at_k = (near, far) if tile.contiguous else (far, near)
            assert store + element.store_offset == 4 * (at_k * tile.pitch + place_of(tile, at_row))
            seen.add((at_row, at_k))
            pointer += (following if i == len(fetched) - 1 else step) if element.last_of_run else 0
        assert pointer - start == tile_bytes(tile, PITCH)
    assert seen == set(product(range(tile.rows), range(DEPTH)))


@pytest.mark.parametrize(("contiguous", "steps"), [(True, 2), (False, 6)])
def test_the_pointer_moves_once_per_run(contiguous, steps):
    """At blocking 6 a contiguous operand takes 2 pointer updates per tile and a strided one 6."""
    assert sum(e.last_of_run for e in elements(Tile(6, 2, contiguous))) == steps


def test_transposing_stores_do_not_conflict():
    """A warp that stores 16 k by 2 rows of a strided operand at widths 1 and 2 touches 32 banks, by the padding."""
    for width in (1, 2):
        tile = Tile(6, width, contiguous=False)
        words = [k * tile.pitch + place_of(tile, row) for k in range(DEPTH) for row in (0, 1)]
        assert len({word % 32 for word in words}) == 32


def test_the_published_tile():
    """Blocking 6 with 64-bit loads has k-rows of 96 words, or 98 when transposed; with 128-bit ones 128, or 132."""
    assert [Tile(6, width, c).pitch for width in (2, 4) for c in (True, False)] == [96, 98, 128, 132]
