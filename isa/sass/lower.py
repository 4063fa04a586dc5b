"""From the text of machine code to instructions of the table.

The table says which operands a row has; a text may leave out those that say nothing. Instructions that the table does
not have stop the load, all of them in one message.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from types import MappingProxyType

from isa.errors import UserError
from isa.instruction import PREDICATES_READ, PREDICATES_WRITTEN, Instruction
from isa.operand import (
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
from isa.origin import Origin
from isa.program import Program
from isa.row import GLOBAL_UNITS, HALF_UNITS, Row, Unit
from isa.rows.family import Family, of_base
from isa.sass import branch, numbers, spelling, syntax, system
from isa.sass.dump import Encoded, Section
from isa.table import BY_BASE, TABLE, machine_row

FALSE = Predicate(PT.index, negated=True)
HALVES = ("", "H0_H0", "H1_H1", "H1_H0", "H0_NH1")  # parts of a source that isa.operand_change knows
_SPECIALS = {
    "SRZ": "ZERO", "SR_CgaCtaId": "ZERO", "SR_LMEMHIOFF": "ZERO", "SR_VIRTUALSMID": "SMID", "SR_EQMASK": "LANEMASK_EQ",
    "SR_LTMASK": "LANEMASK_LT", "SR_LEMASK": "LANEMASK_LE", "SR_GTMASK": "LANEMASK_GT", "SR_GEMASK": "LANEMASK_GE",
}  # fmt: skip
_MOST_NAMED = 8  # kinds of refused instructions in one message


class LoweringError(UserError):
    """Machine code with instructions that the table does not have."""


class UnknownError(ValueError):
    """One instruction that the table does not have, or an operand that its row does not take."""


@dataclass(frozen=True, slots=True)
class Form:
    """A row, and the operands of a text by its form; a `Label` stands for the target of a branch."""

    row: Row
    operands: tuple[Operand, ...]
    guard: Predicate


def program(
    section: Section,
    places: Mapping[int, int],
    *,
    function: str = "",
    externals: Sequence[str] = (),
    addresses: Mapping[int, str] = MappingProxyType({}),
    grid_word: str = "",
    registers: int,
    shared: int,
    reserved: int = 0,
    local: int,
) -> Program:
    """Return the program of a section of machine code.

    `places` are the byte addresses in global memory at which constant banks lie, for LDC; `function` is the name in
    messages; `externals` are the functions of the system that the file calls, `addresses` what constant bank 4 has the
    addresses of, and `grid_word` is the constant that a cooperative launch fills; the others are the resources of a
    thread or block, in registers and bytes, `reserved` those of the shared bytes that are the system's. Calls by which
    a program stops become traps. Raises LoweringError, which lists what the table does not have.
    """
    instructions, unknown = list[Instruction](), list[tuple[Encoded, str]]()
    written = section.instructions
    grid = system.of_grid(section, grid_word)
    section, stops, refused = system.calls(section, externals, addresses)
    for encoded in section.instructions:
        try:
            instructions.append(instruction(encoded, places))
        except UnknownError as error:
            unknown.append((encoded, str(error)))
    labels = branch.labels(section, instructions)
    if not unknown and not refused:
        unknown = [(section.instructions[pc], "a call of other code") for pc in branch.missing(instructions, labels)]
    unknown += refused + grid
    if unknown:
        raise LoweringError(_refusal(function, unknown))
    known = MappingProxyType(dict(branch.known_targets(section)))
    code, named = tuple(instructions), MappingProxyType(dict(labels))
    origins = [_origin(function, one) for one in written]
    for pc, name in stops.items():
        origins[pc] = replace(origins[pc], text=system.named(written[pc].text, name))
    return Program(
        code, named, shared, local, registers, tuple(origins), known, independent=True, reserved_bytes=reserved
    )


def _origin(function: str, encoded: Encoded) -> Origin:
    """Return where an instruction comes from."""
    source = encoded.source
    return Origin(function, encoded.offset, encoded.text, source.file, source.line, source.inlined)


def instruction(encoded: Encoded, places: Mapping[int, int]) -> Instruction:
    """Return one instruction with its control code; raises UnknownError."""
    form = lowered(branch.absolute(encoded))
    of_bank = form.row.unit is Unit.CONSTANT
    operands = tuple(_placed(o, places) for o in form.operands) if of_bank else form.operands
    if "NAN" in encoded.text and encoded.low:
        operands = tuple(numbers.with_digits(o, encoded) for o in operands)
    control = encoded.control
    if form.row.mnemonic.startswith("DEPBAR"):
        control = replace(control, waits=control.waits | spelling.awaited(encoded.text))
    return Instruction(form.row, operands, form.guard, 0, control)


@lru_cache(maxsize=1 << 16)
def lowered(text: str) -> Form:
    """Return the row and operands of an instruction's text; raises UnknownError."""
    try:
        statement = spelling.spelled(syntax.parse(text))
    except ValueError as error:
        raise UnknownError(str(error)) from None
    mnemonic = mnemonic_of(statement)
    row = machine_row(mnemonic) or TABLE.get(mnemonic)
    if row is None:
        raise UnknownError(mnemonic)
    tokens = _joined(statement.operands, row)
    given = _matched(mnemonic, row, tokens)
    return _shortest(mnemonic, Form(row, given, _guard(statement)))


