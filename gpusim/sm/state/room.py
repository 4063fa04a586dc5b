"""Memory for records, with what lies behind them: as many of each thing as a launch has.

The records come first, one after the other, and then what lies apart, a part for each record. Each record says how far
behind itself its arrays begin.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusim.sm.state.every import EVERY
from gpusim.sm.state.layout import LINE, Place, Rows, fields, has_places, kind_of, layout, memory_of, places_of
from gpusim.sm.unit.declare import Dimension, Field

Sizes = tuple[tuple[Dimension, int], ...]
Words = NDArray[np.int64]

NOTHING: Words = np.zeros(0, np.int64)


DIMENSIONS = tuple(
    dict.fromkeys(
        size
        for unit in EVERY
        for parts in unit.fields.values()
        for one in parts
        for size in one.sizes
        if isinstance(size, Dimension)
    )
)


def sizes(known: Mapping[Dimension, int]) -> Sizes:
    """Return how many there are by every dimension, none by those that are not known."""
    return tuple((size, known.get(size, 0)) for size in DIMENSIONS)


class Room(NamedTuple):
    """Where everything of one record lies, in bytes, as if there were no other record.

    `begins` is by path. `places` are of words that say where arrays begin and how many there are, and `values` these.
    """

    size: int
    begins: Mapping[str, int]
    places: Words
    values: Words
    leaving: NDArray[np.bool_]  # whether a word of the record itself says where an array begins


def made(record: str, number: int, used: Sizes) -> Rows:
    """Return so many records of zeros, with room for as many of each thing."""
    kind, room = layout(record), arranged(record, used)
    own, behind = number * kind.itemsize, room.size - lines(kind.itemsize)
    words = np.zeros((lines(own) + number * behind + LINE) // 8, np.int64)
    words = words[-words.ctypes.data % LINE // 8 :]
    inside = room.places < kind.itemsize
    for s in range(number):
        back, away = s * kind.itemsize, lines(own) + s * behind - lines(kind.itemsize)
        words[(room.places + np.where(inside, back, away)) // 8] = room.values + room.leaving * (away - back)
    return words[: own // 8].view(np.uint8).view(kind).view(Rows)


def whole(records: Rows) -> Words:
    """Return all words of records and of what lies behind them."""
    memory = memory_of(records).view(np.int64)
    return memory[(records.ctypes.data - memory.ctypes.data) // 8 :]


def lines(count: int) -> int:
    """Return how many bytes the lines of the host's cache have that hold so many."""
    return -(-count // LINE) * LINE


@lru_cache(maxsize=64)
def arranged(record: str, used: Sizes) -> Room:
    """Return where everything of a record lies."""
    found = _Arranging(dict(used), lines(layout(record).itemsize))
    found.record(record, np.zeros(1, np.int64), "")
    own = layout(record).itemsize
    places, values, distances = map(np.concatenate, zip(*found.words, strict=True))
    return Room(found.end, found.begins, places, values, distances & (places < own))


class _Arranging:
    """The arrays so far, by path, and where the next begins."""

    def __init__(self, used: Mapping[Dimension, int], end: int) -> None:
        self.used, self.end = used, end
        self.begins: dict[str, int] = {}
        self.words: list[tuple[Words, Words, NDArray[np.bool_]]] = [(NOTHING, NOTHING, NOTHING.astype(np.bool_))]

    def record(self, record: str, starts: Words, path: str) -> None:
        """Put what lies apart of records that start there behind what there is."""
        kind = layout(record)
        assert kind.fields is not None
        for one in fields(record):
            if one.apart:
                begins = self._apart(one, places_of(record)[one.name], starts, path + one.name)
                inner = begins[:, None] + np.arange(self._count(one)) * kind_of(one).itemsize
            else:
                inner = starts[:, None] + kind.fields[one.name][1] + np.arange(one.count) * kind_of(one).itemsize
            if has_places(one.kind):
                self.record(one.kind, inner.reshape(-1), f"{path}{one.name}.")

    def _apart(self, one: Field, place: Place, starts: Words, path: str) -> Words:
        """Put the arrays of a field of each record one after the other; return where each begins."""
        size = self._count(one) * kind_of(one).itemsize
        begins = self.end + np.arange(starts.size) * size
        self.begins[path] = self.end
        self.end = lines(self.end + starts.size * size)
        self._note(starts + place.distance, begins - starts, distance=True)
        for (known, number), dimension in zip(place.sizes, one.sizes, strict=True):
            if known:
                self._note(starts + number, np.full(starts.size, self.used[dimension]), distance=False)  # type: ignore[index]
        return begins

    def _note(self, places: Words, values: Words, *, distance: bool) -> None:
        self.words.append((places, values, np.full(places.size, distance)))

    def _count(self, one: Field) -> int:
        counts = (self.used[size] if isinstance(size, Dimension) else size for size in one.sizes)
        return int(np.prod(list(counts), dtype=np.int64))
