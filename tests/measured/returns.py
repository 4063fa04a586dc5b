"""Edited loops of tests/measured/returns.cu: multiply-adds whose reads and loads whose results lie in chosen banks.

`python3 returns.py returns.cubin FOLDER` writes a cubin for each loop, and their list. Nothing but the 240 places of
the loop changes. A name says what a period has: `EO 8 LDS32 E 1` is eight FFMAs that read an even and an odd register,
and a load of 32 bits to an even one; `EO/E` FFMAs all write even registers. Words are those of sm_90: Rd in bits 16 to
23, Ra 24 to 31, Rb 32 to 39, Rc 64 to 71; stall count in 105 to 108, no yield 109, write barrier 110 to 112, read
barrier 113 to 115, wait mask 116 to 121, reuse 122 to 125.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from words import OPERATION, field, sections

Word = Callable[[dict[str, int], int, tuple[str, ...]], int]
CODE = "edited"
FFMA, DFMA, LDS = 0x223, 0x22B, 0x984  # bits 0 to 11
LOOP = 0x570, 0x14B0  # bytes of the code
CLOCK = 0x14C0  # CS2R behind the loop
SOURCES = {"E": (32, 34, 36, 38, 40, 42, 44, 46), "O": (33, 35, 37, 39, 41, 43, 45, 47)}
DESTINATIONS = {"": (52, 53, 54, 55, 56, 57, 58, 59, 60, 61), "E": (52, 54, 56, 58, 60), "O": (53, 55, 57, 59, 61)}
TO = {"E": (4, 8, 12, 16), "O": (5, 9, 13, 17), "P": (4, 8, 12, 16), "Z": (255,)}  # pairs and fours at the first
WIDTHS = {"LDS32": 4, "LDS64": 5, "LDS128": 6}  # bits 73 to 75
BYTES = {"LDS32": 4, "LDS64": 8, "LDS128": 16}
PATTERNS = {  # sources a, b, c: a letter and the place in its bank, or RZ
    "none": ("", "", ""),
    "E": ("E0", "E0", "E0"),
    "O": ("O0", "O0", "O0"),
    "EO": ("E0", "O3", "O3"),
    "EE": ("E0", "E3", "E3"),
    "EOE": ("E0", "O3", "E6"),
    "aEO": ("=E", "e0", "O3"),  # =: always the first of the bank, with a reuse flag; e, o: the others
    "EbO": ("e0", "=E", "O3"),
    "aEc": ("=E", "e0", "=O"),
    "aOE": ("=O", "o0", "E3"),
    "aOc": ("=O", "o0", "=E"),
}
DOUBLE = {"D1": (32, 32, 32), "D2": (32, 36, 36), "D3": (32, 36, 40)}  # registers; the next is four further on
SHAPES = {"LDS32": ((1, 4), (1, 8), (1, 16), (1, 32), (8, 16), (4, 64)), "LDS64": ((1, 8), (1, 16), (1, 32), (4, 32)),
          "LDS128": ((1, 16), (1, 32), (2, 64))}  # fmt: skip


def control(word: int, write_barrier: int = 7) -> int:
    """Return the instruction with a stall count of 1, no yield, no wait and no reuse."""
    word = field(field(word, 105, 4, 1), 109, 1, 1)
    return field(field(field(field(word, 110, 3, write_barrier), 113, 3, 7), 116, 6, 0), 122, 4, 0)


def multiply_add(template: int, i: int, pattern: str) -> int:
    """Return the i-th multiply-add of a pattern; a bank behind a slash is that of all results."""
    pattern, _, bank = pattern.partition("/")
    among = DESTINATIONS[bank]
    if pattern in DOUBLE:
        registers = [32 + (first - 32 + 4 * i) % 16 for first in DOUBLE[pattern]]
        word = field(field(template, 0, 12, DFMA), 16, 8, among[2 * (i % 5)])
    else:
        registers = [_source(each, i) for each in PATTERNS[pattern]]
        word = field(template, 16, 8, among[i % len(among)])
    for place, register in zip((24, 32, 64), registers, strict=True):
        word = field(word, place, 8, register)
    kept = sum(1 << slot for slot, each in enumerate(PATTERNS.get(pattern, ())) if each.startswith("="))
    return field(control(word), 122, 4, kept)


def load(template: int, i: int, width: str, to: str) -> int:
    """Return the i-th load to a bank; `0` behind it: all lanes load from address 0, which is no register."""
    word = field(field(template, 73, 3, WIDTHS[width]), 16, 8, TO[to[0]][i % len(TO[to[0]])])
    return control(field(word, 24, 8, 255) if to[1:] else word, write_barrier=5)


def loops() -> Iterator[tuple[str, list[tuple[str, ...]]]]:
    """Yield the loops: a name, and for each place of a period what stands there."""
    for pattern in (*PATTERNS, *DOUBLE, *(f"{one}/{bank}" for one in ("none", "EO", "aEc", "aOc") for bank in "EO")):
        yield f"{pattern} 1", [(pattern,)]
        for adds in (4, 8, 16):  # the last of so many yields, or waits for no load that is under way
            for what in ("yield", "wait"):
                yield f"{pattern} {adds} {what}", [(pattern,)] * (adds - 1) + [(pattern, what, "")]
        for width, shapes in SHAPES.items():
            for to in ("E", "O", "Z", "E0", "O0", "Z0") if width == "LDS32" else ("P", "Z", "P0"):
                for loads, adds in shapes:
                    yield f"{pattern} {adds} {width} {to} {loads}", [(width, to)] * loads + [(pattern,)] * adds


def edited(code: bytes, period: list[tuple[str, ...]], word: Word | None = None) -> bytes:
    """Return a cubin with a loop of this period: all FFMAs and the load of the placeholder are replaced.

    `word(templates, place, what)` returns what stands there; if left out, a multiply-add or a load.
    """
    base, found = next(at for name, at, _ in sections(code) if name == CODE), bytearray(code)
    words = {at: int.from_bytes(code[base + at : base + at + 16], "little") for at in range(*LOOP, 16)}
    places = [at for at, word in words.items() if word & OPERATION in (FFMA, LDS)]
    kinds = {"add": FFMA, "load": LDS}
    templates = {kind: next(w for w in words.values() if w & OPERATION == kinds[kind]) for kind in kinds}
    for i, at in enumerate(places):
        placed = (word or _word)(templates, i, period[i % len(period)])
        found[base + at : base + at + 16] = placed.to_bytes(16, "little")
    clock = int.from_bytes(code[base + CLOCK : base + CLOCK + 16], "little")
    found[base + CLOCK : base + CLOCK + 16] = (clock | 1 << 116 + 5).to_bytes(16, "little")  # it waits for the loads
    return bytes(found)


def _word(templates: dict[str, int], i: int, what: tuple[str, ...]) -> int:
    if len(what) == 2:
        return load(templates["load"], i, *what)
    found = multiply_add(templates["add"], i, what[0])
    if what[1:] == ("yield", ""):
        return field(found, 109, 1, 0)
    return field(found, 116, 6, 1) if what[1:] == ("wait", "") else found


def _source(each: str, i: int) -> int:
    if each.startswith("="):
        return SOURCES[each[1]][0]
    if not each:
        return 255
    bank = SOURCES[each[0].upper()][each[0].islower() :]
    return bank[(i + int(each[1])) % len(bank)]


def write(folder: Path, warps: str, cubins: Iterator[tuple[str, int, bytes]]) -> None:
    """Write cubins, given with the names of their loops and the bytes of a lane's load, and their list."""
    folder.mkdir()
    lines = []
    for number, (name, size, code) in enumerate(cubins):
        (folder / f"{number}.cubin").write_bytes(code)
        lines.append(f"{number}.cubin|{name}|{size}|{warps}")
    (folder / "list").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    base = Path(sys.argv[1]).read_bytes()
    made = ((name, BYTES.get(period[0][0], 4), edited(base, period)) for name, period in loops())
    write(Path(sys.argv[2]), "1,4,8,16", made)
