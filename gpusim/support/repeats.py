"""Parts of a sequence that come several times in a row."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence

LONGEST = 64  # items of a repeated part


def repeats(items: Sequence[Hashable]) -> Iterator[tuple[int, int, int]]:
    """Divide a sequence into parts, each repeated several times in a row: yield (first item, items, times).

    Each place takes the part that covers most with its repetitions, the shorter one of equals.
    """
    place = 0
    while place < len(items):
        lengths = range(1, min(LONGEST, (len(items) - place) // 2) + 1)
        length = max(lengths, key=lambda length: (_times(items, place, length) * length, -length), default=1)
        times = _times(items, place, length)
        if times == 1:
            length = 1
        yield place, length, times
        place += length * times


def _times(items: Sequence[Hashable], place: int, length: int) -> int:
    """How many times in a row the part at that place occurs."""
    end = place + length
    while len(items) >= end + length and items[end : end + length] == items[place : place + length]:
        end += length
    return (end - place) // length
