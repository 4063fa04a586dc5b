"""From an operand of a text of machine code to that of the instruction table, by the letter of its row's form."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from isa.instruction import PREDICATES_READ, PREDICATES_WRITTEN
from isa.nvidia.lowering import numbers, syntax
from isa.nvidia.lowering.marks import is_wide
from isa.operands.operand import (
    EVERY_SPECIAL,
    FIRST_SCALAR,
    FIRST_UNIFORM,
    PT,
    RZ,
    Address,
    BankConstant,
    Convergence,
    Dependency,
    Immediate,
    Label,
    Operand,
    Predicate,
    Register,
    Special,
)
from isa.operands.operand_change import PARTS
from isa.row import BEHIND, Row, Unit

_SPECIALS = {
    "SRZ": "ZERO", "SR_CgaCtaId": "CLUSTER_RANK", "SR_CgaSize": "ZERO",  # bank 0 has no part for each size of clusters
    "SR_LMEMHIOFF": "ZERO", "SR_VIRTUALSMID": "SMID", "SR_EQMASK": "LANEMASK_EQ",
    "SR_LTMASK": "LANEMASK_LT", "SR_LEMASK": "LANEMASK_LE", "SR_GTMASK": "LANEMASK_GT", "SR_GEMASK": "LANEMASK_GE",
}  # fmt: skip


def read(letter: str, token: syntax.Operand, row: Row) -> Operand | None:
    """Return the operand that a token is, for a letter of the row's form; None for one of another kind."""
    return _READERS[letter](token, row, letter)


def _source(token: syntax.Operand, row: Row, letter: str) -> Operand | None:
    match token:
        case syntax.Register() if token.bank in ("R", "UR"):
            return _register(token)
        case syntax.Constant() if isinstance(token.bank, int) and token.base is None:
            part = token.part if token.part in PARTS else ""
            return BankConstant(token.bank, token.offset, token.negated, token.absolute, token.inverted, part)
        case syntax.Number():
            return numbers.immediate(token, row, 32 * row.words_of(letter))
        case syntax.Target():  # of LEPC
            return Label(token.label)
    return None


def _register(token: syntax.Register) -> Register:
    index = token.number + FIRST_SCALAR if token.bank == "UR" else token.number
    index = RZ.index if token.number == syntax.ZERO[token.bank] else index
    part = token.part if token.part in PARTS else ""
    return Register(index, token.negated, token.reused, absolute=token.absolute, inverted=token.inverted, part=part)


def _written(token: syntax.Operand, _row: Row, _letter: str) -> Operand | None:
    return _register(token) if isinstance(token, syntax.Register) and token.bank in ("R", "UR") else None


def predicate(token: syntax.Register) -> Predicate:
    """Return a predicate of the thread or the warp."""
    index = token.number + FIRST_UNIFORM if token.bank == "UP" else token.number
    return Predicate(PT.index if token.number == syntax.ZERO[token.bank] else index, token.inverted)


def _truth(token: syntax.Operand, _row: Row, _letter: str) -> Operand | None:
    return predicate(token) if isinstance(token, syntax.Register) and token.bank in ("P", "UP") else None


def _number(token: syntax.Operand, _row: Row, _letter: str) -> Operand | None:
    return Immediate(int(token.text, 0), "int") if isinstance(token, syntax.Number) and not token.is_float else None


def _number_or_register(token: syntax.Operand, row: Row, letter: str) -> Operand | None:
    return _number(token, row, letter) or _written(token, row, letter)


def _dependency(token: syntax.Operand, _row: Row, _letter: str) -> Operand | None:
    known = isinstance(token, syntax.Word) and token.text[:2] == "SB" and token.text[2:].isdigit()
    return Dependency(int(token.text[2:])) if known and isinstance(token, syntax.Word) else None


def _special(token: syntax.Operand, _row: Row, _letter: str) -> Operand | None:
    name = token.text if isinstance(token, syntax.Word) else ""
    name = _SPECIALS.get(name, name.removeprefix("SR_"))
    return Special(name) if name in EVERY_SPECIAL else None


def _handle(token: syntax.Operand, row: Row, letter: str) -> Operand | None:
    return None if isinstance(token, syntax.Number) else _source(token, row, letter)


def _target(token: syntax.Operand, _row: Row, _letter: str) -> Operand | None:
    if isinstance(token, syntax.Target):
        return Label(token.label)
    return Label(token.text) if isinstance(token, syntax.Number) else None


def _convergence(token: syntax.Operand, _row: Row, _letter: str) -> Operand | None:
    return Convergence(token.number) if isinstance(token, syntax.Register) and token.bank == "B" else None


def _address(token: syntax.Operand, row: Row, _letter: str) -> Operand | None:
    match token:
        case syntax.Constant() if row.unit is Unit.CONSTANT and isinstance(token.bank, int):
            return _of_bank(token, token.bank)
        case syntax.Address():
            return _sum(token, is_wide(row))
    return None


def _shared_place(token: syntax.Operand, _row: Row, _letter: str) -> Operand | None:
    return _sum(token, wide=False) if isinstance(token, syntax.Address) else None


def _of_bank(token: syntax.Constant, bank: int) -> Address:
    """Return the address of a constant before its bank is placed: its offset there."""
    base = _register(token.base) if token.base else RZ
    own, uniform = (RZ, base) if base.index >= FIRST_SCALAR else (base, None)
    return Address(own, token.offset, uniform, bank=BankConstant(bank, token.offset))


def _sum(token: syntax.Address, wide: bool) -> Address:
    base = _register(replace(token.base, part="")) if token.base else RZ
    part = token.base.part if token.base else ""
    scale = int(part[1:]) if part.startswith("X") else 1
    uniform = _register(replace(token.uniform, part="")) if token.uniform else None
    return Address(
        base,
        token.offset if wide else token.offset & 0xFFFFFFFF,
        None if uniform == RZ else uniform,
        wide=wide,
        pair=wide and part != "U32",
        uniform_pair=wide,
        scale=scale,
    )


Reader = Callable[[syntax.Operand, Row, str], Operand | None]
_READERS: Mapping[str, Reader] = (
    dict.fromkeys("abc", _source)
    | dict.fromkeys("dD", _written)
    | dict.fromkeys(PREDICATES_READ + PREDICATES_WRITTEN, _truth)
    | dict.fromkeys("nN", _number)
    | dict.fromkeys(BEHIND, _written)
    | {"o": _written, "t": _handle, "M": _shared_place}
    | {"s": _special, "l": _target, "B": _convergence, "m": _address, "k": _number_or_register, "y": _dependency}
)
