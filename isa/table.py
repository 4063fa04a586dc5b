"""The instruction table: one row per mnemonic. A mnemonic without a row does not exist.

Form letters, in the order of the text (a `?` after a letter: may be left out):

    d        register written               P  predicate written
    a b c    register, immediate or c[name] Q  predicate read
    m        memory address [R + offset]    s  special register
    l        label                          t  texture tex[name]
    D        register written, read as c    n  number (barrier id, thread count, truth table, mask)
    B        convergence barrier

`width` is the bits of each d, a, b, c operand: 64 takes an even register, 128 a multiple of 4 (vector registers of GCN:
any); a conversion's sources have a width of their own, `sources`. Addresses, predicates and texture coordinates keep
their own size. `flops` are per thread. `value(a, b, c)` computes d, or the predicate P, from bit patterns (uint32, or
uint64 at width 64); if the form has no c, it receives `code`, and Q arrives as 0 or 1 in the place of c. A number at
the end of the form is a fourth argument. `across(a, b, c, active)` does the same for a result that depends on other
lanes (isa.values.cross_lane). `update(a, b, c)` is the word that an atomic stores in the place of c; d gets c.
`implied` are operands that the text does not have, by their letter, and `condition` is an implied guard.

Rows of GCN have its names (`V_`, `S_`, `DS_`, `GLOBAL_`), operands in its order, and vector or scalar registers (see
`isa.text.gcn_text`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from isa.operand import SCC, VCC, Predicate
from isa.values import cross_lane
from isa.values import semantics as v


class Unit(StrEnum):
    """The hardware that an instruction needs; a machine maps each class to a pipe, a latency or a path."""

    FP32 = "fp32"
    FMUL = "fmul"
    MINMAX = "minmax"
    INT = "int"
    IMUL = "imul"
    WIDE = "wide"
    SHIFT = "shift"
    LOGIC = "logic"
    PERMUTE = "permute"
    BITS = "bits"
    DOT = "dot"
    CONVERT = "convert"
    FP16 = "fp16"
    FP16M = "fp16m"
    SHUFFLE = "shuffle"
    VOTE = "vote"
    REDUCE = "reduce"
    COMPARE = "compare"
    MOVE = "move"
    UNIFORM = "uniform"
    SMEM = "smem"
    DP = "dp"
    SFU = "sfu"
    SPECIAL = "special"
    SHARED = "shared"
    GLOBAL = "global"
    LOCAL = "local"
    CONSTANT = "constant"
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
    value: Callable[..., Any] | None = None
    code: int = 0
    optional: int = 0  # trailing operands that may be left out
    across: Callable[..., Any] | None = None
    update: Callable[..., Any] | None = None
    implied: tuple[tuple[str, Predicate], ...] = ()
    condition: Predicate | None = None
    sources: int = 0  # bits of each source where they are not the width's

    @property
    def is_gcn(self) -> bool:
        """Whether it belongs to GCN: its registers are vector and scalar ones, and its text has no guard."""
        return self.mnemonic.startswith(GCN)

    @property
    def is_branch(self) -> bool:
        """Whether it goes to a label."""
        return self.form == "l"

    @property
    def is_exit(self) -> bool:
        """Whether it ends its threads."""
        return self.mnemonic in ("EXIT", "S_ENDPGM")

    @property
    def compares(self) -> bool:
        """Whether it writes a predicate."""
        return self.form[:1] == "P" or any(letter == "P" for letter, _ in self.implied)

    @property
    def words(self) -> int:
        """32-bit registers of each d, a, b, c operand."""
        return self.width // 32

    @property
    def source(self) -> Row:
        """The row for its sources a, b, c: coordinates of a texture have 32 bits, however many it fetches."""
        width = 32 if self.unit is Unit.TEXTURE else self.sources or self.width
        return self if width == self.width else replace(self, width=width)

    @property
    def nbytes(self) -> int:
        """Bytes of memory that a lane accesses."""
        return 1 if self.mnemonic.endswith(".U8") else self.width // 8

    @property
    def intervals(self) -> int:
        """Initiation intervals for which it keeps its pipe: a texture's one per word, scalar loads' as for four."""
        if self.unit is Unit.TEXTURE:
            return self.words
        return max(1, self.width // 128) if self.unit is Unit.SMEM else 1

    @property
    def alignment(self) -> int:
        """Bytes of which an address must be a multiple; scalar loads need only whole words."""
        return 4 if self.unit is Unit.SMEM else self.nbytes

    @property
    def is_float(self) -> bool:
        """Whether it takes its sources as IEEE numbers."""
        compared = self.mnemonic.startswith("V_CMP") and self.mnemonic.endswith("F32")
        return compared or self.unit in FLOAT_UNITS or self.mnemonic.startswith(FLOAT_ROWS)

    @property
    def is_load(self) -> bool:
        """Whether it reads memory into registers."""
        return self.unit in LOAD_UNITS and self.form[0] == "d"

    @property
    def is_store(self) -> bool:
        """Whether it writes registers to memory; an atomic does, and is a load too."""
        return self.unit in MEMORY_UNITS and (self.form[0] == "m" or self.update is not None)


FLOAT_UNITS = frozenset({Unit.FP32, Unit.FMUL, Unit.DP, Unit.SFU})
HALF_UNITS = frozenset({Unit.FP16, Unit.FP16M})
FLOAT_ROWS = ("FMNMX", "FSETP", "F2I", "V_CVT_I32")
GLOBAL_UNITS = frozenset({Unit.GLOBAL, Unit.CONSTANT, Unit.SMEM})  # at byte addresses of global memory
MEMORY_UNITS = frozenset(  # of lanes, each at its own address
    {Unit.SHARED, Unit.GLOBAL, Unit.LOCAL, Unit.CONSTANT, Unit.TEXTURE}
)
LOAD_UNITS = MEMORY_UNITS | {Unit.SMEM}
_READERS = dict.fromkeys((Unit.TEXTURE, Unit.CONSTANT, Unit.SMEM), Unit.GLOBAL)
GCN = ("V_", "S_", "DS_", "GLOBAL_")
TO_VCC, TO_SCC, FROM_VCC = (("P", VCC),), (("P", SCC),), (("Q", VCC),)

# fmt: off
ROWS = (
    #   mnemonic      form    unit            width flops value         code
    Row("FFMA",       "dabc", Unit.FP32,      32,   2,    v.ffma),
    Row("FADD",       "dab",  Unit.FP32,      32,   1,    v.fadd),
    Row("FMUL",       "dab",  Unit.FMUL,      32,   1,    v.fmul),
    Row("FMNMX",      "dabQ", Unit.MINMAX,    32,   1,    v.fmnmx),
    Row("DFMA",       "dabc", Unit.DP,        64,   2,    v.dfma),
    Row("DADD",       "dab",  Unit.DP,        64,   1,    v.dadd),
    Row("DMUL",       "dab",  Unit.DP,        64,   1,    v.dmul),
    Row("IADD",       "dab",  Unit.INT,       32,   0,    v.iadd),
    Row("IADD3",      "dabc", Unit.INT,       32,   0,    v.iadd3),
    Row("IMAD",       "dabc", Unit.IMUL,      32,   0,    v.imad),
    Row("IMAD.HI",    "dabc", Unit.WIDE,      32,   0,    v.imad_high),
    Row("IMUL",       "dab",  Unit.IMUL,      32,   0,    v.imul),
    Row("IMUL.HI",    "dab",  Unit.WIDE,      32,   0,    v.imul_high),
    Row("IMNMX",      "dabQ", Unit.MINMAX,    32,   0,    v.imnmx),
    Row("SHL",        "dab",  Unit.SHIFT,     32,   0,    v.shl),
    Row("SHR",        "dab",  Unit.SHIFT,     32,   0,    v.shr),
    Row("SHR.U32",    "dab",  Unit.SHIFT,     32,   0,    v.shr_u32),
    Row("SHF.L",      "dabc", Unit.SHIFT,     32,   0,    v.funnel_left),
    Row("SHF.R",      "dabc", Unit.SHIFT,     32,   0,    v.funnel_right),
    Row("PRMT",       "dabc", Unit.PERMUTE,   32,   0,    v.prmt),
    Row("LOP.AND",    "dab",  Unit.LOGIC,     32,   0,    v.lop_and),
    Row("LOP.OR",     "dab",  Unit.LOGIC,     32,   0,    v.lop_or),
    Row("LOP.XOR",    "dab",  Unit.LOGIC,     32,   0,    v.lop_xor),
    Row("LOP3",       "dabcn", Unit.LOGIC,    32,   0,    v.lop3),
    Row("POPC",       "da",   Unit.BITS,      32,   0,    v.popc),
    Row("FLO",        "da",   Unit.BITS,      32,   0,    v.find_leading_one, 1),
    Row("FLO.U32",    "da",   Unit.BITS,      32,   0,    v.find_leading_one),
    Row("BREV",       "da",   Unit.BITS,      32,   0,    v.reverse_bits),
    Row("IDP.4A",     "dabc", Unit.DOT,       32,   0,    v.dot_bytes),
    Row("I2F",        "da",   Unit.CONVERT,   32,   0,    v.int_to_single),
    Row("I2FP",       "da",   Unit.INT,       32,   0,    v.int_to_single),
    Row("F2I",        "da",   Unit.CONVERT,   32,   0,    v.single_to_int),
    Row("F2F.F64.F32", "da",  Unit.DP,        64,   0,    v.single_to_double, sources=32),
    Row("F2F.F32.F64", "da",  Unit.DP,        32,   0,    v.double_to_single, sources=64),
    Row("HFMA2",      "dabc", Unit.FP16,      32,   4,    v.hfma2),
    Row("HFMA2.MMA",  "dabc", Unit.FP16M,     32,   4,    v.hfma2),
    Row("HADD2",      "dab",  Unit.FP16,      32,   2,    v.hadd2),
    Row("HMUL2",      "dab",  Unit.FP16,      32,   2,    v.hmul2),
    Row("UIADD3",     "dabc", Unit.UNIFORM,   32,   0,    v.iadd3),
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
    Row("MUFU.SQRT",  "da",   Unit.SFU,       32,   0,    v.mufu_sqrt),
    Row("MUFU.TANH",  "da",   Unit.SFU,       32,   0,    v.mufu_tanh),
    Row("SHFL.IDX",   "dab",  Unit.SHUFFLE,   across=cross_lane.shuffle_index),
    Row("SHFL.BFLY",  "dab",  Unit.SHUFFLE,   across=cross_lane.shuffle_butterfly),
    Row("VOTE.BALLOT", "dQ",  Unit.VOTE,      across=cross_lane.ballot),
    Row("REDUX.SUM",  "da",   Unit.REDUCE,    across=cross_lane.total),
    Row("S2R",        "ds",   Unit.SPECIAL),
    Row("LDS",        "dm",   Unit.SHARED),
    Row("LDS.64",     "dm",   Unit.SHARED,    64),
    Row("LDS.128",    "dm",   Unit.SHARED,    128),
    Row("LDS.U8",     "dm",   Unit.SHARED),
    Row("ATOMS.ADD",  "dma",  Unit.SHARED,    update=v.atomic_add),
    Row("ATOMS.CAS",  "dmab", Unit.SHARED,    update=v.atomic_swap),
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
    Row("LDC",        "dm",   Unit.CONSTANT),
    Row("TEX",        "dta",  Unit.TEXTURE),
    Row("TEX.64",     "dta",  Unit.TEXTURE,   64),
    Row("TEX.128",    "dta",  Unit.TEXTURE,   128),
    Row("TEX.2D",     "dtabc", Unit.TEXTURE),
    Row("TEX.2D.64",  "dtabc", Unit.TEXTURE,  64),
    Row("TEX.2D.128", "dtabc", Unit.TEXTURE,  128),
    Row("BAR.SYNC",   "nn",   Unit.BARRIER,   optional=1),
    Row("BRA",        "l",    Unit.CONTROL),
    Row("EXIT",       "",     Unit.CONTROL),
    Row("NOP",        "",     Unit.CONTROL),
    Row("WARPSYNC",   "n",    Unit.CONTROL),
    Row("BSSY",       "Bl",   Unit.CONTROL),
    Row("BSYNC",      "B",    Unit.CONTROL),
    # GCN: vector instructions. Shifts take their count modulo 32, as funnels do.
    Row("V_FMA_F32",  "dabc", Unit.FP32,      32,   2,    v.ffma),
    Row("V_FMAC_F32", "Dab",  Unit.FP32,      32,   2,    v.ffma),
    Row("V_MAD_F32",  "dabc", Unit.FP32,      32,   2,    v.fmad),
    Row("V_MAC_F32",  "Dab",  Unit.FP32,      32,   2,    v.fmad),
    Row("V_ADD_F32",  "dab",  Unit.FP32,      32,   1,    v.fadd),
    Row("V_MUL_F32",  "dab",  Unit.FMUL,      32,   1,    v.fmul),
    Row("V_FMA_F64",  "dabc", Unit.DP,        64,   2,    v.dfma),
    Row("V_RCP_F32",  "da",   Unit.SFU,       32,   0,    v.mufu_rcp),
    Row("V_RSQ_F32",  "da",   Unit.SFU,       32,   0,    v.mufu_rsq),
    Row("V_SQRT_F32", "da",   Unit.SFU,       32,   0,    v.mufu_sqrt),
    Row("V_LOG_F32",  "da",   Unit.SFU,       32,   0,    v.mufu_lg2),
    Row("V_EXP_F32",  "da",   Unit.SFU,       32,   0,    v.mufu_ex2),
    Row("V_CVT_F32_I32", "da", Unit.CONVERT,  32,   0,    v.int_to_single),
    Row("V_CVT_I32_F32", "da", Unit.CONVERT,  32,   0,    v.single_to_int),
    Row("V_MOV_B32",  "da",   Unit.MOVE,      32,   0,    v.mov),
    Row("V_CNDMASK_B32", "dba", Unit.MOVE,    32,   0,    v.sel,        implied=FROM_VCC),
    Row("V_ADD_U32",  "dab",  Unit.INT,       32,   0,    v.iadd),
    Row("V_SUB_U32",  "dab",  Unit.INT,       32,   0,    v.isub),
    Row("V_ADD3_U32", "dabc", Unit.INT,       32,   0,    v.iadd3),
    Row("V_MUL_LO_U32", "dab", Unit.IMUL,     32,   0,    v.imul),
    Row("V_MUL_HI_I32", "dab", Unit.IMUL,     32,   0,    v.imul_high),
    Row("V_LSHLREV_B32", "dbc", Unit.SHIFT,   32,   0,    v.funnel_left),
    Row("V_LSHRREV_B32", "dba", Unit.SHIFT,   32,   0,    v.funnel_right),
    Row("V_AND_B32",  "dab",  Unit.LOGIC,     32,   0,    v.lop_and),
    Row("V_OR_B32",   "dab",  Unit.LOGIC,     32,   0,    v.lop_or),
    Row("V_XOR_B32",  "dab",  Unit.LOGIC,     32,   0,    v.lop_xor),
    *(Row(f"V_CMP_{name}_I32", "ab", Unit.COMPARE, value=v.icompare, code=code, implied=TO_VCC)
      for name, code in v.RELATIONS.items()),
    *(Row(f"V_CMP_{name}_U32", "ab", Unit.COMPARE, value=v.ucompare, code=code, implied=TO_VCC)
      for name, code in v.RELATIONS.items()),
    *(Row(f"V_CMP_{name}_F32", "ab", Unit.COMPARE, value=v.fcompare, code=code, implied=TO_VCC)
      for name, code in v.ORDERED_RELATIONS.items()),
    # scalar ones
    Row("S_MOV_B32",  "da",   Unit.UNIFORM,   32,   0,    v.mov),
    Row("S_ADD_U32",  "dab",  Unit.UNIFORM,   32,   0,    v.iadd),
    Row("S_SUB_U32",  "dab",  Unit.UNIFORM,   32,   0,    v.isub),
    Row("S_MUL_I32",  "dab",  Unit.UNIFORM,   32,   0,    v.imul),
    Row("S_LSHL_B32", "dcb",  Unit.UNIFORM,   32,   0,    v.funnel_left),
    Row("S_LSHR_B32", "dab",  Unit.UNIFORM,   32,   0,    v.funnel_right),
    Row("S_AND_B32",  "dab",  Unit.UNIFORM,   32,   0,    v.lop_and),
    Row("S_OR_B32",   "dab",  Unit.UNIFORM,   32,   0,    v.lop_or),
    *(Row(f"S_CMP_{name}_I32", "ab", Unit.UNIFORM, value=v.icompare, code=code, implied=TO_SCC)
      for name, code in v.SCALAR_RELATIONS.items()),
    *(Row(f"S_CMP_{name}_U32", "ab", Unit.UNIFORM, value=v.ucompare, code=code, implied=TO_SCC)
      for name, code in v.SCALAR_RELATIONS.items()),
    Row("S_LOAD_DWORD",    "dm", Unit.SMEM),
    Row("S_LOAD_DWORDX2",  "dm", Unit.SMEM,   64),
    Row("S_LOAD_DWORDX4",  "dm", Unit.SMEM,   128),
    Row("S_LOAD_DWORDX8",  "dm", Unit.SMEM,   256),
    Row("S_LOAD_DWORDX16", "dm", Unit.SMEM,   512),
    # memory of lanes
    Row("DS_READ_B32",   "dm", Unit.SHARED),
    Row("DS_READ_B64",   "dm", Unit.SHARED,   64),
    Row("DS_READ_B128",  "dm", Unit.SHARED,   128),
    Row("DS_WRITE_B32",  "ma", Unit.SHARED),
    Row("DS_WRITE_B64",  "ma", Unit.SHARED,   64),
    Row("DS_WRITE_B128", "ma", Unit.SHARED,   128),
    Row("GLOBAL_LOAD_DWORD",    "dm", Unit.GLOBAL),
    Row("GLOBAL_LOAD_DWORDX2",  "dm", Unit.GLOBAL, 64),
    Row("GLOBAL_LOAD_DWORDX4",  "dm", Unit.GLOBAL, 128),
    Row("GLOBAL_STORE_DWORD",   "ma", Unit.GLOBAL),
    Row("GLOBAL_STORE_DWORDX2", "ma", Unit.GLOBAL, 64),
    Row("GLOBAL_STORE_DWORDX4", "ma", Unit.GLOBAL, 128),
    # control
    Row("S_BRANCH",       "l", Unit.CONTROL),
    Row("S_CBRANCH_SCC0", "l", Unit.CONTROL,  condition=Predicate(SCC.index, negated=True)),
    Row("S_CBRANCH_SCC1", "l", Unit.CONTROL,  condition=SCC),
    Row("S_CBRANCH_VCCZ", "l", Unit.CONTROL,  condition=Predicate(VCC.index, negated=True, whole=True)),
    Row("S_CBRANCH_VCCNZ", "l", Unit.CONTROL, condition=Predicate(VCC.index, whole=True)),
    Row("S_BARRIER",      "",  Unit.BARRIER),
    Row("S_WAITCNT",      "nn", Unit.CONTROL),
    Row("S_NOP",          "n", Unit.CONTROL),
    Row("S_ENDPGM",       "",  Unit.CONTROL),
)
# fmt: on

TABLE = {row.mnemonic: row for row in ROWS}


def memory_of(unit: Unit) -> Unit:
    """Return the unit class whose stores write the memory that an instruction of this one reads."""
    return _READERS.get(unit, unit)
