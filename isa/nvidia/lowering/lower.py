"""From the text of machine code to instructions of the table.

The table says which operands a row has, and what may stand before, around and behind them; a text may leave out those
that say nothing. Instructions that the table does not have stop the load, all of them in one message.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from types import MappingProxyType

from isa.architecture import Architecture, nvidia
from isa.errors import UserError
from isa.instruction import PREDICATES_READ, PREDICATES_WRITTEN, Instruction
from isa.nvidia.file.dump import Encoded, Section
from isa.nvidia.lowering import branch, marks, numbers, opening, operands, spelling, syntax, system
from isa.operands.operand import PT, RZ, Address, Immediate, Operand, Predicate
from isa.program import Program
from isa.reading.origin import Origin
from isa.row import Flow, Kind, Row, Unit
from isa.table import TABLE, machine_family, machine_row

FALSE = Predicate(PT.index, negated=True)
Token = syntax.Operand | Operand  # as the text has it, or what stands for one that it leaves out
_UNSAID = nvidia(0)  # of a text that does not say its architecture
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
    outside: Mapping[int, str] = MappingProxyType({}),
    row: Architecture = _UNSAID,
    registers: int,
    shared: int,
    reserved: int = 0,
    local: int,
) -> Program:
    """Return the program of a section of machine code.

    `places` are the byte addresses in global memory at which constant banks lie, for LDC; `function` is the name in
    messages; `externals` are the functions of the system that the file calls, `addresses` what constant bank 4 has the
    addresses of, and `outside` these functions by the code addresses that stand for them; `row` is that of its
    architecture; the others are the resources of a thread or block, in registers and bytes,
    `reserved` those of the shared bytes that are the system's. Calls of known functions of the system become traps.
    Raises LoweringError, which lists what the table does not have.
    """
    instructions, unknown = list[Instruction](), list[tuple[Encoded, str]]()
    written = section.instructions
    section, stops = system.calls(opening.emptied(section), externals, addresses)
    for encoded in section.instructions:
        try:
            instructions.append(instruction(encoded, places))
        except UnknownError as error:
            unknown.append((encoded, str(error)))
    labels = branch.labels(section, instructions)
    if not unknown:
        unknown = [(section.instructions[pc], "a call of other code") for pc in branch.missing(instructions, labels)]
    if unknown:
        raise LoweringError(_refusal(function, unknown))
    known = MappingProxyType(dict(branch.known_targets(section)))
    code, named = tuple(instructions), MappingProxyType(dict(labels))
    origins = [_origin(function, one) for one in written]
    for pc, name in stops.items():
        origins[pc] = replace(origins[pc], text=system.named(written[pc].text, name))
    return Program(
        code,
        named,
        shared,
        local,
        registers,
        tuple(origins),
        known,
        independent=True,
        reserved_bytes=reserved,
        windows=row.windows,
        outside=MappingProxyType(dict(outside)),
    )


def _origin(function: str, encoded: Encoded) -> Origin:
    """Return where an instruction comes from."""
    source = encoded.source
    return Origin(function, encoded.offset, encoded.text, source.file, source.line, source.inlined)


def instruction(encoded: Encoded, places: Mapping[int, int]) -> Instruction:
    """Return one instruction with its control code; raises UnknownError."""
    form = lowered(branch.absolute(encoded))
    of_bank = form.row.unit is Unit.CONSTANT
    given = tuple(_placed(o, places) for o in form.operands) if of_bank else form.operands
    if "NAN" in encoded.text and encoded.low:
        given = tuple(numbers.with_digits(o, encoded, form.row) for o in given)
    control = encoded.control
    if form.row.mnemonic.startswith("DEPBAR"):
        control = replace(control, waits=control.waits | spelling.awaited(encoded.text))
    return Instruction(form.row, given, form.guard, 0, control)


@lru_cache(maxsize=1 << 16)
def lowered(text: str) -> Form:
    """Return the row and operands of an instruction's text; raises UnknownError."""
    try:
        statement = spelling.spelled(syntax.parse(text))
    except ValueError as error:
        raise UnknownError(str(error)) from None
    mnemonic = ".".join((statement.mnemonic, *statement.modifiers))
    row = _row(mnemonic)
    if row is None:
        raise UnknownError(mnemonic)
    pairs = _matched(mnemonic, row, _joined(statement.operands, row))
    parts = tuple(part for letter, token in pairs if (part := _own_part(mnemonic, letter, token)))
    row = _row(mnemonic, parts) or row
    given = tuple(_operand(letter, token, row, mnemonic) for letter, token in pairs)
    return _shortest(mnemonic, parts, Form(row, given, _guard(statement, row)))


def mnemonic_of(text: str) -> str:
    """Return the name of the row of an instruction's text, as the machine writes it; raises UnknownError."""
    statement = spelling.spelled(syntax.parse(text))
    mnemonic = ".".join((statement.mnemonic, *statement.modifiers))
    row = _row(mnemonic)
    pairs = _matched(mnemonic, row, _joined(statement.operands, row)) if row else ()
    return ".".join((mnemonic, *filter(None, (_own_part(mnemonic, *pair) for pair in pairs))))


