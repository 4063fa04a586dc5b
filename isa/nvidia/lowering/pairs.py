"""What texts of instructions on pairs of singles say of their sources, as modifiers (isa.nvidia.rows.half).

`R6.F32x2.HI_LO` is a pair, `.LO_HI` one whose halves change places, `.NP` and `.PN` behind either one whose upper or
lower half is negated; `R6.F32` and a number are one single for both halves. Of halves `R0.H1` is the upper one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from isa.nvidia.lowering.syntax import Number, Operand, Register, Statement

_PAIR, _SINGLE, _UPPER = "F32x2", "F32", "H1"
_ORDERS = {"HI_LO": (), "LO_HI": ("SWAP",)}
_SIGNS = {"NP": ("HIGH",), "PN": ("LOW",), "NN": ("LOW", "HIGH")}


def of_pairs(statement: Statement) -> Statement:
    """Return FADD2, FMUL2 or FFMA2 with plain sources; one that says something else is none of the table's."""
    target, *sources = statement.operands
    said = [_said(one) for one in sources]
    if None in said:
        return replace(statement, modifiers=(*statement.modifiers, _PAIR))
    letters = "abc"[: len(sources)]
    singles = "".join(letter for letter, one in zip(letters, sources, strict=False) if _is_single(one))
    marks = [f"{letter}_{name}" for letter, names in zip(letters, said, strict=False) for name in names or ()]
    modifiers = (*filter(None, (singles,)), *statement.modifiers, *marks)
    return replace(statement, modifiers=modifiers, operands=(target, *map(_plain, sources)))


def of_halves(statement: Statement) -> Statement:
    """Return FHADD or FHFMA whose halves are plain registers."""
    target, *halves, last = statement.operands
    if not all(isinstance(one, Register) and one.part in ("", _UPPER) and not one.absolute for one in halves):
        return statement
    marks = [f"{letter}_{name}" for letter, one in zip("ab", halves, strict=False) for name in _of_half(one)]
    operands = (target, *map(_plain, halves), last)
    return replace(statement, modifiers=(*statement.modifiers, *marks), operands=operands)


def _of_half(one: Operand) -> Iterator[str]:
    if isinstance(one, Register) and one.part:
        yield "SWAP"
    if isinstance(one, Register) and one.negated:
        yield "LOW"


def _is_single(one: Operand) -> bool:
    """Tell whether a source is one single for both halves."""
    return isinstance(one, Number) or (isinstance(one, Register) and one.part == _SINGLE)


def _said(one: Operand) -> tuple[str, ...] | None:
    """Return what a text says of a source; None if that is not known."""
    if not isinstance(one, Register):
        return () if isinstance(one, Number) else None
    kind, order, signs = [*one.part.split("."), "", "", ""][:3]
    if _is_single(one):
        order = "HI_LO"
    elif kind != _PAIR:
        return None
    if order not in _ORDERS or signs not in ("", *_SIGNS):
        return None
    negated = {*_SIGNS.get(signs, ())} ^ ({"LOW", "HIGH"} if one.negated else set())
    return (*_ORDERS[order], *(("ABS",) if one.absolute else ()), *sorted(negated))


def _plain(one: Operand) -> Operand:
    """Return a source without what is said of it."""
    return replace(one, part="", negated=False, absolute=False) if isinstance(one, Register) else one
