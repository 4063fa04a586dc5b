"""Operands from text: one parser for each letter of the table's forms."""

from __future__ import annotations

import re
from collections.abc import Callable

from isa.amd import text as gcn_text
from isa.operands.operand import (
    FIRST_SCALAR,
    RZ,
    SPECIALS,
    Address,
    Constant,
    Convergence,
    Dependency,
    Immediate,
    Label,
    Operand,
    Predicate,
    Register,
    Special,
    Targets,
    Texture,
)
from isa.reading import literals
from isa.reading.source import IDENTIFIER, AssemblyError, Token, part, suggest
from isa.row import Flow, Kind, Row, Unit
from isa.table import takes_uniform

LAST_REGISTER, LAST_UNIFORM = 254, 62
MOST_ALIGNED = 8  # registers: a longer operand begins at a multiple of these
_REGISTER = re.compile(r"(-?)(?:R(\d{1,9})|RZ)(\.reuse)?")
_PREDICATE = re.compile(r"(!?)P([0-6]|T)")
_CONSTANT = re.compile(rf"c\[\s*({IDENTIFIER})\s*\]")
_TEXTURE = re.compile(rf"tex\[\s*({IDENTIFIER})\s*\]")
_ADDRESS = re.compile(
    r"\[\s*(?:(?P<base>R\d{1,9}|RZ)\s*(?:(?P<sign>[+-])\s*(?P<offset>\w+))?|(?P<absolute>-?\w+))\s*\]"
)
_UNIFORM = re.compile(
    r"(?:g?desc)?(?P<open>\[)?\s*UR(?:(?P<number>\d{1,9})|Z)\s*(?:\+\s*(?P<offset>\d\w*))?\s*(?(open)\])"
)
_NUMBER_LIKE = re.compile(r"[+-]?(\.?\d.*|inf|nan)", re.IGNORECASE)


def operand(token: Token, letter: str, row: Row) -> Operand:
    """Return the operand of the kind that the form letter requires; raises AssemblyError."""
    if row.is_gcn and letter in "dDabcm":
        return _of_gcn(token, letter, row)
    if takes_uniform(row) and letter in "dabcm" and (uniform := _uniform(token, letter, row)):
        return uniform
    if letter in row.shared and not _NUMBER_LIKE.match(token.text) and not _CONSTANT.fullmatch(token.text):
        raise AssemblyError(token, f"{token.text!r} is no uniform register; write UR0 to UR{LAST_UNIFORM}, or URZ")
    return _PARSERS[letter](token, row.at(letter))


def _uniform(token: Token, letter: str, row: Row) -> Operand | None:
    """Return what a text with a uniform register says; None if it has none."""
    found = _UNIFORM.fullmatch(token.text)
    if not found or ("[" in token.text and letter != "m" and letter not in row.shared):
        return None
    if found["number"] is None:
        return RZ
    index, words = int(found["number"]), row.words_of(letter) if letter != "m" else 1
    if index + words - 1 > LAST_UNIFORM or index % min(words, 2):
        fix = f"take an even one, and {words} up to UR{LAST_UNIFORM}" if words > 1 else f"take UR0 to UR{LAST_UNIFORM}"
        raise AssemblyError(token, f"UR{index} can't be that operand of {row.mnemonic}; {fix}")
    register = Register(FIRST_SCALAR + index)
    return Address(RZ, literals.integer_bits(found["offset"] or "0"), uniform=register) if letter == "m" else register


def _of_gcn(token: Token, letter: str, row: Row) -> Operand:
    if letter in "abc" and (constant := _CONSTANT.fullmatch(token.text)):
        return _word_sized(token, row, Constant(constant[1]))
    if letter in "abc" and _NUMBER_LIKE.fullmatch(token.text):
        return _immediate(token, row)
    register = gcn_text.register(token, letter, row)
    return Address(register, 0) if letter == "m" else register


