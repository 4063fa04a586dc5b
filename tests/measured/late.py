"""Edited code of tests/measured/late.cu: multiply-adds that write chosen register banks, and yield now and then.

`python3 late.py late.cubin FOLDER` writes a cubin for each pattern of the multiply-adds. `E15O.8` is fifteen FFMAs that
write even registers and one that writes an odd one, of which every eighth yields; `Z` writes none. All read RZ alone.
Each chain gets the registers of its first link, which begin with an even one, but of SHFL. The words are those of
returns.py.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from words import OPERATION, RZ, field, sections

FFMA, CHAINS = 0x223, (0x984, 0xF89, 0x308, 0x981)  # bits 0 to 11: LDS, SHFL, MUFU, LDG
MUFU, LDG = CHAINS[2:]
PAIR = 5  # bits 73 to 75 of a load of 64 bits
LINKS, ADDS = 64, 240
PATTERNS = {
    "Z": "Z",
    "E": "E",
    "O": "O",
    "EO": "EO",
    "EZ": "EZ",
    "E3Z": "EEEZ",
    "E7O": "E" * 7 + "O",
    "O7E": "O" * 7 + "E",
    "E15O": "E" * 15 + "O",
    "E15Z": "E" * 15 + "Z",
    "E31O": "E" * 31 + "O",
}
YIELDS = 4, 8, 16


def multiply_add(template: int, register: int, *, yields: bool) -> int:
    """Return a multiply-add of RZ to a register: a stall count of 1, no barriers, no reuse."""
    word = field(template, 16, 8, register)
    for place in (24, 32, 64):
        word = field(word, place, 8, RZ)
    word = field(field(word, 105, 4, 1), 109, 1, int(not yields))
    return field(field(field(word, 110, 6, 0o77), 116, 6, 0), 122, 4, 0)


def link(template: int, register: int) -> int:
    """Return a link of a chain that reads and writes one register."""
    source = 32 if template & OPERATION == MUFU else 24
    return field(field(template, 16, 8, register), source, 8, register)


def edited(code: bytes, pattern: str, period: int) -> bytes:
    """Return a cubin whose multiply-adds write these banks in turn; the last of each period yields."""
    found = bytearray(code)
    for _, base, size in sections(code):
        words = {at: int.from_bytes(code[at : at + 16], "little") for at in range(base, base + size, 16)}
        adds = [at for at, word in words.items() if word & OPERATION == FFMA]
        chain = [at for at, word in words.items() if _is_link(word)]
        assert (len(adds), len(chain)) == (ADDS, LINKS)
        written = sorted({words[at] >> 16 & 255 for at in adds})
        banks = {"E": [r for r in written if r % 2 == 0], "O": [r for r in written if r % 2], "Z": [RZ]}
        for i, at in enumerate(adds):
            among = banks[pattern[i % len(pattern)]]
            word = multiply_add(words[at], among[i // 2 % len(among)], yields=i % period == period - 1)
            found[at : at + 16] = word.to_bytes(16, "little")
        first = words[chain[0]] >> (32 if words[chain[0]] & OPERATION == MUFU else 24) & 255
        for at in chain:
            found[at : at + 16] = link(words[at], first).to_bytes(16, "little")
    return bytes(found)


def files(code: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the name of each pattern and its cubin."""
    for period in YIELDS:
        for name, pattern in PATTERNS.items():
            yield f"{name}.{period}", edited(code, pattern, period)


def _is_link(word: int) -> bool:
    """Whether it is an instruction of a chain: of loads from global memory those of 64 bits."""
    return word & OPERATION in CHAINS and (word & OPERATION != LDG or word >> 73 & 7 == PAIR)


if __name__ == "__main__":
    base, folder = Path(sys.argv[1]).read_bytes(), Path(sys.argv[2])
    folder.mkdir()
    for name, made in files(base):
        (folder / f"{name}.cubin").write_bytes(made)