def _guard(statement: syntax.Statement) -> Predicate:
    """Return the guard; that of BRA.U.ANY is the warp's: all lanes go if it holds in any."""
    guard = _predicate(statement.guard) if statement.guard else PT
    if "ANY" not in statement.modifiers or not statement.mnemonic.startswith("BRA"):
        return guard
    if guard.negated:
        raise UnknownError("BRA.U.ANY where a predicate does not hold")
    return replace(guard, whole=guard != PT)


def mnemonic_of(statement: syntax.Statement) -> str:
    """Return the mnemonic with its modifiers; a part of an operand that is no half, such as B1, is one of these."""
    parts = [o.part for o in statement.operands if isinstance(o, syntax.Register | syntax.Constant)]
    own = [part for part in parts if part not in HALVES]
    return ".".join((statement.mnemonic, *statement.modifiers, *own))


def _joined(operands: Sequence[syntax.Operand], row: Row) -> tuple[syntax.Operand | Immediate, ...]:
    """Return the operands; two halves that are numbers become one immediate, the first in the upper half."""
    if row.unit not in HALF_UNITS:
        return tuple(operands)
    found = list[syntax.Operand | Immediate]()
    for one in operands:
        last = found[-1] if found else None
        if isinstance(one, syntax.Number) and isinstance(last, syntax.Number):
            found[-1] = Immediate(numbers.half(last, row) << 16 | numbers.half(one, row), "int")
        else:
            found.append(one)
    return tuple(found)


def _matched(mnemonic: str, row: Row, tokens: Sequence[syntax.Operand | Immediate]) -> tuple[Operand, ...]:
    """Return the operands by the letters of the row's form, those that the text leaves out included."""
    family = _family(mnemonic)
    optional, falsely = (family.optional, family.falsely) if family else ("", "")
    left, found = list(tokens), list[Operand]()
    for place, (letter, needed) in enumerate(_needed(row.form, optional)):
        if not left and place >= len(row.form) - row.optional:
            break
        if letter in optional and (len(left) <= needed or not _suits(letter, left[0])):
            found.append(_absent(letter, falsely))
        elif not left:
            raise UnknownError(f"{mnemonic} with {len(tokens)} operands")
        else:
            found.append(_operand(letter, left.pop(0), row, mnemonic))
    if left:
        raise UnknownError(f"{mnemonic} with {len(tokens)} operands")
    return tuple(found)


@cache
def _family(mnemonic: str) -> Family | None:
    return of_base(BY_BASE, mnemonic)


@cache
def _needed(form: str, optional: str) -> tuple[tuple[str, int], ...]:
    """Return each letter of a form, with how many operands a text has from there on at least."""
    return tuple((x, sum(other not in optional for other in form[place:])) for place, x in enumerate(form))


def _suits(letter: str, token: syntax.Operand | Immediate) -> bool:
    """Tell whether a token is of the kind of a letter, a predicate or not."""
    is_predicate = isinstance(token, syntax.Register) and token.bank in ("P", "UP")
    return is_predicate == (letter in PREDICATES_READ + PREDICATES_WRITTEN)


def _absent(letter: str, falsely: str) -> Operand:
    if letter in PREDICATES_READ + PREDICATES_WRITTEN:
        return FALSE if letter in falsely else PT
    return Immediate(0, "int") if letter in "nN" else RZ