def predicate(token: Token, row: Row | None = None) -> Predicate:  # noqa: ARG001
    """Return the predicate `P0` to `P6` or `PT`, with `!` before it if negated; raises AssemblyError."""
    match = _PREDICATE.fullmatch(token.text)
    if not match:
        raise AssemblyError(token, f"{token.text!r} is not a predicate; write P0 to P6 or PT, with ! for its opposite")
    return Predicate(7 if match[2] == "T" else int(match[2]), negated=bool(match[1]))


def takes_negation(row: Row) -> bool:
    """Tell whether sources of the row may be written -R: floating-point rows, and integers' that say so."""
    return row.is_float or row.negates


def _destination(token: Token, row: Row) -> Register:
    if row.unit is Unit.SPECIAL and token.text[:1] in "vs":
        return gcn_text.register(token, "d", row)
    register = _register(token, row)
    if register.negated:
        raise AssemblyError(token, f"{token.text} is written, so it can't be negated; leave out the -")
    if register.reuse:
        raise AssemblyError(token, f"{token.text} is written, and only a source is reused; leave out .reuse")
    return register


def _source(token: Token, row: Row) -> Operand:
    if row.flow is Flow.LOCATE:
        return _label(token, row)
    if row.is_indirect:
        return _register(token, row)
    if constant := _CONSTANT.fullmatch(token.text):
        return _word_sized(token, row, Constant(constant[1]))
    if _NUMBER_LIKE.fullmatch(token.text):
        return _immediate(token, row)
    register = _register(token, row)
    if register.negated and not takes_negation(row):
        raise AssemblyError(token, f"{row.mnemonic} can't negate {token.text[1:]}; subtract it from RZ with IADD first")
    return register


def _register(token: Token, row: Row) -> Register:
    match = _REGISTER.fullmatch(token.text)
    if not match:
        raise AssemblyError(token, f"{token.text!r} is not an operand that {row.mnemonic} takes here; write a register")
    if match[2] is None:
        return Register(RZ.index, negated=bool(match[1]), reuse=bool(match[3]))
    index = int(match[2])
    if index + row.words - 1 > LAST_REGISTER:
        fix = f"take R0 to R{(LAST_REGISTER + 1) // row.words * row.words - row.words}"
        cause = f"{row.mnemonic} R{index} reaches above R{LAST_REGISTER}, the highest register"
        raise AssemblyError(token, f"{cause}; {fix}")
    if index % (step := min(row.words, MOST_ALIGNED)):
        fix = f"take R{index - index % step} or another multiple of {step}"
        raise AssemblyError(token, f"R{index} can't start a {row.width}-bit operand of {row.mnemonic}; {fix}")
    return Register(index, negated=bool(match[1]), reuse=bool(match[3]))


def _immediate(token: Token, row: Row) -> Operand:
    if row.width == 128:
        raise AssemblyError(token, f"{row.mnemonic} takes no immediate; put it into four registers")
    if row.numbers is Kind.HALVES and "x" not in token.text.lower():
        raise AssemblyError(token, f"{row.mnemonic} takes two halves; write their patterns in hex, such as 0x3c003c00")
    try:
        if not literals.is_integer(token.text):
            kind = "float" if row.width == 32 else "double"
            return Immediate(literals.real_bits(token.text, row.width), kind)
        if row.is_float and "x" not in token.text.lower():
            raise ValueError(f"{row.mnemonic} takes no decimal integer; write {token.text}.0, or a pattern in hex")
        return Immediate(literals.integer_bits(token.text, row.width), "int")
    except ValueError as error:
        raise AssemblyError(token, str(error)) from None


def _word_sized(token: Token, row: Row, constant: Constant) -> Constant:
    if row.width != 32:
        raise AssemblyError(token, f"{token.text} has 32 bits, {row.mnemonic} takes {row.width}; load it first")
    return constant


