"""Rows of GCN. Shifts take their count modulo 32, as funnels do."""

from __future__ import annotations

from dataclasses import replace

from isa.operands.operand import SCC, VCC, Predicate
from isa.row import Flow, Gcn, Kind, Row, Unit
from isa.values import semantics as v

TO_VCC, TO_SCC, FROM_VCC = (("P", VCC),), (("P", SCC),), (("Q", VCC),)

# fmt: off
_VECTOR = (
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
    Row("V_CVT_I32_F32", "da", Unit.CONVERT,  32,   0,    v.single_to_int, kind=Kind.REAL),
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
    *(Row(f"V_CMP_{name}_F32", "ab", Unit.COMPARE, value=v.fcompare, code=code, implied=TO_VCC, kind=Kind.REAL)
      for name, code in v.ORDERED_RELATIONS.items()),
)
_SCALAR = (
    Row("S_MOV_B32",  "da",   Unit.UNIFORM,   32,   0,    v.mov),
    Row("S_ADD_U32",  "dab",  Unit.UNIFORM,   32,   0,    v.iadd, spoils_scc=True),
    Row("S_SUB_U32",  "dab",  Unit.UNIFORM,   32,   0,    v.isub, spoils_scc=True),
    Row("S_MUL_I32",  "dab",  Unit.UNIFORM,   32,   0,    v.imul),
    Row("S_LSHL_B32", "dcb",  Unit.UNIFORM,   32,   0,    v.funnel_left, spoils_scc=True),
    Row("S_LSHR_B32", "dab",  Unit.UNIFORM,   32,   0,    v.funnel_right, spoils_scc=True),
    Row("S_AND_B32",  "dab",  Unit.UNIFORM,   32,   0,    v.lop_and, spoils_scc=True),
    Row("S_OR_B32",   "dab",  Unit.UNIFORM,   32,   0,    v.lop_or, spoils_scc=True),
    *(Row(f"S_CMP_{name}_I32", "ab", Unit.UNIFORM, value=v.icompare, code=code, implied=TO_SCC)
      for name, code in v.SCALAR_RELATIONS.items()),
    *(Row(f"S_CMP_{name}_U32", "ab", Unit.UNIFORM, value=v.ucompare, code=code, implied=TO_SCC)
      for name, code in v.SCALAR_RELATIONS.items()),
    Row("S_LOAD_DWORD",    "dm", Unit.SMEM),
    Row("S_LOAD_DWORDX2",  "dm", Unit.SMEM,   64),
    Row("S_LOAD_DWORDX4",  "dm", Unit.SMEM,   128),
    Row("S_LOAD_DWORDX8",  "dm", Unit.SMEM,   256),
    Row("S_LOAD_DWORDX16", "dm", Unit.SMEM,   512),
)
_MEMORY = (
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
)
_CONTROL = (
    Row("S_BRANCH",       "l", Unit.CONTROL, flow=Flow.BRANCH),
    Row("S_CBRANCH_SCC0", "l", Unit.CONTROL,  condition=Predicate(SCC.index, negated=True), flow=Flow.BRANCH),
    Row("S_CBRANCH_SCC1", "l", Unit.CONTROL,  condition=SCC, flow=Flow.BRANCH),
    Row("S_CBRANCH_VCCZ", "l", Unit.CONTROL,  condition=Predicate(VCC.index, negated=True, whole=True),
        flow=Flow.BRANCH),
    Row("S_CBRANCH_VCCNZ", "l", Unit.CONTROL, condition=Predicate(VCC.index, whole=True), flow=Flow.BRANCH),
    Row("S_BARRIER",      "",  Unit.BARRIER),
    Row("S_WAITCNT",      "nn", Unit.CONTROL, flow=Flow.AWAIT, most=63),
    Row("S_NOP",          "n", Unit.CONTROL, most=15),
    Row("S_ENDPGM",       "",  Unit.CONTROL, flow=Flow.EXIT),
)
# fmt: on
_PARTS = (Gcn.VECTOR, _VECTOR), (Gcn.SCALAR, _SCALAR), (Gcn.MEMORY, _MEMORY), (Gcn.SCALAR, _CONTROL)
ROWS = tuple(replace(row, gcn=part) for part, rows in _PARTS for row in rows)
