"""Families of instructions on two halves in a word."""

from __future__ import annotations

from isa.row import Unit
from isa.rows.family import Family
from isa.rows.floating import AND, COMPARE, FLUSH
from isa.values import half

_KIND = {"BF16_V2": half.BFLOAT}
_ARITHMETIC = {**FLUSH, **_KIND, "SAT": half.SATURATE, "RELU": half.RELU}

# fmt: off
FAMILIES = (
    Family("HADD2", "dab", Unit.FP16, half.add, modifiers=_ARITHMETIC, fields={"flops": 2}),
    Family("HADD2.F32", "dab", Unit.FP16, half.add_as_single),
    Family("HMUL2", "dab", Unit.FP16, half.multiply, modifiers=_ARITHMETIC, fields={"flops": 2}),
    Family("HFMA2", "dabc", Unit.FP16, half.multiply_add, modifiers=_ARITHMETIC, fields={"flops": 4}),
    Family("HFMA2.MMA", "dabc", Unit.FP16M, half.multiply_add, modifiers=_ARITHMETIC, fields={"flops": 4}),
    Family("HMNMX2", "dabQ", Unit.FP16, half.extreme,
           modifiers={**FLUSH, **_KIND, "NAN": half.NAN_WINS, "XORSIGN": half.XOR_SIGN}),
    Family("HSETP2", "PpabQ", Unit.FP16, None, half.comparison, "pQ", "", {**COMPARE, **_KIND}, AND),
    Family("HSET2", "dabQ", Unit.FP16, half.comparison_as_number, None, "Q", "",
           {**COMPARE, **_KIND, "BF": half.AS_NUMBER}),
)
# fmt: on
