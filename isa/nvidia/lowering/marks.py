"""Whether a row takes an operand as its text has it: signs, bars, `~`, parts such as H0_H0, uniform registers.

The families of the table say what their operands take (isa.family); a row without a family takes plain ones.
"""

from __future__ import annotations

from isa.family import Family
from isa.instruction import PREDICATES_READ, PREDICATES_WRITTEN
from isa.nvidia.lowering import syntax
from isa.operands.operand_change import PARTS
from isa.row import ASYNCHRONOUS, Row, Unit
from isa.table import machine_family

_PLAIN = Family("", "", Unit.CONTROL)
_SINGLE, _NO_SINGLE = "F32", frozenset({"FTZ", "BF16_V2"})  # with these no compiler was seen to write it
_PREDICATES = ("P", "UP")
_WRITTEN = "dDo" + PREDICATES_WRITTEN
_WIDTHS, _SCALES = ("", "64", "U32"), ("", "X4", "X8", "X16")  # parts of the register of an address


def takes(row: Row, mnemonic: str, letter: str, token: syntax.Operand) -> bool:
    """Tell whether the row of a mnemonic takes an operand, for a letter of its form."""
    family = machine_family(mnemonic) or _PLAIN
    match token:
        case syntax.Register():
            return _is_marked(token, family, letter, mnemonic) and _is_of_bank(token, family, letter)
        case syntax.Constant() if letter == "m":
            return not _marks(token) and not token.part and _is_plain(token.base)
        case syntax.Constant():
            return _is_marked(token, family, letter, mnemonic)
        case syntax.Address():
            return _is_address(token, letter == "m" and is_wide(row), row.unit not in ASYNCHRONOUS)
    return True


def is_wide(row: Row) -> bool:
    """Tell whether addresses of a row have 64 bits."""
    return row.words_of("m") == 2


def _is_marked(token: syntax.Register | syntax.Constant, family: Family, letter: str, mnemonic: str) -> bool:
    """Tell whether an operand has the marks and the part that its letter takes; a predicate that is read may have !."""
    if isinstance(token, syntax.Register) and token.bank in _PREDICATES:
        return not token.part and _marks(token) <= set("~" if letter in PREDICATES_READ else "")
    part = not token.part or _is_half(token.part, family, letter, mnemonic)
    return _marks(token) <= set(family.signs_of(letter)) and (part or family.part(token.part, letter) is not None)


def _is_half(part: str, family: Family, letter: str, mnemonic: str) -> bool:
    """Tell whether a part is of halves and declared for a letter."""
    if part == _SINGLE:
        return letter in family.singles and _NO_SINGLE.isdisjoint(mnemonic.split("."))
    return letter in family.halves and part in PARTS


def _marks(token: syntax.Register | syntax.Constant) -> set[str]:
    """Return what stands before and around an operand; `!` of a predicate counts as `~`."""
    marks = {"-": token.negated, "|": token.absolute, "~": token.inverted}
    return {mark for mark, there in marks.items() if there}


def _is_of_bank(token: syntax.Register, family: Family, letter: str) -> bool:
    """Tell whether a register is uniform where it must be, and only there if it is written."""
    is_uniform = token.bank in ("UR", "UP")
    if letter in family.shared or token.bank == "B":
        return is_uniform or token.bank == "B"
    return not is_uniform or letter not in _WRITTEN or family.unit is Unit.CONSTANT  # LDC stands for an indexed ULDC


def _is_address(token: syntax.Address, wide: bool, described: bool) -> bool:
    """Tell whether registers of an address have no more than a width or a scale; only global ones are described."""
    base = token.base
    based = base is None or (not _marks(base) and base.part in (_WIDTHS if wide else _SCALES))
    named = token.descriptor is None or (wide and described)
    return based and named and _is_plain(token.uniform) and _is_plain(token.descriptor)


def _is_plain(token: syntax.Register | None) -> bool:
    return token is None or not (_marks(token) or token.part)
