"""Families of instructions on two halves in a word, on pairs of singles, and on halves with singles.

sm_100 and later have the last two. Their texts say much of each source; isa.nvidia.lowering.pairs makes modifiers of
it. Sources that are one single for both halves of a pair are in the base, as they have one register.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import Any

from isa.family import REAL, Family
from isa.nvidia.rows.floating import AND, COMPARE, FLUSH, ROUND
from isa.row import Kind, Unit
from isa.values.floating import half, pairs, single

_KIND = {"BF16_V2": half.BFLOAT}
_EXTREME = {**_KIND, "NAN": half.NAN_WINS}
_XOR_SIGN = {"XORSIGN": {"code": half.XOR_SIGN, "drops_signs": True}}
_ARITHMETIC = {**FLUSH, **_KIND, "SAT": half.SATURATE, "RELU": half.RELU}

_SOURCES: Mapping[str, Any] = {"signs": REAL, "halves": "abc"}
_ANY: Mapping[str, Any] = {**_SOURCES, "singles": "abc"}

_PLACES = {"a": pairs.A, "b": pairs.B, "c": pairs.C}
_MARKS = {"SWAP": pairs.SWAP, "ABS": pairs.ABS, "LOW": pairs.LOW, "HIGH": pairs.HIGH}
_CODES = {f"{letter}_{name}": code << place for letter, place in _PLACES.items() for name, code in _MARKS.items()}


def _of_pairs(base: str, form: str, result: Callable[..., Any], flops: int) -> Iterator[Family]:
    """Yield a family for each choice of sources that are one single."""
    for singles in ("".join(some) for some in product(*(("", letter) for letter in form[1:]))):
        wide = "".join(letter for letter in form if letter not in singles)
        code = sum(pairs.ONCE << _PLACES[letter] for letter in singles)
        yield Family(
            ".".join(filter(None, (base, singles))),
            form,
            Unit.FP32,
            result,
            modifiers={**ROUND, **FLUSH, **_CODES},
            fields={"flops": flops, "registers": f"{wide}2", "code": code},
            alone=True,
        )


def _of_halves(base: str, form: str, result: Callable[..., Any], flops: int) -> Family:
    """Return a family whose last source is a single, which may have signs; the others are halves."""
    modifiers = {**ROUND, "SAT": single.SATURATE, "BF16": pairs.BFLOAT, **_CODES}
    fields = {"flops": flops, "kind": Kind.REAL}
    return Family(base, form, Unit.FP32, result, modifiers=modifiers, fields=fields, alone=True, signs={form[-1]: "-|"})


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
    *_of_pairs("FADD2", "dab", pairs.add, 2),
    *_of_pairs("FMUL2", "dab", pairs.multiply, 2),
    *_of_pairs("FFMA2", "dabc", pairs.multiply_add, 4),
    _of_halves("FHADD", "dab", pairs.half_add, 1),
    _of_halves("FHFMA", "dabc", pairs.half_multiply_add, 2),
)
# fmt: on
