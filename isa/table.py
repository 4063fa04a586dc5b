"""The instruction table: one row per mnemonic. A mnemonic without a row does not exist.

Form letters, in the order of the text (a `?` after a letter: may be left out):

    d        register written               P  predicate written
    a b c    register, immediate or c[name] Q  predicate read
    m        memory address [R + offset]    s  special register
    l        label                          t  texture tex[name]
    n        small integer (barrier id, thread count)

`width` is the bits of each d, a, b, c operand: 64 takes an even register, 128 a multiple of 4. Addresses, predicates
and texture indices keep their own size. `flops` are per thread. `value(a, b, c)` computes d, or the predicate P, from
bit patterns (uint32, or uint64 at width 64); where the form has no c, it receives `code`, and Q arrives as 0 or 1 in
the place of c.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from isa import semantics as v


class Unit(StrEnum):
    """What kind of hardware an instruction needs; a machine maps each to a pipe, a latency or a path."""

    FP32 = "fp32"
    MINMAX = "minmax"
    INT = "int"
    IMUL = "imul"
    SHIFT = "shift"
    COMPARE = "compare"
    MOVE = "move"
    DP = "dp"
    SFU = "sfu"
    SPECIAL = "special"
    SHARED = "shared"
    GLOBAL = "global"
    LOCAL = "local"
    TEXTURE = "texture"
    BARRIER = "barrier"
    CONTROL = "control"


@dataclass(frozen=True, slots=True)
class Row:
    """One instruction of the machine language."""

    mnemonic: str
    form: str
    unit: Unit
    width: int = 32
    flops: int = 0
    value: Callable[[Any, Any, Any], Any] | None = None
    code: int = 0
    optional: int = 0  # trailing operands that may be left out

    @property
    def words(self) -> int:
        """32-bit registers behind each d, a, b, c operand."""
        return self.width // 32

    @property
    def is_float(self) -> bool:
        """Takes its sources as IEEE numbers."""
        return self.unit in FLOAT_UNITS or self.mnemonic.startswith("F")

    @property
    def is_load(self) -> bool:
        """Reads memory into registers."""
        return self.unit in MEMORY_UNITS and self.form[0] == "d"

    @property
    def is_store(self) -> bool:
        """Writes registers to memory."""
        return self.unit in MEMORY_UNITS and self.form[0] == "m"


FLOAT_UNITS = frozenset({Unit.FP32, Unit.DP, Unit.SFU})
MEMORY_UNITS = frozenset({Unit.SHARED, Unit.GLOBAL, Unit.LOCAL, Unit.TEXTURE})

# fmt: off
ROWS = (
    #   mnemonic      form    unit            width flops value         code
    Row("FFMA",       "dabc", Unit.FP32,      32,   2,    v.ffma),
    Row("FADD",       "dab",  Unit.FP32,      32,   1,    v.fadd),
    Row("FMUL",       "dab",  Unit.FP32,      32,   1,    v.fmul),
    Row("FMNMX",      "dabQ", Unit.MINMAX,    32,   1,    v.fmnmx),
    Row("DFMA",       "dabc", Unit.DP,        64,   2,    v.dfma),
    Row("DADD",       "dab",  Unit.DP,        64,   1,    v.dadd),
    Row("DMUL",       "dab",  Unit.DP,        64,   1,    v.dmul),
    Row("IADD",       "dab",  Unit.INT,       32,   0,    v.iadd),
    Row("IMAD",       "dabc", Unit.IMUL,      32,   0,    v.imad),
    Row("IMUL",       "dab",  Unit.IMUL,      32,   0,    v.imul),
    Row("IMUL.HI",    "dab",  Unit.IMUL,      32,   0,    v.imul_high),
    Row("IMNMX",      "dabQ", Unit.MINMAX,    32,   0,    v.imnmx),
    Row("SHL",        "dab",  Unit.SHIFT,     32,   0,    v.shl),
    Row("SHR",        "dab",  Unit.SHIFT,     32,   0,    v.shr),
    Row("SHR.U32",    "dab",  Unit.SHIFT,     32,   0,    v.shr_u32),
    Row("LOP.AND",    "dab",  Unit.INT,       32,   0,    v.lop_and),
    Row("LOP.OR",     "dab",  Unit.INT,       32,   0,    v.lop_or),
    Row("LOP.XOR",    "dab",  Unit.INT,       32,   0,    v.lop_xor),
    Row("MOV",        "da",   Unit.MOVE,      32,   0,    v.mov),
    Row("SEL",        "dabQ", Unit.MOVE,      32,   0,    v.sel),
    Row("ISETP.LT",   "Pab",  Unit.COMPARE,   32,   0,    v.icompare,   v.LT),
    Row("ISETP.EQ",   "Pab",  Unit.COMPARE,   32,   0,    v.icompare,   v.EQ),
    Row("ISETP.LE",   "Pab",  Unit.COMPARE,   32,   0,    v.icompare,   v.LT | v.EQ),
    Row("ISETP.GT",   "Pab",  Unit.COMPARE,   32,   0,    v.icompare,   v.GT),
    Row("ISETP.NE",   "Pab",  Unit.COMPARE,   32,   0,    v.icompare,   v.LT | v.GT),
    Row("ISETP.GE",   "Pab",  Unit.COMPARE,   32,   0,    v.icompare,   v.GT | v.EQ),
    Row("ISETP.LT.U32", "Pab", Unit.COMPARE,  32,   0,    v.ucompare,   v.LT),
    Row("ISETP.LE.U32", "Pab", Unit.COMPARE,  32,   0,    v.ucompare,   v.LT | v.EQ),
    Row("ISETP.GT.U32", "Pab", Unit.COMPARE,  32,   0,    v.ucompare,   v.GT),
    Row("ISETP.GE.U32", "Pab", Unit.COMPARE,  32,   0,    v.ucompare,   v.GT | v.EQ),
    Row("FSETP.LT",   "Pab",  Unit.COMPARE,   32,   0,    v.fcompare,   v.LT),
    Row("FSETP.EQ",   "Pab",  Unit.COMPARE,   32,   0,    v.fcompare,   v.EQ),
    Row("FSETP.LE",   "Pab",  Unit.COMPARE,   32,   0,    v.fcompare,   v.LT | v.EQ),
    Row("FSETP.GT",   "Pab",  Unit.COMPARE,   32,   0,    v.fcompare,   v.GT),
    Row("FSETP.NE",   "Pab",  Unit.COMPARE,   32,   0,    v.fcompare,   v.LT | v.GT),
    Row("FSETP.NEU",  "Pab",  Unit.COMPARE,   32,   0,    v.fcompare,   v.LT | v.GT | v.UNORDERED),
    Row("FSETP.GE",   "Pab",  Unit.COMPARE,   32,   0,    v.fcompare,   v.GT | v.EQ),
    Row("MUFU.RCP",   "da",   Unit.SFU,       32,   0,    v.mufu_rcp),
    Row("MUFU.RSQ",   "da",   Unit.SFU,       32,   0,    v.mufu_rsq),
    Row("MUFU.LG2",   "da",   Unit.SFU,       32,   0,    v.mufu_lg2),
    Row("MUFU.EX2",   "da",   Unit.SFU,       32,   0,    v.mufu_ex2),
    Row("MUFU.SIN",   "da",   Unit.SFU,       32,   0,    v.mufu_sin),
    Row("MUFU.COS",   "da",   Unit.SFU,       32,   0,    v.mufu_cos),
    Row("S2R",        "ds",   Unit.SPECIAL),
    Row("LDS",        "dm",   Unit.SHARED),
    Row("LDS.64",     "dm",   Unit.SHARED,    64),
    Row("LDS.128",    "dm",   Unit.SHARED,    128),
    Row("STS",        "ma",   Unit.SHARED),
    Row("STS.64",     "ma",   Unit.SHARED,    64),
    Row("STS.128",    "ma",   Unit.SHARED,    128),
    Row("LDG",        "dm",   Unit.GLOBAL),
    Row("LDG.64",     "dm",   Unit.GLOBAL,    64),
    Row("LDG.128",    "dm",   Unit.GLOBAL,    128),
    Row("STG",        "ma",   Unit.GLOBAL),
    Row("STG.64",     "ma",   Unit.GLOBAL,    64),
    Row("STG.128",    "ma",   Unit.GLOBAL,    128),
    Row("LDL",        "dm",   Unit.LOCAL),
    Row("LDL.64",     "dm",   Unit.LOCAL,     64),
    Row("LDL.128",    "dm",   Unit.LOCAL,     128),
    Row("STL",        "ma",   Unit.LOCAL),
    Row("STL.64",     "ma",   Unit.LOCAL,     64),
    Row("STL.128",    "ma",   Unit.LOCAL,     128),
    Row("TEX",        "dta",  Unit.TEXTURE),
    Row("BAR.SYNC",   "nn",   Unit.BARRIER,   optional=1),
    Row("BRA",        "l",    Unit.CONTROL),
    Row("EXIT",       "",     Unit.CONTROL),
    Row("NOP",        "",     Unit.CONTROL),
)
# fmt: on

TABLE = {row.mnemonic: row for row in ROWS}
