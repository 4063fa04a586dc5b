"""Parts of launch files as lines of TOML, each short enough to be read back."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping

import msgspec
from msgspec import Struct

DIGITS = 128  # of a line of bytes: 64 of them
LONGEST = 120  # letters of a line with a list
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def keys(one: Struct) -> Iterator[str]:
    """Yield the lines of the keys of a table, those that are left out where they have the usual value apart."""
    for name, value in msgspec.to_builtins(one).items():
        if name == "bytes" and len(value) > DIGITS:
            yield from _bytes(value)
        else:
            yield from lines(name, value)


def lines(name: str, value: object) -> Iterator[str]:
    """Yield the lines of a key: several of a list that is long."""
    line = f"{name} = {shown(value)}"
    if len(line) <= LONGEST or not isinstance(value, list | tuple):
        yield line
        return
    yield f"{name} = ["
    for one in value:
        yield from _element(one)
    yield "]"


def shown(value: object) -> str:
    """Return a value as TOML has it, on one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else "nan" if math.isnan(value) else f"{'-' * (value < 0)}inf"
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{key} = {shown(one)}' for key, one in value.items())} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(shown, value))}]"
    return quoted(value) if isinstance(value, str) else str(value)


def key(name: str) -> str:
    """Return a key as TOML has it: in quotes unless it is of ASCII letters, digits, - and _ alone."""
    return name if _BARE.fullmatch(name) else quoted(name)


def quoted(text: str) -> str:
    """Return a text in quotes, as TOML has it."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _element(one: object) -> Iterator[str]:
    """Yield the lines of an element of a list; a long member of a struct has several, too."""
    line = f"    {shown(one)},"
    kind, value = one if isinstance(one, list | tuple) and len(one) == 2 else ("", None)
    if len(line) <= LONGEST or not value:
        yield line
    elif isinstance(value, str):
        yield f'    [{shown(kind)}, """\\'
        yield from _digits(value)
        yield '"""],'
    else:
        yield f"    [{shown(kind)}, ["
        yield from (f"        {shown(each)}," for each in value)
        yield "    ]],"


def _bytes(digits: str) -> Iterator[str]:
    """Yield the bytes of an argument in several lines."""
    yield 'bytes = """\\'  # the end of a line does not count
    yield from _digits(digits)
    yield '"""'


def _digits(text: str) -> Iterator[str]:
    yield from (f"{text[at : at + DIGITS]}\\" for at in range(0, len(text), DIGITS))
