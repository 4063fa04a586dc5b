"""The blocks in braces of a text, found by their places."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from isa.nvidia.host.text import blocks

Block = tuple[int, int]  # where its braces are


@dataclass(frozen=True)
class Blocks:
    """Where the innermost block changes, to which; the block around each; the whole text is around all.

    `ends` says where the block ends that begins at a place.
    """

    whole: Block
    places: Sequence[int]
    inner: Sequence[Block]
    outer: Mapping[Block, Block]
    ends: Mapping[int, int]

    def around(self, at: int) -> Block:
        """Return the innermost block around a place: its end is in it, its beginning is not."""
        before = bisect_left(self.places, at) - 1
        return self.inner[before] if before >= 0 else self.whole

    def outwards(self, at: int) -> Iterator[Block]:
        """Yield the blocks around a place, the innermost first, without the whole text."""
        one = self.around(at)
        while one != self.whole:
            yield one
            one = self.outer[one]


def found(text: str) -> Blocks:
    """Return the blocks of a text without comments, in time in proportion to it."""
    whole, ends = (-1, len(text)), dict(blocks(text))
    places, inner, outer, opened = list[int](), list[Block](), dict[Block, Block](), [whole]
    for place in sorted([*ends, *ends.values()]):
        if place in ends:
            outer[place, ends[place]] = opened[-1]
            opened.append((place, ends[place]))
        else:
            opened.pop()
        places.append(place)
        inner.append(opened[-1])
    return Blocks(whole, places, inner, outer, ends)
