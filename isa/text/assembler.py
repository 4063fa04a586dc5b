"""Assemble text into a program, one instruction a line.

    loop:                                     // a label stands before the next instruction
        LDS.64 R8, [R2+0x40];                 # the semicolon may be left out
    @!P1 FFMA R4, R8, -R12, 1.5
        ISETP.LT P0, R1, c[n]
    @P0 BRA loop
        EXIT

A control code may precede each instruction: [B------:R-:W-:-:S01] @P0 FADD R1, R2.reuse, R3.

`.shared BYTES` and `.local BYTES` say what a block and a thread need; other directives belong to `isa.text.listing`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from types import MappingProxyType

from isa.amd import text as gcn_text
from isa.instruction import Instruction
from isa.nvidia import control
from isa.operands.operand import PT, RZ, SCC, Constant, Immediate, Label, Operand, Predicate, Targets
from isa.program import Program, check_size
from isa.reading.faults import raise_all, tried
from isa.reading.source import IDENTIFIER, AssemblyError, Token, lines, part, suggest, whole
from isa.reading.source import operands as operands_of
from isa.row import ASYNCHRONOUS, Flow, Row, Unit
from isa.support.limits import MOST_LOCAL_BYTES, MOST_SHARED_BYTES
from isa.table import TABLE, listing_row
from isa.text.operand_text import operand, predicate

__all__ = ["AssemblyError", "Directive", "Parsed", "assemble", "parse"]

RESOURCES = (".shared", ".local")
BARRIERS = 16
_LABEL = re.compile(rf"({IDENTIFIER})\s*:")
MOST_BYTES = {".shared": MOST_SHARED_BYTES, ".local": MOST_LOCAL_BYTES}
_WORD = re.compile(r"\S+")
_USAGE = {
    "d": "Rd",
    "D": "Rd",
    "a": "Ra",
    "b": "Rb",
    "c": "Rc",
    "m": "[Ra+offset]",
    "M": "[Ra+offset]",
    "P": "Pd",
    "Q": "Pa",
    "s": "TID.X",
    "l": "label",
    "t": "tex[buffer]",
    "n": "number",
    "B": "B0",
    "k": "number",
    "T": "[label, label]",
    "y": "SB0",
}


@dataclass(frozen=True, slots=True)
class Directive:
    """A line that starts with a dot: its name with the dot, and the rest of the line."""

    name: Token
    argument: Token


@dataclass(frozen=True, slots=True)
class Parsed:
    """A program and the directives about its launch, in the order of the text."""

    program: Program
    directives: tuple[Directive, ...]


@dataclass(frozen=True, slots=True)
class _Statement:
    place: Token
    labels: tuple[Token, ...]
    instruction: Instruction | None
    tokens: tuple[Token, ...]


def assemble(text: str, name: str = "<text>") -> Program:
    """Return the program of a text without launch directives; messages show `name`. Raises AssemblyError."""
    parsed = parse(text, name)
    for directive in parsed.directives:
        raise AssemblyError(directive.name, f"{directive.name.text} is part of a launch; read this as a listing")
    return parsed.program


def parse(text: str, name: str = "<text>") -> Parsed:
    """Return the program of a text, and its launch directives unparsed. Raises AssemblyError."""
    faults: list[AssemblyError] = []
    parsed = read(text, name, faults)
    raise_all(faults)
    return parsed


def read(text: str, name: str, faults: list[AssemblyError]) -> Parsed:
    """Return what `parse` does, of the lines without a fault; add the faults of the others to a list.

    Where a line has one, labels may be missing, so uses of them are not looked at.
    """
    tokens = lines(text, name)
    directives = [_directive(token) for token in tokens if token.text.startswith(".")]
    others = [token for token in tokens if not token.text.startswith(".")]
    found = [tried(faults, _statement, token, otherwise=None) for token in others]
    statements = [statement for statement in found if statement]
    labels = _labels(statements, faults)
    if None not in found:
        _check_targets(statements, labels, faults)
        for check in (_check_controls, _check_scc):
            tried(faults, check, [s for s in statements if s.instruction], otherwise=None)
    shared, local = (tried(faults, _resource, directives, resource, otherwise=0) for resource in RESOURCES)
    instructions = tuple(s.instruction for s in statements if s.instruction)
    if faults:  # control codes may be among them
        instructions = tuple(replace(instruction, control=None) for instruction in instructions)
    program = Program(instructions, MappingProxyType(labels), shared, local)
    return Parsed(program, tuple(d for d in directives if d.name.text not in RESOURCES))


def _directive(token: Token) -> Directive:
    end = len(token.text.split()[0])
    return Directive(part(token, 0, end), part(token, end))


def _resource(directives: list[Directive], name: str) -> int:
    mine = [d for d in directives if d.name.text == name]
    if not mine:
        return 0
    if len(mine) > 1:
        raise AssemblyError(mine[1].name, f"{name} given twice; leave out one of the two")
    size = whole(mine[0].argument, 0, MOST_BYTES[name])
    try:
        check_size(size)
    except ValueError as error:
        raise AssemblyError(mine[0].argument, str(error)) from None
    return size


def _statement(token: Token) -> _Statement:
    labels = []
    while match := _LABEL.match(token.text):
        labels.append(part(token, 0, match.end(1)))
        token = part(token, match.end())
    body = _unterminated(token)
    if not body.text:
        return _Statement(body, tuple(labels), None, ())
    instruction, operands = _instruction(body)
    return _Statement(body, tuple(labels), instruction, operands)


def _unterminated(token: Token) -> Token:
    """Cut the final semicolon off."""
    if ";" in token.text:
        end = token.text.index(";")
        if rest := part(token, end + 1).text:
            raise AssemblyError(part(token, end + 1), f"{rest!r} after the semicolon; write one instruction a line")
        return part(token, 0, end)
    return token


def _instruction(token: Token) -> tuple[Instruction, tuple[Token, ...]]:
    code, rest = _control(token)
    guard, rest = _guard(rest)
    match = _WORD.match(rest.text)
    if not match:
        raise AssemblyError(rest, "no instruction after the guard or code; write one, such as @P0 BRA loop")
    row = _row(part(rest, 0, match.end()))
    tokens, offset = _pieces(row, tuple(operands_of(part(rest, match.end()))))
    if row.is_gcn and guard != PT:
        raise AssemblyError(token, f"{row.mnemonic} has no guard; leave it out, or branch on SCC")
    if row.flow is Flow.AWAIT and (counts := gcn_text.counts(tokens)):
        _check_numbers(row, tokens, counts)
        return Instruction(row, counts, PT, token.line, code), tokens
    _check_count(part(rest, 0, match.end()), row, tokens)
    operands = tuple(operand(t, letter, row) for letter, t in zip(row.form, tokens, strict=False))
    operands += tuple(PT if letter == "Q" else RZ for letter in row.form[len(tokens) :] if row.unit in ASYNCHRONOUS)
    _check_sources(row, tokens, operands)
    _check_numbers(row, tokens, operands)
    moved = tuple(gcn_text.with_offset(o, offset) for o in operands) if offset else operands
    return Instruction(row, moved, guard, token.line, code), tokens


def _pieces(row: Row, tokens: tuple[Token, ...]) -> tuple[tuple[Token, ...], int]:
    """Return the texts of the operands, and a separate offset."""
    return gcn_text.pieces(row, tokens) if row.is_gcn else (tokens, 0)


def _control(token: Token) -> tuple[control.Control | None, Token]:
    if not token.text.startswith("["):
        return None, token
    end = token.text.find("]") + 1
    if not end:
        raise AssemblyError(token, "the control code does not end; close it with ]")
    return control.parse(part(token, 0, end)), part(token, end)


def _guard(token: Token) -> tuple[Predicate, Token]:
    if not token.text.startswith("@"):
        return PT, token
    end = len(token.text.split()[0])
    return predicate(part(token, 1, end)), part(token, end)


def _row(token: Token) -> Row:
    if row := listing_row(token.text):
        return row
    fix = suggest(token.text.upper(), TABLE, "docs/listing.md lists them all")
    raise AssemblyError(token, f"unknown instruction {token.text}; {fix}")


def _check_count(mnemonic: Token, row: Row, tokens: tuple[Token, ...]) -> None:
    uses = [f"U{_USAGE[letter]}" if letter in row.shared else _USAGE[letter] for letter in row.form]
    usage = f"write {row.mnemonic} {', '.join(uses)}".strip()
    usage = gcn_text.usage(row) if row.is_gcn else usage
    if not len(row.form) - row.optional <= len(tokens) <= len(row.form):
        raise AssemblyError(mnemonic, f"{row.mnemonic} takes {len(row.form)} operands, not {len(tokens)}; {usage}")
    for token in tokens:
        if not token.text:
            raise AssemblyError(token, f"an operand of {row.mnemonic} is empty; {usage}")


def _check_sources(row: Row, tokens: tuple[Token, ...], operands: tuple[Operand, ...]) -> None:
    literal = [
        token
        for letter, token, value in zip(row.form, tokens, operands, strict=False)
        if letter in "abc" and isinstance(value, Immediate | Constant)
    ]
    if len(literal) > 1:
        raise AssemblyError(literal[1], f"{row.mnemonic} takes one non-register source; MOV {literal[1].text} first")
    gcn_text.check_scalars(row, tokens, operands)


def _check_numbers(row: Row, tokens: tuple[Token, ...], operands: tuple[Operand, ...]) -> None:
    if row.unit is Unit.BARRIER and operands:
        _check_barrier(tokens, operands)
    for place, (letter, value) in enumerate(zip(row.form, operands, strict=False)):
        if letter in "nk" and row.most and isinstance(value, Immediate) and not 0 <= value.bits <= row.most:
            token = tokens[min(place, len(tokens) - 1)]  # one token may hold both counts
            raise AssemblyError(token, f"{row.mnemonic} takes no number {token.text}; write 0 to {row.most:#x}")


def _check_barrier(tokens: tuple[Token, ...], operands: tuple[Operand, ...]) -> None:
    number, threads = (*operands, None)[:2]
    if isinstance(number, Immediate) and not 0 <= number.bits < BARRIERS:
        raise AssemblyError(tokens[0], f"there is no barrier {number.bits}; take 0 to {BARRIERS - 1}")
    if isinstance(threads, Immediate) and (threads.bits <= 0 or threads.bits % 32):
        raise AssemblyError(tokens[1], f"{threads.bits} threads are no whole warps; take a multiple of 32 above 0")


def _labels(statements: list[_Statement], faults: list[AssemblyError]) -> dict[str, int]:
    labels: dict[str, int] = {}
    index = 0
    for statement in statements:
        for token in statement.labels:
            if token.text in labels:
                faults.append(AssemblyError(token, f"label {token.text} defined twice; rename one of the two"))
            labels[token.text] = index
        index += statement.instruction is not None
    return labels


def _check_controls(statements: list[_Statement]) -> None:
    codes = [s.instruction.control for s in statements if s.instruction]
    odd = control.odd_one_out(codes)
    if odd is not None:
        raise AssemblyError(statements[odd].place, control.uneven(codes[odd]))


def _check_scc(statements: list[_Statement]) -> None:
    """Raise AssemblyError for a branch on SCC after scalar arithmetic, as its SCC is not computed here."""
    last = None
    for row, statement in ((s.instruction.row, s) for s in statements if s.instruction):
        if row.spoils_scc:
            last = row
        elif ("P", SCC) in row.implied:
            last = None
        elif row.condition is not None and row.condition.index == SCC.index and last is not None:
            fix = "compare with an S_CMP after it"
            raise AssemblyError(statement.place, f"{last.mnemonic} has changed SCC, to what is not kept here; {fix}")


def _check_targets(statements: list[_Statement], labels: dict[str, int], faults: list[AssemblyError]) -> None:
    for statement in statements:
        targets = statement.instruction.operands if statement.instruction else ()
        for token, target in zip(statement.tokens, targets, strict=False):
            names = (target.name,) if isinstance(target, Label) else target.names if isinstance(target, Targets) else ()
            for name in names:
                if name not in labels:
                    fix = suggest(name, labels) if labels else "no label is defined"
                    faults.append(AssemblyError(token, f"undefined label {name}; {fix}"))
