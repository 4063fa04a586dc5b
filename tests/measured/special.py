"""Edited loops of tests/measured/returns.cu: constants, special registers and their neighbours, alone and by pairs.

`python3 special.py returns.cubin FOLDER` writes a cubin for each loop, and their list. A name says what a period has:
`LDC 1 FFMA 2` is a load of a constant and two FFMAs without registers.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import returns
from words import field

BARRIER = 5
UNIFORM = 40  # the uniform register that is written
WORDS = {  # bits 64 to 127, and 0 to 63, as nvcc 13.0 has them, but for destinations and control codes
    "TIDX": (0x2100, 0x7919),
    "TIDY": (0x2200, 0x7919),
    "CTAIDX": (0x2500, 0x7919),
    "SMID": (0x4300, 0x7919),
    "LANE": (0x0000, 0x7919),
    "LTMASK": (0x3900, 0x7919),
    "S2UR": (0x2500, 0x79C3),
    "LDC": (0x0800, 0x8400FF007B82),
    "LDC64": (0x0A00, 0x8400FF007B82),
    "ULDC": (0x0800, 0x840000007AB9),
    "ULDC64": (0x0A00, 0x840000007AB9),
    "POPC": (0x0000, 0xFF00007309),
    "MUFU": (0x1400, 0xFF00007308),
    "SHFL": (0x0E0000, 0x0E001F00FF007F89),
    "VOTE": (0x0E0100, 0x7806),
}
OF_UNIFORM = {"S2UR", "ULDC", "ULDC64"}
OF_FIXED_LATENCY = {"ULDC", "ULDC64", "VOTE", "FFMA"}
PAIRED = ("LDC", "LDC64", "TIDX", "CTAIDX", "S2UR", "LDS32", "SHFL", "MUFU")
WARPS = "1,2,4,8,16,32"


def loops() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the loops: a name, and what stands in each place of a period."""
    for one in (*WORDS, "LDS32"):
        yield f"{one} 1", (one,)
    for first, second in combinations(PAIRED, 2):
        yield f"{first} 1 {second} 1", (first, second)
    for one in ("LDC", "TIDX", "S2UR", "ULDC", "SHFL", "LDS32"):
        for adds in (1, 2, 4):
            yield f"{one} 1 FFMA {adds}", (one, *("FFMA",) * adds)


def placed(base: bytes, period: tuple[str, ...]) -> bytes:
    """Return a cubin with a loop of this period."""
    return returns.edited(base, [(one,) for one in period], word)


def word(templates: dict[str, int], i: int, what: tuple[str, ...]) -> int:
    """Return the instruction at the i-th place of a loop."""
    (name,) = what
    if name == "LDS32":
        return returns.load(templates["load"], i, name, "E")
    if name == "FFMA":
        return returns.multiply_add(templates["add"], i, "none")
    high, low = WORDS[name]
    found = field(high << 64 | low, 16, 8, UNIFORM if name in OF_UNIFORM else returns.TO["E"][i % 4])
    return returns.control(found, write_barrier=7 if name in OF_FIXED_LATENCY else BARRIER)


if __name__ == "__main__":
    base = Path(sys.argv[1]).read_bytes()
    returns.write(Path(sys.argv[2]), WARPS, ((name, 4, placed(base, period)) for name, period in loops()))
