"""A launch file with the place of each key, so that every message says where."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args, get_type_hints

import msgspec

from gpusim.launch.file.document import Argument, Contents, Expect, Initial, LaunchFile, TensorMap, Texture
from gpusim.support import toml
from isa.errors import UserError
from isa.nvidia.compiler import file_options
from isa.reading import input_file
from isa.reading.nearest import nearest
from isa.reading.source import Token

FIX = "give the path of a launch file, as gpusim launch writes it"
_TABLES: Mapping[str, type[msgspec.Struct]] = {
    "argument": Argument,
    "buffer": Contents,
    "expect": Expect,
    "constants": Initial,
    "globals": Initial,
}
_NONE: Mapping[str, str] = {}
Table = Callable[[str], type[msgspec.Struct]]
_AT = re.compile(r"(?P<cause>.*?)(?: - at `(?:key in )?\$\.?(?P<path>[^`]*)`)?", re.S)
_UNKNOWN = re.compile(r"Object contains unknown field `(?P<name>.*)`")


@dataclass(frozen=True)
class Source:
    """What a launch file says, its lines, and file:line:column of each key by dotted path: `argument.0.fill`."""

    path: Path
    file: LaunchFile
    lines: tuple[str, ...]
    places: Mapping[str, str]

    def refusal(self, key: str, message: str) -> UserError:
        """Return the error for a key, which the caller raises; its place comes first."""
        return UserError(f"{toml.place(key, self.places, self.path)}: {message}")

    def token(self, key: str, text: str) -> Token:
        """Return a text that is the value of a key, with its place."""
        _, line, column = toml.place(key, self.places, self.path).rsplit(":", 2)
        start = self.lines[int(line) - 1].find(text, int(column) - 1) if text and int(line) <= len(self.lines) else -1
        return Token(text, str(self.path), int(line), start + 1 if start >= 0 else int(column))

    def named(self, key: str, name: str) -> Path:
        """Return the path of a file that the value of a key names relative to this one; raises UserError for a device.

        A file may come from a stranger, and a device or a pipe may have no end.
        """
        path = self.path.parent / name
        if input_file.present(path) and not path.is_file():
            raise self.refusal(key, f"{path}: no regular file; name another")
        return path

    def options(self, key: str, given: Sequence[str]) -> tuple[str, ...]:
        """Return the compiler's options at a key; raises UserError for those that a file may not ask for."""
        try:
            return file_options.allowed(given, self.path.parent)
        except ValueError as error:
            raise self.refusal(key, str(error)) from None


def read(path: Path) -> Source:
    """Return a launch file; raises UserError with file:line:column for what a launch file can't say."""
    text = input_file.text(path, FIX)
    table, places = toml.parse(text, path), toml.places(text, path)
    try:
        file = msgspec.convert(table, LaunchFile)
    except msgspec.ValidationError as error:
        raise refused(str(error), places, path) from None
    return Source(path, file, tuple(text.splitlines()), places)


def table_at(key: str) -> type[msgspec.Struct]:
    """Return the struct of the table at a path in a launch file."""
    if ".tensor_map" in key:
        return TensorMap
    return Texture if ".texture" in key else _TABLES.get(key.partition(".")[0], LaunchFile)


def refused(
    message: str,
    places: Mapping[str, str],
    path: Path,
    table: Table = table_at,
    schema: str = "launch",
    computed: Mapping[str, str] = _NONE,
) -> UserError:
    """Return the error for what a schema refuses: where, why, and what is known.

    `table` gives the struct of the table at a path, `schema` is the name of the document. `computed` has, by key,
    the expression that gave a value, and the value: `M // TILE is 0`.
    """
    match = _AT.fullmatch(message)
    cause, key = (match["cause"], match["path"] or "") if match else (message, "")
    key = re.sub(r"\[(\d+)\]", r".\1", key).replace("[...]", "")
    if unknown := _UNKNOWN.fullmatch(cause):
        name = unknown["name"]
        place = toml.place(f"{key}.{name}".lstrip("."), places, path)
        return UserError(f"{place}: unknown key {name}; {_known(name, table(key))}")
    about = f"{key}: " if key else ""
    if key in computed:
        about += f"{computed[key]}, "
    what = about + cause[:1].lower() + cause[1:]
    fix = _words(key, table) or f"gpusim schema {schema} lists the keys"
    return UserError(f"{toml.place(key, places, path)}: {what}; {fix}")


def _words(key: str, table: Table) -> str:
    """Return the words that a key takes, if it takes words."""
    parent, _, name = key.rpartition(".")
    hint = get_type_hints(table(parent)).get(name)
    words = [word for one in (hint, *get_args(hint)) for word in get_args(one) if isinstance(word, str)]
    return f"take {', '.join(words)}" if words else ""


def _known(name: str, kind: type[msgspec.Struct]) -> str:
    """Return the fix for an unknown key of a table."""
    keys = kind.__struct_fields__
    near = nearest(name, keys)
    return f"did you mean {near}?" if near else f"known: {', '.join(keys)}"
