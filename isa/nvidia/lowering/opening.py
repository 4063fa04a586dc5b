"""How code for sm_87 begins: it empties the convergence barriers, by moves from one to the next.

ptxas 13.0 writes it before each kernel, behind a test of UR2, which it then sets to 1 and which nothing has set before.
B0 becomes all lanes and goes through all sixteen, each cleared when the next has its lanes; the last becomes 0. Nothing
else moves one barrier into another. The same instructions that empty the barrier that is left stand for these moves.
"""

from __future__ import annotations

from dataclasses import replace

from isa.nvidia.file.dump import Section

BARRIERS = 16
FIRST, LAST = "BMOV.32 B0, 0xffffffff", "BMOV.32 B15, 0x0"
MOVES = tuple(f"BMOV.32.CLEAR B{number}, B{number - 1}" for number in range(1, BARRIERS))
OPENING = (FIRST, *MOVES, LAST)
EMPTYING = (FIRST, *(f"BMOV.32 B{number - 1}, 0x0" for number in range(1, BARRIERS)), LAST)


def emptied(section: Section) -> Section:
    """Return the section whose opening empties each barrier alone; any other stays as it is."""
    texts = [one.text for one in section.instructions]
    begin = texts.index(FIRST) if FIRST in texts else len(texts)
    end = begin + len(OPENING)
    if tuple(texts[begin:end]) != OPENING or not _is_one_way(section, begin, end):
        return section
    moved = [one._replace(text=text) for one, text in zip(section.instructions[begin:end], EMPTYING, strict=True)]
    return replace(section, instructions=section.instructions[:begin] + moved + section.instructions[end:])


def _is_one_way(section: Section, begin: int, end: int) -> bool:
    """Tell whether no label lies inside."""
    inside = {one.offset for one in section.instructions[begin + 1 : end]}
    return inside.isdisjoint(section.labels.values())
