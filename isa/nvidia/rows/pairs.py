"""Families of instructions on pairs of singles, and on halves with singles, which sm_100 and later have.

Their texts say much of each source; isa.nvidia.lowering.pairs makes modifiers of it. Sources that are one single for
both halves are in the base, as they have one register.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

from isa.family import Family
from isa.nvidia.rows.floating import FLUSH, ROUND
from isa.row import Kind, Unit
from isa.values.floating import pairs, single

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


FAMILIES = (
    *_of_pairs("FADD2", "dab", pairs.add, 2),
    *_of_pairs("FMUL2", "dab", pairs.multiply, 2),
    *_of_pairs("FFMA2", "dabc", pairs.multiply_add, 4),
    _of_halves("FHADD", "dab", pairs.half_add, 1),
    _of_halves("FHFMA", "dabc", pairs.half_multiply_add, 2),
)
