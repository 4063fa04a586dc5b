"""The text of CUDA C without its comments and strings, each place as it was, and its brackets."""

from __future__ import annotations

import re
from collections.abc import Iterator

_LEFT_OUT = re.compile(
    r"//[^\n]*|/\*.*?(?:\*/|\Z)|\"(?:\\.|[^\"\\\n])*\"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'|\\\n", re.S
)
_OTHERS = re.compile(r"[^\n]")
_MAIN = re.compile(r"\bmain\s*\(")
_OPEN, _CLOSE = "([{", ")]}"
LONGEST = 20_000  # letters of a list: a text may come from anybody


def bare(source: str) -> str:
    """Return a text of the same length, with blanks for comments, strings and ends of lines that go on."""
    return _LEFT_OUT.sub(_blank, source)


def has_main(source: str) -> bool:
    """Tell whether a source has a main(), so that it is a whole program."""
    return _MAIN.search(bare(source)) is not None


def parts(text: str, at: int, ends: str = ")") -> tuple[list[str], int]:
    """Return what stands between commas from a place up to one of the `ends` outside of brackets, and where that is.

    A list that does not end goes to the end of the text; of one of more than LONGEST letters, it is what comes first.
    """
    found, begin, depth, end = list[str](), at, 0, min(len(text), at + LONGEST)
    for place in range(at, end):
        letter = text[place]
        if depth == 0 and letter in ends:
            return _with(found, text[begin:place]), place
        if depth == 0 and letter == ",":
            found.append(text[begin:place].strip())
            begin = place + 1
        depth += (letter in _OPEN) - (letter in _CLOSE)
        if depth < 0:
            return _with(found, text[begin:place]), place
    return (_with(found, text[begin:]) if end == len(text) else found), end


def blocks(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each block in braces begins and ends, inner ones first; one that does not end is left out."""
    opened = list[int]()
    for match in re.finditer(r"[{}]", text):
        if match[0] == "{":
            opened.append(match.start())
        elif opened:
            yield opened.pop(), match.start()


def _with(found: list[str], last: str) -> list[str]:
    return [*found, last.strip()] if found or last.strip() else []


def _blank(match: re.Match[str]) -> str:
    if match[0] == "\\\n":
        return "  "
    return _OTHERS.sub(" ", match[0])
