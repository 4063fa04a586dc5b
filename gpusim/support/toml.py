"""TOML files that people write: parsed within bounds, with the place of each key for messages."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from isa.errors import UserError

_HEADER = re.compile(r"\s*(?P<several>\[?)\[\s*(?P<key>[\w.\- ]+)\]")
_KEY = re.compile(r"\s*(?P<key>[\w\-]+([ \t]*\.[ \t]*[\w\-]+)*)[ \t]*=")
LONGEST_LINE = 4000  # characters: TOML's parser takes the square of a key's parts
DEEPEST = 8  # parts of a key; a machine's have four at most
_DEEP = re.compile(rf"(?<![\w\-])([\w\-]+\s*\.\s*){{{DEEPEST}}}[\w\-]")
_TWICE = "Cannot overwrite a value"  # what the parser says of a key that is there already
_TOML_PLACE = re.compile(r"^(?P<cause>.*) \(at line (?P<line>\d+), column (?P<column>\d+)\)$", re.S)


def parse(text: str, path: Path, flatter: str = "write them as tables of their own") -> dict[str, object]:
    """Return what a TOML file says; `flatter` is what to write instead of brackets that are nested too deep.

    Raises UserError with `file:line:column` for what is no TOML, and for lines that would take the parser too long.
    """
    _check_lines(text, path)
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise UserError(f"{path}:1:1: brackets are nested too deep; {flatter}") from None
    except ValueError as error:
        found = _TOML_PLACE.match(str(error))
        if found and found["cause"] == _TWICE and (both := _twice(text, path, int(found["line"]))):
            raise both from None
        place = f"{path}:{found['line']}:{found['column']}" if found else f"{path}:1:1"
        raise UserError(f"{place}: not TOML: {found['cause'] if found else error}; correct the line") from None


def _twice(text: str, path: Path, line: int) -> UserError | None:
    """Return the error for the key that is given again in the value that ends on a line; None if it isn't found."""
    above = [(key, where) for key, where in _places(text, path) if int(where.rsplit(":", 2)[1]) <= line]
    key, where = above[-1] if above else ("", "")
    before = next((each.rsplit(":", 2)[1] for name, each in above[-2::-1] if name == key), None)
    return UserError(f"{where}: {key} is given before, in line {before}; leave out one of the two") if before else None


def places(text: str, path: Path) -> dict[str, str]:
    """Return file:line:column of each header and key by dotted path, if a line has one key at most.

    Tables of which there may be several have their number, from 0 on, behind their name: `argument.0.fill`.
    """
    return dict(_places(text, path))


def place(key: str, found: Mapping[str, str], path: Path) -> str:
    """Return where `key` stands, or else the nearest table around it."""
    while key and key not in found:
        key = key.rpartition(".")[0]
    return found.get(key, f"{path}:1:1")


def _places(text: str, path: Path) -> Iterator[tuple[str, str]]:
    section, seen = "", Counter[str]()
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(line):
            name = header["key"].replace(" ", "")
            if header["several"]:
                seen[name] += 1
                name = f"{name}.{seen[name] - 1}"
            section = f"{name}."
            yield name, f"{path}:{number}:{header.start('key') + 1}"
        elif key := _KEY.match(line):
            yield section + key["key"].replace(" ", ""), f"{path}:{number}:{key.start('key') + 1}"


def _check_lines(text: str, path: Path) -> None:
    """Raise UserError for lines on which TOML's parser would spend long, or forever."""
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > LONGEST_LINE:
            raise UserError(f"{path}:{number}:1: {len(line)} characters; write lines of {LONGEST_LINE} at most")
        if found := _DEEP.search(line):
            raise UserError(f"{path}:{number}:{found.start() + 1}: a key of more than {DEEPEST} parts; shorten it")
