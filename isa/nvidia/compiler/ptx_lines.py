"""PTX written by hand has no lines of source: those of the PTX itself are put in, as `.loc` before each instruction."""

from __future__ import annotations

import re
from collections.abc import Iterator

_LOC = re.compile(r"^[^\S\n]*\.loc\b", re.M)
_TOKEN = re.compile(
    r'(?P<blank>\s+|//[^\n]*|/\*.*?(?:\*/|\Z))|(?P<label>[\w$%]+\s*:(?!:))|"[^"\n]*"|[\w$%.@!]+|.', re.S
)
_BODY = re.compile(r"\.(entry|func)\b")
_ACTIVE = re.compile(r'["\\\x00-\x1f\ud800-\udfff]')  # what the name of a file in PTX can't have


def with_lines(text: str, name: str) -> str:
    """Return a text of PTX whose instructions tell their lines, of a file of that name; unchanged if it tells some.

    Nothing moves to another line, so the assembler's messages tell the text's own.
    """
    places = [] if _LOC.search(text) or _ACTIVE.search(name) else list(_statements(text))
    if not places:
        return text
    parts, begin, line = list[str](), 0, 1
    for place in places:
        parts.append(text[begin:place])
        line += parts[-1].count("\n")
        parts.append(f".loc 1 {line} 0 ")
        begin = place
    return "".join((*parts, text[begin:].rstrip(), f'\n.file 1 "{name}"\n'))


def _statements(text: str) -> Iterator[int]:
    """Yield where each instruction in the body of a function begins, the guard before it included."""
    depth, nested, begins = 0, 0, True  # braces of blocks, those of lists; whether a statement begins here
    headed = False  # whether this statement is the head of a function
    for token in _TOKEN.finditer(text):
        word = token[0]
        if token["blank"]:
            continue
        if nested:
            nested += (word == "{") - (word == "}")
        elif word == "{":
            is_block = begins if depth else headed
            depth, nested, begins = depth + is_block, int(not is_block), is_block
        elif word in ("}", ";"):
            depth -= word == "}"
            begins, headed = True, False
        elif not (begins and token["label"]):
            if depth and begins and not word.startswith("."):
                yield token.start()
            begins, headed = False, headed or (not depth and _BODY.search(word) is not None)
