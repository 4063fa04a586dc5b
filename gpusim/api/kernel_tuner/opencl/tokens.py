"""The tokens of C, with all that stands between them, so that they join to the text again."""

from __future__ import annotations

import re
from dataclasses import dataclass

_TOKEN = re.compile(
    r"""(?P<blank>[^\S\n]+|\n|//(?:\\\n|[^\n])*|/\*.*?\*/)
    |(?P<literal>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|\.?[0-9](?:[eEpP][+-]|[\w.])*)
    |(?P<name>[A-Za-z_]\w*)
    |(?P<sign>.)""",
    re.S | re.X,
)
_DIRECTIVE = re.compile(r"(?P<directive>[ \t]*#(?:\\\n|/\*.*?\*/|(?!//|/\*)[^\n])*)", re.S)

_LINE = re.compile(r"\s*#\s*line\s+(\d+)")


@dataclass
class Token:
    """A piece of the text: a name, a literal, a sign of one letter, a line of the preprocessor, or blank."""

    kind: str
    text: str
    line: int


def tokens(source: str, first: int = 1) -> list[Token]:
    """Return the tokens of a text whose first line has this number."""
    found, line, place = list[Token](), first, 0
    while place < len(source):
        match = _directive(source, place) or _TOKEN.match(source, place)
        assert match
        found.append(Token(match.lastgroup or "sign", match[0], line))
        moved = _LINE.match(match[0]) if match.lastgroup == "directive" else None
        line = int(moved[1]) - 1 if moved else line + match[0].count("\n")
        place = match.end()
    return found


def _directive(source: str, place: int) -> re.Match[str] | None:
    """Return a line of the preprocessor that begins here, at the beginning of a line."""
    return _DIRECTIVE.match(source, place) if place == 0 or source[place - 1] == "\n" else None


def text(found: list[Token]) -> str:
    """Return what tokens stand for."""
    return "".join(one.text for one in found)
