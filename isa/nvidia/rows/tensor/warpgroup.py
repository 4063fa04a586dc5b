"""Rows of machine code: products of matrices by the tensor cores of a warpgroup, four warps that go together.

D = A B + C, of 64 rows and 8 to 256 columns. B lies in shared memory, where a descriptor in uniform registers says; A
does too, or is in registers. A sparse A (.SP) has half the numbers of its k, and a register says which. The texts have
what else there is in operands (`gdesc[UR8].negA`, `gsb0`), the table in modifiers of its own, which
`isa.nvidia.lowering.spelling` puts behind those of the text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from isa.family import NOTHING, Change, Family
from isa.nvidia.rows.tensor import matrix
from isa.row import CLOSES, JOINS, WAITS, Groups, Row, Unit
from isa.values.cross_lane import Tile
from isa.values.matrix.warpgroup import (
    BF16,
    BIT,
    BYTE,
    E4M3,
    E5M2,
    F16,
    HALVES,
    NEGATED_A,
    NEGATED_B,
    SATURATED,
    TF32,
    TURNED_A,
    TURNED_B,
    UNSIGNED_BYTE,
    code_of,
)

REGISTERS, CLOSING = "REG", "gsb0"  # A is in registers; it closes the group
SPARSELY = ".SP"  # A is sparse
MOST_COLUMNS = 256
_SHAPE = re.compile(r"64x(\d{1,3})x(\d{1,3})")
_MARKS = {"negA": NEGATED_A, "negB": NEGATED_B, "tnspA": TURNED_A, "tnspB": TURNED_B}
_TYPES = {"E4M3": E4M3, "E5M2": E5M2, "S8": BYTE, "U8": UNSIGNED_BYTE}
_ROW_BITS = 256  # of k
_TILES = {family.base: family.fields["across"] for family in matrix.FAMILIES}


@dataclass(frozen=True, slots=True)
class Warpgroup(Family):
    """Rows of one base: `types` are the types of A and B by what a text says of types, with what changes the result."""

    types: Mapping[tuple[str, ...], int] = field(default_factory=dict)

    def row(self, mnemonic: str, parts: Sequence[str] = ()) -> Row | None:
        """Return the row of a shape, types, marks and of where A lies; None if there is none."""
        shape, *names = mnemonic.removeprefix(self.base).split(".")[1:] or [""]
        sparse = self.base.endswith(SPARSELY)
        said, marks = tuple(x for x in names if x not in self.modifiers), [x for x in names if x in self.modifiers]
        found, code = _SHAPE.fullmatch(shape), self.types.get(said)
        if parts or found is None or code is None or len(set(marks)) < len(marks):
            return None
        columns, depth = map(int, found.groups())
        if columns % 8 or not 8 <= columns <= MOST_COLUMNS or depth != _depth(said) << sparse:
            return None
        words = columns // (4 if code & HALVES else 2)
        from_registers = REGISTERS in marks
        counts = f"d{words}c{words}" + ("a4b2" if from_registers else "b4")
        form = ("dabc" if from_registers else "dbc") + ("Qin" if sparse else "Q")
        return Row(
            mnemonic,
            form,
            self.unit,
            flops=0 if self.base[0] in "IB" else columns * depth >> sparse,
            registers=counts,
            across=_tile(self.base, said),
            memory_bits=128,
            code=code_of(columns, code | sum(_MARKS.get(x, 0) for x in marks), from_registers, sparse),
            grouping=JOINS | (CLOSES if CLOSING in marks else 0),
            groups=Groups.MATRIX,
            shared="b",
        )


def _tile(base: str, types: tuple[str, ...]) -> Tile:
    """Return how a warp computes eight columns: as an instruction of its own of 16 rows does."""
    sparse = base.endswith(SPARSELY)
    depth = 256 if "POPC" in types else _depth(types) << sparse
    tile: Tile = _TILES[".".join((f"{base[0]}MMA{SPARSELY if sparse else ''}", f"168{depth}", *types))]
    return tile


def _depth(types: tuple[str, ...]) -> int:
    """Return the k of an instruction on these types: 32 bytes of a row."""
    if "TF32" in types:
        return 8
    if "POPC" in types:
        return _ROW_BITS
    return 32 if set(types) & set(_TYPES) else 16


def _family(base: str, types: Mapping[tuple[str, ...], int], *marks: str) -> Family:
    modifiers: Mapping[str, Change] = dict.fromkeys((*marks, REGISTERS, CLOSING), 0)
    return Warpgroup(
        base, "dabcQin", Unit.WARPGROUP, optional="Qn", modifiers=modifiers or NOTHING, shared="b", types=types
    )


def _pairs(*names: str) -> Mapping[tuple[str, str], int]:
    """Return the types of A and B, one in each."""
    return {(a, b): _TYPES[a] | _TYPES[b] << 4 for a in names for b in names}


_OF_HALVES = {
    ("F32",): F16 | F16 << 4,
    ("F16",): F16 | F16 << 4 | HALVES,
    ("F32", "BF16"): BF16 | BF16 << 4,
    ("F32", "TF32"): TF32 | TF32 << 4,
}
_SMALL: Mapping[tuple[str, ...], int] = {
    (result, *types): code | (HALVES if result == "F16" else 0)
    for result in ("F32", "F16")
    for types, code in _pairs("E4M3", "E5M2").items()
}
_WHOLE = {
    (*types, *more): code | (SATURATED if more else 0)
    for more in ((), ("SAT",))
    for types, code in _pairs("S8", "U8").items()
}

FAMILIES: tuple[Family, ...] = (
    *(_family(base, _OF_HALVES, *_MARKS) for base in ("HGMMA", "HGMMA.SP")),
    *(_family(base, _SMALL, "negA", "negB") for base in ("QGMMA", "QGMMA.SP")),
    *(_family(base, _WHOLE) for base in ("IGMMA", "IGMMA.SP")),
    _family("BGMMA", {("AND", "POPC"): BIT | BIT << 4}),
    Family("WARPGROUP.ARRIVE", "", Unit.CONTROL),
    Family("WARPGROUP.DEPBAR.LE", "n", Unit.CONTROL, fields={"most": 7, "grouping": WAITS, "groups": Groups.MATRIX}),
)
