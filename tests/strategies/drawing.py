"""A program being drawn, for the parts of small programs (`sketch.py`), and its arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from isa.table import ROWS

# R0 thread of the block, R1 its slot in shared memory, R2 its slot in `out`, R3 base of `in`, R4 warp, R5 R6 loop
# counters, R7 scratch, R8 to R23 data; P0 to P2 of data, P3 P4 of loops, P5 of warps. A slot has SLOT_BYTES.
# s0 base of `in`, s1 to s3 data, s[4:19] loaded, s20 loop counter; scalar parts are dropped if lanes may diverge.

SLOT_BYTES = 16
STRIDES = (0, 0, 16, 32, 64, 128)  # bytes that the pointer of a long loop moves in a round
INPUT_WORDS = 256
DATA = range(8, 24)
_COMPUTING = tuple(row for row in ROWS if (row.value or row.across) and row.form.startswith("d") and not row.is_gcn)
ALU_ROWS = tuple(row for row in _COMPUTING if not row.matrix)  # tiles have registers of their own numbers
ALU_UNITS = {row.unit: tuple(other for other in ALU_ROWS if other.unit == row.unit) for row in ALU_ROWS}
COMPARE_ROWS = tuple(row for row in ROWS if row.form.startswith("P"))
VECTOR_ROWS = tuple(row for row in ROWS if row.mnemonic.startswith("V_") and row.value and not row.implied)
SCALAR_ROWS = tuple(row for row in ROWS if row.mnemonic.startswith("S_") and row.value and not row.implied)
VCC_ROWS = tuple(row for row in ROWS if row.mnemonic.startswith("V_CMP"))
SCC_ROWS = tuple(row for row in ROWS if row.mnemonic.startswith("S_CMP"))
PROLOGUE = """
    S2R R0, TID.X
    S2R R4, WARPID
    S2R R5, CTAID.X
    S2R R6, NTID.X
    IMAD R5, R5, R6, R0
    SHL R2, R5, 4
    IADD R2, R2, c[out]
    SHL R1, R0, 4
    MOV R3, c[in]
    LOP.AND R7, R1, 0x1f0
    IADD R7, R7, R3
    LDG.128 R8, [R7]
    LDG.128 R12, [R7+0x200]
    LDG.64 R16, [R7+0x100]
    LDG R18, [R7+0x104]
    S_MOV_B32 s0, c[in]
"""


@dataclass
class Sketch:
    """A program being drawn: its lines, and how far warps may go apart (`together`: all execute the same)."""

    draw: st.DrawFn
    warps: int
    barriers: bool
    lanes: int = 32  # of a warp
    steady: bool = False  # neither addresses nor branches depend on memory's contents
    copies: bool = False  # asynchronous copies, in groups
    lines: list[str] = field(default_factory=list)
    labels: int = 0

    def emit(self, *lines: str) -> None:
        """Append lines of text."""
        self.lines += lines

    def one(self, values: Sequence[str | int]) -> Any:
        """Draw one of the values."""
        return self.draw(st.sampled_from(values))

    def data(self, words: int = 1) -> str:
        """Draw a data register, aligned for so many words."""
        return f"R{self.one([r for r in DATA if r % words == 0])}"

    def source(self, words: int = 1) -> str:
        """Draw a data register to be read, in some cases flagged for reuse."""
        return self.data(words) + self.one(["", "", ".reuse"])

    def guard(self) -> str:
        """Draw a guard, most often none."""
        return self.one(["", "", "@P5 "] if self.steady else ["", "", "", "@P0 ", "@!P1 ", "@P2 "])


def alu(sketch: Sketch) -> None:
    row = sketch.one(ALU_UNITS[sketch.one(tuple(ALU_UNITS))])
    other = {"Q": ["P0", "!P1", "PT"], "n": [0xE8, 0x96, 0x01]}
    given = {**other, "d": [sketch.data(row.words)]}
    operands = [str(sketch.one(given[x])) if x in given else sketch.source(row.source.words) for x in row.form]
    sketch.emit(f"{sketch.guard()}{row.mnemonic} {', '.join(operands)}")


def compare(sketch: Sketch) -> None:
    row, target = sketch.one(COMPARE_ROWS), sketch.one(["P0", "P1", "P2"])
    sketch.emit(f"{sketch.guard()}{row.mnemonic} {target}, {sketch.source()}, {sketch.source()}")


def few(sketch: Sketch) -> None:
    """Emit one to four arithmetic instructions."""
    for _ in range(sketch.one([1, 2, 4])):
        alu(sketch)
