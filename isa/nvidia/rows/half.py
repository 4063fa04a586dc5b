"""Families of instructions on two halves in a word."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from isa.family import REAL, Family
from isa.nvidia.rows.floating import AND, COMPARE, FLUSH
from isa.row import Unit
from isa.values.floating import half

_KIND = {"BF16_V2": half.BFLOAT}
_EXTREME = {**_KIND, "NAN": half.NAN_WINS}
_XOR_SIGN = {"XORSIGN": {"code": half.XOR_SIGN, "drops_signs": True}}
_ARITHMETIC = {**FLUSH, **_KIND, "SAT": half.SATURATE, "RELU": half.RELU}

_SOURCES: Mapping[str, Any] = {"signs": REAL, "halves": "abc"}
_ANY: Mapping[str, Any] = {**_SOURCES, "singles": "abc"}

# fmt: off
FAMILIES = (
    Family("HADD2", "dab", Unit.FP16, half.add, modifiers=_ARITHMETIC, fields={"flops": 2}, **_ANY),
    Family("HADD2.F32", "dab", Unit.FP16, half.add_as_single, modifiers={"SAT": half.SATURATE}, **_SOURCES),
    Family("HMUL2", "dab", Unit.FP16, half.multiply, modifiers=_ARITHMETIC, fields={"flops": 2}, **_ANY),
    Family("HFMA2", "dabc", Unit.FP16, half.multiply_add, modifiers=_ARITHMETIC, fields={"flops": 4}, **_ANY),
    Family("HFMA2.MMA", "dabc", Unit.FP16M, half.multiply_add, modifiers=_ARITHMETIC, fields={"flops": 4},
           **_SOURCES),
    Family("HMNMX2", "dabQ", Unit.FP16, half.extreme, modifiers={**FLUSH, **_EXTREME, **_XOR_SIGN},
           **_SOURCES),
    Family("VHMNMX", "dabcQ", Unit.FP16, half.extreme_of_three, modifiers=_EXTREME, **_SOURCES),
    Family("HSETP2", "PpabQ", Unit.FP16, None, half.comparison, "pQ", "", {**COMPARE, **_KIND}, AND, **_ANY),
    Family("HSET2", "dabQ", Unit.FP16, half.comparison_as_number, None, "Q", "",
           {**COMPARE, **_KIND, "BF": half.AS_NUMBER}, **_ANY),
)
# fmt: on
