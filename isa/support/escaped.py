"""Control characters shown as escapes: every text that a person sees passes here."""

from __future__ import annotations

import re

# Controls but tab and line feed, marks of the direction of writing, line and paragraph separators, halves of pairs.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_ONE_BYTE = 0x20  # below it no JSON text has a raw character, which \x would spoil


def escaped(text: str) -> str:
    r"""Return a text whose control characters are shown, as \x1b or \u202e; tabs and line feeds stay.

    A terminal obeys such characters, and names in files of others may have them. JSON stays JSON with the same meaning.
    """
    return text if text.isascii() and text.isprintable() else _CONTROL.sub(_shown, text)


def _shown(match: re.Match[str]) -> str:
    number = ord(match[0])
    return f"\\x{number:02x}" if number < _ONE_BYTE else f"\\u{number:04x}"