def _address(token: Token, row: Row) -> Address:
    match = _ADDRESS.fullmatch(token.text)
    if not match:
        raise AssemblyError(token, f"{token.text!r} is not an address; write [R2+0x10], [R2] or [0x10]")
    if match["absolute"]:
        base, text = RZ, match["absolute"]
    else:
        base, text = _base(token, match["base"]), (match["sign"] or "") + (match["offset"] or "0")
    try:
        offset = literals.integer_bits(text)
    except ValueError as error:
        raise AssemblyError(token, f"offset of the address: {error}") from None
    if base == RZ and offset % row.accessed_bytes:
        fix = f"take a multiple of {row.accessed_bytes}"
        raise AssemblyError(token, f"address {offset:#x} is misaligned for {row.mnemonic}; {fix}")
    return Address(base, offset)


def _base(token: Token, text: str) -> Register:
    if text == "RZ":
        return RZ
    if int(text[1:]) > LAST_REGISTER:
        raise AssemblyError(token, f"there is no {text}; registers are R0 to R{LAST_REGISTER}, and RZ")
    return Register(int(text[1:]))


def _predicate_written(token: Token, row: Row) -> Predicate:
    written = predicate(token, row)
    if written.negated:
        raise AssemblyError(token, f"{token.text} is written, so it can't be negated; leave out the !")
    return written


def _special(token: Token, row: Row) -> Special:  # noqa: ARG001
    if token.text not in SPECIALS:
        raise AssemblyError(token, f"{token.text!r} is not a special register; {suggest(token.text, SPECIALS)}")
    return Special(token.text)


def _label(token: Token, row: Row) -> Label:
    if not re.fullmatch(IDENTIFIER, token.text):
        raise AssemblyError(token, f"{token.text!r} is not a label; write {row.mnemonic} and the name before a colon")
    return Label(token.text)


def _texture(token: Token, row: Row) -> Texture:
    match = _TEXTURE.fullmatch(token.text)
    if not match:
        raise AssemblyError(token, f"{token.text!r} is not what {row.mnemonic} takes here; write tex[buffer]")
    return Texture(match[1])


def _convergence(token: Token, row: Row) -> Convergence:
    if not re.fullmatch(r"B([0-9]|1[0-5])", token.text):
        raise AssemblyError(token, f"{token.text!r} is no convergence barrier; write {row.mnemonic} with B0 to B15")
    return Convergence(int(token.text[1:]))


def _targets(token: Token, row: Row) -> Targets:
    match = re.fullmatch(rf"\[\s*({IDENTIFIER}(?:\s*,\s*{IDENTIFIER})*)\s*\]", token.text)
    if not match:
        raise AssemblyError(token, f"{token.text!r} is no list of labels; write {row.mnemonic} and [one, two]")
    return Targets(tuple(re.split(r"\s*,\s*", match[1])))


def _dependency(token: Token, row: Row) -> Dependency:
    if not re.fullmatch(r"SB[0-5]", token.text):
        raise AssemblyError(token, f"{token.text!r} is no dependency barrier; write {row.mnemonic} with SB0 to SB5")
    return Dependency(int(token.text[2:]))


def _number_or_register(token: Token, row: Row) -> Operand:
    if not _REGISTER.fullmatch(token.text):
        return _number(token, row)
    register = _register(token, row)
    if register.negated:
        raise AssemblyError(token, f"{row.mnemonic} can't negate {token.text[1:]}; leave out the -")
    return register


def _number(token: Token, row: Row) -> Immediate:
    try:
        value = literals.integer(token.text)
    except ValueError as error:
        raise AssemblyError(part(token, 0), f"{row.mnemonic}: {error}") from None
    return Immediate(value, "int")


_PARSERS: dict[str, Callable[[Token, Row], Operand]] = {
    "d": _destination,
    "a": _source,
    "b": _source,
    "c": _source,
    "m": _address,
    "M": _address,
    "P": _predicate_written,
    "Q": predicate,
    "s": _special,
    "l": _label,
    "t": _texture,
    "n": _number,
    "B": _convergence,
    "k": _number_or_register,
    "T": _targets,
    "y": _dependency,
}
