"""Edited code of tests/measured/cold.cu: the first constants of a launch, and what comes behind them.

`python3 cold.py cold.cubin FOLDER` writes a cubin for each program, and their list. In a program `c` is a clock that
waits for the barriers behind it; `L0.28/1` loads c[0x0][0x28] and sets barrier 1, `U0.210` loads to a uniform register,
`S/1` and `T/1` read the block's and the thread's number.
"""

from __future__ import annotations

import sys
from pathlib import Path

from words import field, sections

PLACES = 26  # instructions of the code that are edited
SPARE = 26, 28  # registers of the first two places; the others have those of the clocks that they replace
UNIFORM, NONE = 40, 7  # the uniform register that is written; no barrier
WORDS = {"L": (0x0800, 0xFF007B82), "U": (0x0800, 0x7AB9), "S": (0x2500, 0x7919), "T": (0x2100, 0x7919)}
PROGRAMS = {
    "chain": "c L0.28/0 c0 L0.2c/0 c0 L0.40/0 c0 L0.80/0 c0 L0.210/0 c0 L0.214/0 c0 L0.240/0 c0 L0.610/0 c0 L3.0/0 c0",
    "uniform": "c U0.28 c U0.2c c U0.40 c U0.80 c U0.210 c U0.214 c U0.240 c U0.610 c",
    "stack, S": "c L0.28/0 S/1 c1 c0",
    "stack, T": "c L0.28/0 T/1 c1 c0",
    "line, S": "c L0.210/0 S/1 c1 c0",
    "line, T": "c L0.210/0 T/1 c1 c0",
    "2 lines": "c L0.210/0 L0.250/1 c0 c1",
    "3 lines": "c L0.210/0 L0.250/1 L0.290/2 c0 c1 c2",
    "hit behind": "c L0.210/0 c0 L0.250/1 L0.214/2 c2 c1",
    "U, L": "c U0.210 c L0.210/0 c0 L0.214/0 c0",
    "L, U": "c L0.210/0 c0 U0.210 c U0.214 c",
    "U, L of data": "c U3.0 c L3.0/0 c0 L3.4/0 c0",
    "L, U of data": "c L3.0/0 c0 U3.0 c U3.4 c",
    "8 L": "c L0.210 c L0.210 c L0.210 c L0.210 c L0.210 c L0.210 c L0.210 c L0.210/0 c0",
    "8 L of a hit": "c L0.210/0 c0 L0.210 c L0.210 c L0.210 c L0.210 c L0.210 c L0.210 c L0.210 c L0.210/0 c0",
    "8 S": "c S c S c S c S c S c S c S c S/0 c0",
}


def word(what: str, clock: int, register: int) -> int:
    """Return an instruction; `clock` is a read of the clock."""
    if what[0] == "c":
        return control(field(clock, 16, 8, register), 1, NONE, sum(1 << int(each) for each in what[1:]))
    text, _, barrier = what.partition("/")
    high, low = WORDS[text[0]]
    found = field(high << 64 | low, 16, 8, UNIFORM if text[0] == "U" else register)
    if text[0] in "LU":
        bank, offset = text[1:].split(".")
        found |= int(offset, 16) // 4 << 40 | int(bank) << 54
    return control(found, 2, int(barrier) if barrier else NONE, 0)


def control(found: int, stall: int, barrier: int, wait: int) -> int:
    """Return the instruction with this stall count, the barrier that it sets, and the mask of those that it awaits."""
    found = field(field(found, 105, 4, stall), 109, 1, 1)
    return field(field(field(found, 110, 3, barrier), 113, 3, NONE), 116, 10, wait)


def whole(program: str) -> list[str]:
    """Return what stands in each edited place but the last: two clocks, the program, and clocks."""
    parts = ["c", "c", *program.split()]
    return parts + ["c"] * (PLACES - 1 - len(parts))


def edited(code: bytes, program: str) -> bytes:
    """Return a cubin with this program in the place of the reads of the clock."""
    found, base = bytearray(code), next(at for name, at, _ in sections(code) if name == "edited")
    words = [int.from_bytes(code[base + 16 * i : base + 16 * i + 16], "little") for i in range(PLACES)]
    registers = [*SPARE, *(each >> 16 & 255 for each in words[2:])]
    made = [word(what, words[2], register) for what, register in zip(whole(program), registers, strict=False)]
    for i, each in enumerate([*made, control(words[1], 4, NONE, 0)]):  # the last one loads what stores need
        found[base + 16 * i : base + 16 * i + 16] = each.to_bytes(16, "little")
    return bytes(found)


def clocks(program: str) -> list[int]:
    """Return which of the stored words are the program's clocks."""
    return [i for i, what in enumerate(program.split()) if what[0] == "c"]


if __name__ == "__main__":
    base, folder = Path(sys.argv[1]).read_bytes(), Path(sys.argv[2])
    folder.mkdir()
    for k, program in enumerate(PROGRAMS.values()):
        (folder / f"{k}.cubin").write_bytes(edited(base, program))
    lines = (f"{k};{name};{' '.join(map(str, clocks(PROGRAMS[name])))}" for k, name in enumerate(PROGRAMS))
    (folder / "list").write_text("\n".join(lines) + "\n")
