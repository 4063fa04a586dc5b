"""Families of single and double arithmetic, comparisons and special functions."""

from __future__ import annotations

from isa.family import REAL, Family, of_warp
from isa.row import Kind, Unit
from isa.values import comparison
from isa.values import semantics as v
from isa.values.floating import double, half, single, special_function

ROUND = {"RN": 0, "RM": single.DOWN, "RP": single.UP, "RZ": single.ZERO}
FLUSH = {"FTZ": comparison.FLUSH}
_SINGLE = {**ROUND, **FLUSH, "SAT": single.SATURATE}
_SCALES = {"D2": -1, "D4": -2, "D8": -3, "M2": 1, "M4": 2, "M8": 3}
COMPARE = {
    **comparison.RELATIONS,
    **comparison.UNORDERED_RELATIONS,
    "AND": 0,
    "OR": comparison.OR,
    "XOR": comparison.XOR,
    **FLUSH,
}
AND = frozenset({"AND"})
_FUNCTIONS = {
    "RCP": special_function.reciprocal,
    "RSQ": special_function.reciprocal_root,
    "SQRT": special_function.root,
    "LG2": special_function.logarithm,
    "EX2": special_function.exponential,
    "SIN": special_function.sine,
    "COS": special_function.cosine,
    "TANH": special_function.tangent,
}
_UPPER_FUNCTIONS = {
    "RCP64H": special_function.reciprocal_upper,
    "RSQ64H": special_function.reciprocal_root_upper,
}
_HALF_FUNCTIONS = {"EX2": special_function.small_exponential, "TANH": special_function.small_tangent}

# fmt: off
_ALIKE = (  # of threads and, from sm_100 on, of the warp
    Family("FADD", "dab", Unit.FP32, single.add, modifiers=_SINGLE, fields={"flops": 1}, signs=REAL),
    Family("FMUL", "dab", Unit.FMUL, single.multiply, fields={"flops": 1}, signs=REAL, modifiers={
        **_SINGLE,
        **{name: {"result": single.multiply_scaled, "code": single.scale_code(power)}
           for name, power in _SCALES.items()},
    }),
    Family("FFMA", "dabc", Unit.FP32, single.multiply_add, modifiers=_SINGLE, fields={"flops": 2}, signs=REAL),
    Family("FMNMX", "dabQ", Unit.MINMAX, single.minimum,
           modifiers={**FLUSH, "NAN": single.NAN_WINS, "XORSIGN": {"code": single.XOR_SIGN, "drops_signs": True}},
           signs=REAL),
    Family("FSEL", "dabQ", Unit.MOVE, fields={"value": v.sel}, signs=REAL),
    Family("FSETP", "PpabQ", Unit.COMPARE, None, comparison.singles, "pQ", "", COMPARE, AND, signs=REAL),
    Family("FSET", "dabQ", Unit.COMPARE, comparison.singles_as_mask, None, "Q", "", COMPARE, signs=REAL),
    Family("FSET.BF", "dabQ", Unit.COMPARE, comparison.singles_as_number, None, "Q", "", COMPARE, signs=REAL),
)
FAMILIES = (
    *_ALIKE,
    *map(of_warp, _ALIKE),
    Family("FMNMX3", "dabcQ", Unit.MINMAX, single.minimum_of_three, modifiers={**FLUSH, "NAN": single.NAN_WINS},
           signs=REAL),
    Family("FCHK", "Pab", Unit.SFU, None, comparison.hard_to_divide, modifiers={"DIVIDE": 0}, signs=REAL),
    Family("DADD", "dab", Unit.DP, double.add, modifiers=ROUND, fields={"width": 64, "flops": 1}, signs=REAL),
    Family("DMUL", "dab", Unit.DP, double.multiply, modifiers=ROUND, fields={"width": 64, "flops": 1}, signs=REAL),
    Family("DFMA", "dabc", Unit.DP, double.fused, modifiers=ROUND, fields={"width": 64, "flops": 2}, signs=REAL),
    Family("DSETP", "PpabQ", Unit.DP, None, comparison.doubles, "pQ", "", COMPARE, fields={"registers": "ab2"},
           signs=REAL),
    *(Family(f"DSETP.{name}.AND", "PpabQ", Unit.DP, None, comparison.extreme_of_doubles, "pQ",
             fields={"registers": "ab2", "code": code}, signs=REAL) for name, code in (("MIN", v.LT), ("MAX", v.GT))),
    *(Family(f"MUFU.{name}", "da", Unit.SFU, function, alone=True, signs=REAL)
      for name, function in _FUNCTIONS.items()),
    *(Family(f"MUFU.{name}", "da", Unit.SFU, function, alone=True, signs=REAL, fields={"kind": Kind.UPPER})
      for name, function in _UPPER_FUNCTIONS.items()),
    *(Family(f"MUFU.{name}.{kind}", "da", Unit.SFU, function, parts={"a": {"H0": 0, "H1": half.UPPER}},
             fields={"code": code, "kind": Kind.SMALL}, signs=REAL)
      for name, function in _HALF_FUNCTIONS.items() for kind, code in (("F16", 0), ("BF16", half.BFLOAT))),
)
# fmt: on
