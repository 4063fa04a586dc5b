"""Pieces of a text that know their position, so that every message has a line and a column."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from isa.errors import UserError
from isa.reading.literals import MOST, integer, is_integer
from isa.reading.nearest import nearest

IDENTIFIER = r"[A-Za-z_][\w.$]*"


@dataclass(frozen=True, slots=True)
class Token:
    """Part of line `line` of the text called `name`, starting at `column`; both count from 1."""

    text: str
    name: str
    line: int
    column: int


class AssemblyError(UserError):
    """The text is not a program. `str(error)` is `name:line:column: cause; fix`."""

    def __init__(self, token: Token, message: str) -> None:
        super().__init__(f"{token.name}:{token.line}:{token.column}: {message}")
        self.line = token.line
        self.column = token.column


def lines(text: str, name: str) -> list[Token]:
    """Return one token for each non-empty line, without comments (// or # to the end) and outer blanks."""
    whole = (Token(line, name, number, 1) for number, line in enumerate(text.splitlines(), 1))
    bare = (part(token, 0, _comment(token.text)) for token in whole)
    return [token for token in bare if token.text]


def part(token: Token, start: int, stop: int | None = None) -> Token:
    """Return characters start to stop of the token, without outer blanks."""
    text = token.text[start:stop]
    blanks = len(text) - len(text.lstrip())
    return Token(text.strip(), token.name, token.line, token.column + start + blanks)


def split(token: Token, separator: str) -> list[Token]:
    """Return the pieces between separators; none for an empty token."""
    pieces, start = [], 0
    for text in token.text.split(separator) if token.text else []:
        pieces.append(part(token, start, start + len(text)))
        start += len(text) + len(separator)
    return pieces


def operands(token: Token) -> list[Token]:
    """Return the pieces between commas that lie in no brackets; none for an empty token."""
    ends = [m.start() for m in re.finditer(r",(?![^\[]*\])", token.text)]
    starts = [0, *(end + 1 for end in ends)]
    return [part(token, *span) for span in zip(starts, [*ends, None], strict=True)] if token.text else []


def words(token: Token) -> list[Token]:
    """Return the pieces between blanks."""
    return [part(token, match.start(), match.end()) for match in re.finditer(r"\S+", token.text)]


def equation(token: Token, usage: str) -> tuple[Token, Token]:
    """Return both sides of the first `=`; `usage` is the fix in the AssemblyError if one is missing."""
    middle = token.text.find("=")
    left, right = part(token, 0, max(middle, 0)), part(token, middle + 1)
    if middle < 0 or not left.text or not right.text:
        raise AssemblyError(token, f"{token.text!r} is incomplete; write {usage}")
    return left, right


def new_name(token: Token, taken: Iterable[str]) -> str:
    """Return the text of a token that is an identifier and not yet taken; raises AssemblyError."""
    if not re.fullmatch(IDENTIFIER, token.text):
        raise AssemblyError(token, f"{token.text!r} is no name; write letters, digits and _")
    if token.text in taken:
        raise AssemblyError(token, f"{token.text} defined twice; rename one of the two")
    return token.text


def whole(token: Token, least: int, most: int = MOST) -> int:
    """Return the value of a token that is an integer from `least` to `most`; raises AssemblyError."""
    try:
        value = integer(token.text) if is_integer(token.text) else least - 1
    except ValueError as error:
        raise AssemblyError(token, str(error)) from None
    if value < least:
        raise AssemblyError(token, f"{token.text!r} is no count; write a whole number of at least {least}")
    if value > most:
        raise AssemblyError(token, f"{token.text} is more than {most}; write a whole number from {least} to {most}")
    return value


def suggest(text: str, known: Iterable[str], otherwise: str = "") -> str:
    """Return the fix for an unknown word: a known one that it starts, or the nearest, or `otherwise`, or all."""
    known = list(known)
    begun = [word for word in known if text and word.startswith(text)]
    meant = begun[0] if begun else nearest(text, known)
    return f"did you mean {meant}?" if meant else otherwise or f"known: {', '.join(known) or 'none'}"


def _comment(text: str) -> int:
    return min((text.index(mark) for mark in ("//", "#") if mark in text), default=len(text))
