"""Move a tile of one operand, 16 blocking rows by 16 k, from global through shared memory to registers (256 threads).

"Row" is the index along m for A and along n for B. In global memory an operand is contiguous along its rows or along k
("strided": its tile is transposed during the move). In shared memory a tile is k-major: one k-row after another, with a
distance of `pitch` words. Source of the shapes: Lai and Seznec, RR-7923, 2012; their report does not print the thread
maps.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import gcd

THREADS = 256
SIDE = 16  # threads compute as 16 by 16
DEPTH = 16  # k of a tile
STRIDED_PAD = {1: 2, 2: 2, 4: 4}  # words after a k-row, by load width: few store conflicts, and loads stay aligned


@dataclass(frozen=True, slots=True)
class Tile:
    """A tile: `blocking` rows per thread, shared loads of `width` words; `contiguous` rows in global memory."""

    blocking: int
    width: int
    contiguous: bool

    @property
    def rows(self) -> int:
        """Rows of the tile."""
        return SIDE * self.blocking

    @property
    def span(self) -> int:
        """Consecutive rows that adjacent threads fetch: 32 (a warp's 128-byte line) if they divide the tile."""
        return 32 if self.contiguous and self.blocking % 2 == 0 else SIDE

    @property
    def groups(self) -> int:
        """Shared loads of a thread per k; the last one may include unused words."""
        return -(-self.blocking // self.width)

    @property
    def chunk(self) -> int:
        """Consecutive rows that belong to one thread: the load width if it divides the blocking, else less."""
        return gcd(self.blocking, self.width)

    @property
    def pitch(self) -> int:
        """Words between k-rows."""
        return SIDE * self.width * self.groups + (0 if self.contiguous else STRIDED_PAD[self.width])

    @property
    def shared_bytes(self) -> int:
        """Bytes of the tile in shared memory."""
        return 4 * DEPTH * self.pitch


@dataclass(frozen=True, slots=True)
class Element:
    """One element that a thread fetches: its offsets from the thread's pointers, in bytes."""

    fetch_offset: int
    store_offset: int
    last_of_run: bool  # the next element is beyond the immediate's reach: the global pointer advances


def row_of(tile: Tile, thread: int, value: int) -> int:
    """Return the row of the tile that is value 0 <= value < blocking of compute thread 0 <= thread < 16."""
    run, inside = divmod(value, tile.chunk)
    return SIDE * tile.chunk * run + tile.chunk * thread + inside


def place_of(tile: Tile, row: int) -> int:
    """Return the word of a row within its k-row, so that a thread's values of one load are adjacent."""
    run, rest = divmod(row, SIDE * tile.chunk)
    thread, inside = divmod(rest, tile.chunk)
    group, word = divmod(run * tile.chunk + inside, tile.width)
    return SIDE * tile.width * group + tile.width * thread + word


def elements(tile: Tile) -> Iterator[Element]:
    """Yield the elements that each thread fetches of a tile, in order: `blocking` ones, in runs of one pointer."""
    k_step = THREADS // tile.span
    runs, length = (DEPTH // k_step, tile.rows // tile.span) if tile.contiguous else (1, tile.blocking)
    for run in range(runs):
        for i in range(length):
            store = 4 * (run * k_step * tile.pitch + place_of(tile, tile.span * i))
            if tile.contiguous:
                yield Element(4 * tile.span * i, store, i == length - 1)
            else:
                yield Element(0, store, last_of_run=True)


def pointer_steps(tile: Tile, pitch: int) -> tuple[int, int]:
    """Return the bytes that the global pointer moves after a run, and after a tile's last; `pitch` is in words."""
    if tile.contiguous:
        step = 4 * pitch * (THREADS // tile.span)
        return step, step
    step = 4 * pitch * SIDE
    return step, 4 * DEPTH - step * (tile.blocking - 1)


def tile_bytes(tile: Tile, pitch: int) -> int:
    """Return the bytes from one tile to the next along k, for a column pitch in words."""
    return 4 * DEPTH * (pitch if tile.contiguous else 1)