def _row(mnemonic: str, parts: tuple[str, ...] = ()) -> Row | None:
    """Return the row of machine code, or the listing's where no family has the mnemonic.

    Rows of GCN are none of these, nor are the listing's textures, which name a buffer.
    """
    row = machine_row(mnemonic, parts)
    listed = None if row or parts else TABLE.get(mnemonic)
    return listed if listed and not listed.is_gcn and listed.unit is not Unit.TEXTURE else row


def _guard(statement: syntax.Statement, row: Row) -> Predicate:
    """Return the guard; that of BRA.U.ANY is the warp's: all lanes go if it holds in any."""
    guard = operands.predicate(statement.guard) if statement.guard else PT
    if row.flow is not Flow.IF_ANY:
        return guard
    if guard.negated:
        raise UnknownError("BRA.U.ANY where a predicate does not hold")
    return replace(guard, whole=guard != PT)


def _joined(operands: Sequence[syntax.Operand], row: Row) -> tuple[Token, ...]:
    """Return the operands; two halves that are numbers become one immediate, the first in the upper half."""
    if row.numbers is not Kind.HALVES:
        return tuple(operands)
    found = list[Token]()
    for one in operands:
        last = found[-1] if found else None
        if isinstance(one, syntax.Number) and isinstance(last, syntax.Number):
            found[-1] = Immediate(numbers.half(last, row) << 16 | numbers.half(one, row), "int")
        else:
            found.append(one)
    return tuple(found)


def _matched(mnemonic: str, row: Row, tokens: Sequence[Token]) -> tuple[tuple[str, Token], ...]:
    """Return the operands with the letters of the row's form, those that the text leaves out included."""
    family = machine_family(mnemonic)
    optional, falsely = (family.optional, family.falsely) if family else ("", "")
    left, found = list(tokens), list[tuple[str, Token]]()
    for place, (letter, needed) in enumerate(_needed(row.form, optional)):
        if not left and place >= len(row.form) - row.optional:
            break
        if letter in optional and (len(left) <= needed or not _suits(letter, left[0])):
            found.append((letter, _absent(letter, falsely)))
        elif not left:
            raise UnknownError(f"{mnemonic} with {len(tokens)} operands")
        else:
            found.append((letter, left.pop(0)))
    if left:
        raise UnknownError(f"{mnemonic} with {len(tokens)} operands")
    return tuple(found)


@cache
def _needed(form: str, optional: str) -> tuple[tuple[str, int], ...]:
    """Return each letter of a form, with how many operands a text has from there on at least."""
    return tuple((x, sum(other not in optional for other in form[place:])) for place, x in enumerate(form))


def _suits(letter: str, token: Token) -> bool:
    """Tell whether a token is of the kind of a letter, a predicate or not."""
    is_predicate = isinstance(token, syntax.Register) and token.bank in ("P", "UP")
    return is_predicate == (letter in PREDICATES_READ + PREDICATES_WRITTEN)


def _absent(letter: str, falsely: str) -> Operand:
    if letter in PREDICATES_READ + PREDICATES_WRITTEN:
        return FALSE if letter in falsely else PT
    return Immediate(0, "int") if letter in "nN" else RZ


def _shortest(mnemonic: str, parts: tuple[str, ...], form: Form) -> Form:
    """Return the listing's row in place of a family's, if there is one without the operands that say nothing."""
    family, short = machine_family(mnemonic), _short(mnemonic)
    if family is None or short is None or parts:
        return form
    pairs = list(zip(form.row.form, form.operands, strict=False))
    kept = [(x, o) for x, o in pairs if x not in family.optional or o != _absent(x, family.falsely)]
    letters = "".join(x for x, _ in kept)
    if not short.form.startswith(letters) or len(letters) < len(short.form) - short.optional:
        return form
    return Form(short, tuple(o for _, o in kept), form.guard)


@cache
def _short(mnemonic: str) -> Row | None:
    family = machine_family(mnemonic)
    return TABLE.get(family.short(mnemonic)) if family else None


@lru_cache(syntax.DISTINCT)
def _operand(letter: str, token: Token, row: Row, mnemonic: str) -> Operand:
    """Return the operand that a token is, for a letter of the form; raises UnknownError."""
    if not isinstance(token, syntax.Operand):
        return token
    found = operands.read(letter, token, row) if marks.takes(row, mnemonic, letter, token) else None
    if found is None:
        raise UnknownError(f"{mnemonic} with {syntax.show_operand(token)} as an operand")
    return found


def _own_part(mnemonic: str, letter: str, token: Token) -> str:
    """Return the part of an operand that makes the row another one, such as B1; nothing if it has none."""
    part = token.part if isinstance(token, syntax.Register | syntax.Constant) else ""
    family = machine_family(mnemonic)
    return part if part and family and family.part(part, letter) is not None else ""


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
