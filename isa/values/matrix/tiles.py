"""What each kind of matrix instruction computes, as `Tile` takes it.

`n` is how the architecture adds (isa.architecture.Architecture.sums): no part of an instruction. A warpgroup's product
has several tiles of eight columns, whose B, C and D follow each other; others have one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from isa.values.matrix import doubles, floats, groups, integers, quads

Fill = Callable[[Any, Any, Any, Any, Any, Any], None]
Numbers = tuple[int, ...]


def of_floats(name: str, blocks: int, kinds: tuple[Numbers, Numbers], to: Numbers) -> Fill:
    """Return the function of a kind: blocks of 16 bytes of k, kinds of A and B, format of C and D."""

    def fill(d: Any, a: Any, b: Any, c: Any, n: Any, tiles: Any) -> None:
        floats.multiply(d, a, b, c, n, tiles, blocks, kinds, to)

    return _named(fill, name)


def of_sparse_floats(name: str, blocks: int, kinds: tuple[Numbers, Numbers], to: Numbers) -> Fill:
    """Return the function of a kind whose A is sparse, of so many blocks of 16 bytes of numbers."""

    def fill(d: Any, a: Any, b: Any, c: Any, n: Any, tiles: Any) -> None:
        for tile in range(tiles):
            floats.multiply_sparse(d, a, b, c, tile, n, blocks, kinds, to)

    return _named(fill, name)


def of_scaled_floats(name: str, kinds: tuple[Numbers, Numbers], sparse: int) -> Fill:
    """Return the function of a kind with a scale for each row of A and column of B, of two blocks.

    Of a sparse A the blocks have the numbers that are there.
    """

    def fill(d: Any, a: Any, b: Any, c: Any, n: Any, _tiles: Any) -> None:
        floats.multiply_scaled(d, a, b, c, n, sparse, kinds)

    return _named(fill, name)


def of_scaled_groups(name: str, count: int, kind: Numbers, sparse: int) -> Fill:
    """Return the function of a kind of 4-bit numbers, with so many scales of a kind for each row and column."""

    def fill(d: Any, a: Any, b: Any, c: Any, n: Any, _tiles: Any) -> None:
        groups.multiply(d, a, b, c, n, sparse, count, kind)

    return _named(fill, name)


def of_quads(name: str, step: int, by_lane: Numbers, singles: Numbers) -> Fill:
    """Return the function of a step: whether a lane has a k of A and of B, and whether D and C are singles."""

    def fill(d: Any, a: Any, b: Any, c: Any, n: Any, _tiles: Any) -> None:
        quads.multiply(d, a, b, c, n, step, by_lane, singles)

    return _named(fill, name)


def of_sparse_integers(name: str, blocks: int, kinds: tuple[Numbers, Numbers], saturate: int) -> Fill:
    """Return the same of whole numbers."""

    def fill(d: Any, a: Any, b: Any, c: Any, n: Any, tiles: Any) -> None:
        for tile in range(tiles):
            integers.multiply_sparse(d, a, b, c, tile, n, blocks, kinds, saturate)

    return _named(fill, name)


def of_integers(name: str, shape: Numbers, kinds: tuple[Numbers, Numbers], saturate: int) -> Fill:
    """Return the function of a kind: blocks of 16 bytes of k and halves of 8 rows, kinds of A and B."""

    def fill(d: Any, a: Any, b: Any, c: Any, _n: Any, tiles: Any) -> None:
        for tile in range(tiles):
            integers.multiply(d, a, b, c, tile, shape, kinds, saturate)

    return _named(fill, name)


def of_bits(name: str, shape: Numbers, operation: int) -> Fill:
    """Return the function of a kind: blocks of 16 bytes of k and halves of 8 rows, and what is counted."""

    def fill(d: Any, a: Any, b: Any, c: Any, _n: Any, tiles: Any) -> None:
        for tile in range(tiles):
            integers.count(d, a, b, c, tile, shape, operation)

    return _named(fill, name)


def of_doubles(name: str, depth: int, halves: int) -> Fill:
    """Return the function of a kind: as many k, halves of 8 rows."""

    def fill(d: Any, a: Any, b: Any, c: Any, _n: Any, _tiles: Any) -> None:
        doubles.multiply(d, a, b, c, depth, halves)

    return _named(fill, name)


def _named(fill: Fill, name: str) -> Fill:
    fill.__name__ = fill.__qualname__ = name.replace(".", "_")
    return fill