def _shortest(mnemonic: str, form: Form) -> Form:
    """Return the listing's row in place of a family's, if there is one without the operands that say nothing."""
    family, short = _family(mnemonic), _short(mnemonic)
    if family is None or short is None:
        return form
    pairs = list(zip(form.row.form, form.operands, strict=False))
    kept = [(x, o) for x, o in pairs if x not in family.optional or o != _absent(x, family.falsely)]
    letters = "".join(x for x, _ in kept)
    if not short.form.startswith(letters) or len(letters) < len(short.form) - short.optional:
        return form
    return Form(short, tuple(o for _, o in kept), form.guard)


@cache
def _short(mnemonic: str) -> Row | None:
    family = _family(mnemonic)
    return TABLE.get(family.short(mnemonic)) if family else None


@lru_cache(syntax.DISTINCT)
def _operand(letter: str, token: syntax.Operand | Immediate, row: Row, mnemonic: str) -> Operand:
    """Return the operand that a token is, for a letter of the form; raises UnknownError."""
    found = token if isinstance(token, Immediate) else _READERS[letter](token, row, letter)
    if found is None:
        shown = token if isinstance(token, Immediate) else syntax.show_operand(token)
        raise UnknownError(f"{mnemonic} with {shown} as an operand")
    return found


def _source(token: syntax.Operand, row: Row, letter: str) -> Operand | None:
    match token:
        case syntax.Register() if token.bank in ("R", "UR"):
            return _register(token)
        case syntax.Constant() if isinstance(token.bank, int) and token.base is None:
            part = token.part if token.part in HALVES else ""
            return BankConstant(token.bank, token.offset, token.negated, token.absolute, token.inverted, part)
        case syntax.Number():
            return numbers.immediate(token, row, 32 * row.words_of(letter))
        case syntax.Target():  # of LEPC
            return Label(token.label)
    return None


def _register(token: syntax.Register) -> Register:
    index = token.number + FIRST_SCALAR if token.bank == "UR" else token.number
    index = RZ.index if token.number == syntax.ZERO[token.bank] else index
    part = token.part if token.part in HALVES else ""
    return Register(index, token.negated, token.reused, absolute=token.absolute, inverted=token.inverted, part=part)


def _written(token: syntax.Operand, _row: Row, _letter: str) -> Operand | None:
    return _register(token) if isinstance(token, syntax.Register) and token.bank in ("R", "UR") else None


def _predicate(token: syntax.Register) -> Predicate:
    index = token.number + FIRST_UNIFORM if token.bank == "UP" else token.number
    return Predicate(PT.index if token.number == syntax.ZERO[token.bank] else index, token.inverted)


def _truth(token: syntax.Operand, _row: Row, _letter: str) -> Operand | None:
    return _predicate(token) if isinstance(token, syntax.Register) and token.bank in ("P", "UP") else None


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
            return _sum(token, row)
    return None


def _of_bank(token: syntax.Constant, bank: int) -> Address:
    """Return the address of a constant before its bank is placed: its offset there."""
    base = _register(token.base) if token.base else RZ
    own, uniform = (RZ, base) if base.index >= FIRST_SCALAR else (base, None)
    return Address(own, token.offset, uniform, bank=BankConstant(bank, token.offset))


def _sum(token: syntax.Address, row: Row) -> Address:
    wide = row.unit in GLOBAL_UNITS and "E" in row.mnemonic.split(".")
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
    | {"o": _written, "t": _handle}
    | {"s": _special, "l": _target, "B": _convergence, "m": _address, "k": _number_or_register, "y": _dependency}
)


def _placed(operand: Operand, places: Mapping[int, int]) -> Operand:
    """Return an operand whose constant bank has its place in global memory."""
    if isinstance(operand, Address) and operand.bank is not None:
        place = places.get(operand.bank.bank)
        if place is None:
            raise UnknownError(f"constant bank {operand.bank.bank:#x}, which the file does not have")
        return replace(operand, offset=place + operand.bank.offset)
    return operand


def _refusal(function: str, unknown: Sequence[tuple[Encoded, str]]) -> str:
    """Return what can't be executed: each kind with its first place, and how often it occurs."""
    by_kind: dict[str, list[Encoded]] = {}
    for encoded, kind in unknown:
        by_kind.setdefault(kind, []).append(encoded)
    shown = [
        f"{kind} ({len(where)} time{'s' * (len(where) > 1)}, first {_origin(function, where[0])})"
        for kind, where in list(by_kind.items())[:_MOST_NAMED]
    ]
    more = f"; and {len(by_kind) - _MOST_NAMED} more kinds" if len(by_kind) > _MOST_NAMED else ""
    return f"instructions that are not executed here: {'; '.join(shown)}{more}"
