"""Edited code of tests/measured/order.cu: 96 reads of the clock with drawn stall counts and yields.

`python3 order.py order.cubin FOLDER` writes a cubin for each program, and their list. `20.7` is the eighth program
of which 20 % of the instructions yield. `gpusim/published/h100_order.csv` has what two warps of each of four schedulers
read; `python3 order.py rows ORDER.csv` prints it from what order.cu printed. The words are those of returns.py.
"""

from __future__ import annotations

import csv
import random
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from words import sections, timed

READS, FIRST = 96, 0x280  # instructions, and where the first one lies
PERCENT, SEEDS, WARPS = (0, 20, 50), 25, 8
STALLS = ((1, 2), (1, 2, 3, 4), (2, 3, 4, 5, 6, 8), (1, 1, 1, 2, 4, 8, 10))  # a program draws from one of these

Codes = list[tuple[int, bool]]  # the stall count of each instruction, and whether it yields


def programs() -> Iterator[tuple[str, Codes]]:
    """Yield the name of each program and its control codes."""
    for percent in PERCENT:
        for seed in range(SEEDS):
            draw = random.Random(f"A{percent}{seed}")
            stalls = draw.choice(STALLS)
            drawn = [(draw.randrange(100) < percent, draw.choice(stalls)) for _ in range(READS)]
            yield f"{percent}.{seed}", [(stall, yields) for yields, stall in drawn]


def edited(code: bytes, codes: Codes) -> bytes:
    """Return a cubin with these control codes, and no barriers."""
    found, base = bytearray(code), next(at for name, at, _ in sections(code) if name == "edited")
    for i, (stall, yields) in enumerate(codes):
        at = base + FIRST + 16 * i
        word = timed(int.from_bytes(code[at : at + 16], "little"), stall, yields=yields)
        found[at : at + 16] = word.to_bytes(16, "little")
    return bytes(found)


def rows(path: Path) -> Iterator[str]:
    """Yield the published rows: program, codes, warp, its first clock, and the cycles from each read to the next."""
    codes = dict(programs())
    with path.open(encoding="utf-8", newline="") as file:
        for name, warps, warp, *clocks in csv.reader(file):
            if name in codes and int(warps) == WARPS:
                text = " ".join(f"{stall}{'Y' if yields else ''}" for stall, yields in codes[name])
                read = [int(clock) for clock in clocks]
                gaps = " ".join(str(after - before) for before, after in pairwise(read))
                yield f"{name},{text if warp == '0' else ''},{warp},{read[0]},{gaps}"


if __name__ == "__main__":
    if sys.argv[1] == "rows":
        sys.stdout.writelines(f"{row}\n" for row in ("program,codes,warp,first,gaps", *rows(Path(sys.argv[2]))))
    else:
        base, folder = Path(sys.argv[1]).read_bytes(), Path(sys.argv[2])
        folder.mkdir()
        for name, codes in programs():
            (folder / f"{name}.cubin").write_bytes(edited(base, codes))
        (folder / "list").write_text("\n".join(name for name, _ in programs()) + "\n")
