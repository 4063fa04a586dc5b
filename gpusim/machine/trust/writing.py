"""Machine files as text: the numbers of a card that extends another, each with its source."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from pathlib import Path

from gpusim.machine.file import Fact
from gpusim.machine.machine import Machine, load
from gpusim.support import whole_file
from isa.errors import UserError


def text_of(strings: Mapping[str, str], facts: Mapping[str, Fact]) -> str:
    """Return a machine file that states these strings and numbers."""
    lines = [f"{key} = {_quoted(value)}" for key, value in strings.items()]
    ordered = sorted(facts, key=_section)
    for section, paths in groupby(ordered, key=_section):
        lines += ["", f"[{section}]"]
        lines += [f"{path.rpartition('.')[2]} = {_leaf(facts[path])}" for path in paths]
    return "\n".join(lines) + "\n"


def _section(path: str) -> str:
    return path.rpartition(".")[0]


def _leaf(fact: Fact) -> str:
    value = _quoted(fact.value) if isinstance(fact.value, str) else str(fact.value)
    words = {"source": fact.source, "method": fact.method, "note": fact.note}
    stated = ", ".join(f"{key} = {_quoted(word)}" for key, word in words.items() if word)
    return f"{{ value = {value}, {stated} }}"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def write(path: Path, strings: Mapping[str, str], facts: Mapping[str, Fact]) -> Machine:
    """Write a machine file and return the machine; raises UserError, and leaves no file, if it can't be one.

    No file is replaced: it may have been edited, or be what the new one extends.
    """
    if path.suffix != ".toml":
        raise UserError(f"{path}: a machine's file ends in .toml; name it so")
    if path.exists():
        raise UserError(f"{path}: exists, and may have been edited; name another")
    whole_file.write(path, text_of(strings, facts))
    try:
        return load(str(path))
    except UserError:
        path.unlink()
        raise
