"""The page of machine code: what is executed, what has been checked against the chip, what is refused."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from generate.markdown import code, page, table
from isa.family import Family, of_base
from isa.nvidia.lowering.lower import UnknownError, lowered
from isa.nvidia.rows import (
    atomic,
    control,
    conversion,
    cross_lane,
    floating,
    half,
    integer,
    memory,
    move,
    packed,
    texture,
)
from isa.nvidia.rows.copies import bulk, mbarrier
from isa.nvidia.rows.tensor import matrix, warpgroup
from isa.table import BY_BASE

COVERAGE = Path(__file__).parents[2] / "tests" / "hardware" / "data" / "coverage.json"
GROUPS: Mapping[str, Sequence[Family]] = {
    "Moves": move.FAMILIES,
    "Integers, logic, comparison": integer.FAMILIES,
    "Several integers in a word, extremes, permutations": packed.FAMILIES,
    "Singles and doubles": floating.FAMILIES,
    "Conversions": conversion.FAMILIES,
    "Halves": half.FAMILIES,
    "Memory": memory.FAMILIES,
    "Atomics": atomic.FAMILIES,
    "Textures": texture.FAMILIES,
    "Other lanes": cross_lane.FAMILIES,
    "Control flow": control.FAMILIES,
    "Matrices of a warp": matrix.FAMILIES,
    "Matrices of a warpgroup": warpgroup.FAMILIES,
    "Barriers in shared memory": mbarrier.FAMILIES,
    "Bulk and tensor copies": bulk.FAMILIES,
}
REFUSED = (  # an example of each, as nvcc 13.0 writes it for sm_90
    ("textures of layers and cubes", "TEX.LL RZ, R9, R8, R11, UR4, 0x0, ARRAY_2D, 0x1"),
    ("textures of layers and cubes", "TEX.LL RZ, R7, R12, R7, UR4, 0x0, CUBE, 0x1"),
    ("textures with gradients", "TXD RZ, R9, R8, R12, UR4, 0x0, 2D, 0x1"),
    ("surfaces", "SULD.D.BA.2D.STRONG.SM.TRAP R0, [R10], UR6, 0x0"),
    ("surfaces", "SUST.D.BA.2D.STRONG.SM.TRAP [R6], R4, UR6, 0x0"),
)
ABOUT = """\
Machine code of sm_75 to sm_121 that gpusim executes ([machine code](../sass.md)). An instruction is a base mnemonic
with modifiers; an instruction that no row has, or a modifier or operand that its row does not take, stops the load. A
modifier in the table may stand anywhere behind the base; those of scopes, orders and caches (`STRONG`, `GPU`, `EF`,
...) change no values, and all memory instructions take them.
Under operands stands what may be before, around and behind a source: `-`, bars, `~`, a half (`H0_H0`, `H1_H1`,
`H1_H0`, `H0_NH1`), a single among halves (`F32`, cut to a half), a part such as `B1`. Predicates that are read may have
`!`. A form is a base mnemonic, or one with a modifier or part that changes what is computed. The last column has the
forms that no kernel checked against the chip has. Unit classes are those of [machine files](machine-keys.md)."""
CHECKED = """\
Small kernels of PTX, compiled for sm_90, ran on an {gpu} ({driver}). Their machine code and all results
are kept in `tests/hardware/data`. The tests run the same machine code on the same inputs, edge cases and random ones,
and compare every bit of every result: {snippets} kernels, {rows} rows of inputs, {results} results, and no
difference is allowed. The interpreter runs all of them; the compiled engine, with the H200's times and what ptxas says
in its control codes, the first block of each kernel.
`python -m hardware.record` makes the table anew on another GPU of compute capability 9."""
COUNTED = """\
Of {all} forms of the tables below {covered} stand in one of these kernels. The others have tests without the chip:
`tests/isa/values` and `tests/isa/rows`."""
UNREAD = """\
A file is refused as a whole, before anything runs, with exit code 2. The message has each kind of instruction once,
with its first place and how often it occurs; at most eight kinds. Examples of what gpusim does not execute, by what the
message calls them:"""


def machine_code() -> str:
    """Return the page."""
    known = _known()
    parts = [ABOUT, "## Checked against the chip", *_checked(known), "## What is executed"]
    head = "mnemonic", "modifiers", "operands", "unit class", "unchecked"
    for title, families in GROUPS.items():
        parts += [f"### {title}", table(head, _rows(families))]
    alone = ", ".join(code(row.mnemonic) for row in control.ROWS if row.mnemonic not in BY_BASE)
    parts += [f"Without any modifier: `NOP`, {alone}."]
    return page(
        "Instructions of machine code",
        *parts,
        "## What is refused",
        UNREAD,
        table(("what", "instruction", "named"), _refused()),
    )


@cache
def _known() -> Mapping[str, Any]:
    found: dict[str, Any] = json.loads(COVERAGE.read_text(encoding="utf-8"))
    return found


def _checked(known: Mapping[str, Any]) -> Iterator[str]:
    groups = known["groups"]
    total = {name: f"{sum(one[name] for one in groups.values()):,}" for name in ("snippets", "rows", "results")}
    gpu, driver, *_ = known["about"]
    yield CHECKED.format(gpu=gpu, driver=driver, **total)
    counts = [(name, one["snippets"], one["rows"], one["results"]) for name, one in groups.items()]
    yield table(("group", "kernels", "rows", "results"), counts)
    every = [one for family in BY_BASE.values() for one in forms(family)]
    yield COUNTED.format(all=len(every), covered=len(set(every) & covered()))


def forms(family: Family) -> tuple[str, ...]:
    """Return the base mnemonic of a family, and the base with each modifier or part that changes what is computed."""
    changes = [*family.modifiers.items(), *(one for some in family.parts.values() for one in some.items())]
    return (family.base, *(f"{family.base}.{name}" for name, change in changes if change != 0))


@cache
def covered() -> frozenset[str]:
    """Return the forms that stand in a recorded kernel."""
    found = set[str]()
    for mnemonic in _known()["mnemonics"]:
        family = of_base(BY_BASE, mnemonic)
        if family is not None:
            names = mnemonic.removeprefix(family.base).split(".")[1:]
            found |= {family.base, *(f"{family.base}.{name}" for name in names)}
    return frozenset(found)


def _rows(families: Sequence[Family]) -> Iterator[tuple[str, ...]]:
    for family in families:
        missing = [one for one in forms(family) if one not in covered()]
        absent = "all" if family.base in missing else ", ".join(code(one.removeprefix(family.base)) for one in missing)
        names = ", ".join(code(f".{name}") for name in family.modifiers)
        yield code(family.base), names, operands(family), family.unit.value, absent


def operands(family: Family) -> str:
    """Return what the sources of a family take: signs, halves and other parts."""
    signs = "".join(sorted({sign for some in family.signs.values() for sign in some}))
    shown = [code(sign) if sign != "|" else "bars" for sign in signs]
    parts = [code(f".{name}") for some in family.parts.values() for name in some]
    halves = [name for name, letters in (("halves", family.halves), ("singles", family.singles)) if letters]
    return ", ".join([*shown, *halves, *parts])


def _refused() -> Iterator[tuple[str, str, str]]:
    for what, text in REFUSED:
        yield what, code(text), code(refusal(text))


def refusal(text: str) -> str:
    """Return what a message calls an instruction that is refused; raises ValueError for one that is executed."""
    try:
        lowered(text)
    except UnknownError as error:
        return str(error)
    raise ValueError(f"{text} is executed")
