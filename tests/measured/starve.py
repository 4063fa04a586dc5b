"""Edited code of tests/measured/starve.cu: one warp of a scheduler that may yield, among seven that may, too.

`python3 starve.py starve.cubin FOLDER` writes a cubin for each program, and their list; `python3 starve.py rows
STARVE.csv` prints the rows of `gpusim/published/h100_starved.csv` from what starve.cu printed. A program is named by
the stall count of the one warp's reads of the clock, with Y if each yields, that of the others' multiply-adds, and how
many of these lie between two yields: `10Y.1.16`; 0: none yields. The words are those of returns.py.
"""

from __future__ import annotations

import csv
import sys
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from words import OPERATION, field, sections, timed

READS, SCHEDULERS = 40, 4
S2UR, MOVE, NOP, MULTIPLY_ADD = 0x9C3, 0xC02, 0x918, 0x223
CS2R_32 = 0x000FE40000005000_00000000000B7805  # reads the low half of the clock


class Starved(NamedTuple):
    """A program: the stall counts of the one warp and of the others, whether the one yields, how often they do."""

    stall: int
    yields: bool
    others: int
    every: int

    @property
    def name(self) -> str:
        """As in the rows."""
        return f"{self.stall}{'Y' if self.yields else ''}.{self.others}.{self.every}"


PROGRAMS = [
    Starved(stall, yields, others, every)
    for stall in (1, 4, 10)
    for yields in (False, True)
    for others in (1, 2, 4)
    for every in (0, 1, 16)
]


def edited(code: bytes, program: Starved) -> bytes:
    """Return a cubin in which reads of the clock follow each other, with these stall counts, yields, and no barriers.

    The compiler reads the clock by three instructions, so no-operations follow the 40 reads.
    """
    found, (base, size) = bytearray(code), next((at, size) for name, at, size in sections(code) if name == "edited")
    words = [int.from_bytes(code[at : at + 16], "little") for at in range(base, base + size, 16)]
    kinds = [word & OPERATION for word in words]
    idle = timed(next(word for word in words if word & OPERATION == NOP), 1, yields=False)
    for i in (i for i in range(len(words)) if kinds[i : i + 3 * READS : 3] == [S2UR] * READS):
        end = kinds.index(MOVE, i + 3 * READS - 1) + 1
        moved = [word for word in words[i:end] if word & OPERATION == MOVE]
        kept = [word for word in words[i:end] if word & OPERATION not in (S2UR, NOP, MOVE)]
        reads = [timed(field(CS2R_32, 16, 8, word >> 16 & 255), program.stall, yields=program.yields) for word in moved]
        words[i:end] = reads + kept + [idle] * (end - i - len(reads) - len(kept))
    adds = [i for i, kind in enumerate(kinds) if kind == MULTIPLY_ADD]
    for k, i in enumerate(adds):
        words[i] = timed(words[i], program.others, yields=program.every > 0 and k % program.every == 0)
    found[base : base + size] = b"".join(word.to_bytes(16, "little") for word in words)
    return bytes(found)


def rows(path: Path) -> Iterator[str]:
    """Yield the published rows, one for each scheduler: the one warp's end and longest wait, and the others' ends."""
    with path.open(encoding="utf-8", newline="") as file:
        read = defaultdict[tuple[str, int, int, int], dict[int, list[int]]](dict)
        for name, place, rounds, warp, *clocks in csv.reader(file):
            of = int(warp) % SCHEDULERS
            read[name, int(place), int(rounds), of][int(warp) // SCHEDULERS] = [int(clock) for clock in clocks]
    for (name, place, rounds, scheduler), warps in read.items():
        longest = max(after - before for before, after in pairwise(warps[place]))
        ends = " ".join(str(warps[j][1]) for j in sorted(warps) if j != place)
        yield f"{name},{place},{rounds},{scheduler},{warps[place][-1]},{longest},{ends}"


if __name__ == "__main__":
    if sys.argv[1] == "rows":
        header = "program,place,rounds,scheduler,end,longest,others"
        sys.stdout.writelines(f"{row}\n" for row in (header, *rows(Path(sys.argv[2]))))
    else:
        base, folder = Path(sys.argv[1]).read_bytes(), Path(sys.argv[2])
        folder.mkdir()
        for each in PROGRAMS:
            (folder / f"{each.name}.cubin").write_bytes(edited(base, each))
        (folder / "list").write_text("\n".join(each.name for each in PROGRAMS) + "\n")
