"""The lessons: notebooks whose headers say their titles and minutes, as inline script metadata (PEP 723) has it.

marimo's own list of notebooks shows title and description from the same header.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import msgspec

from gpusim.support.document import doc
from isa.errors import UserError

FOLDER, FIRST = "notebooks", "lesson"
_HEADER = re.compile(r"^# /// script\n((?:#.*\n)*?)# ///$", re.M)


class Lesson(msgspec.Struct, frozen=True):
    """A notebook that comes with gpusim, and what it shows."""

    number: int
    file: str
    what: Annotated[str, doc("One sentence.")]
    title: str
    minutes: Annotated[int, doc("How long a student takes, exercises included: an estimate.")]


def listed(where: Path) -> list[Lesson]:
    """Return the lessons of a folder, by number; raises UserError if one has no header."""
    found = [(int(path.stem.removeprefix(FIRST).partition("_")[0]), path) for path in where.glob(f"{FIRST}*_*.py")]
    return [_lesson(number, path) for number, path in sorted(found)]


def header(path: Path) -> Mapping[str, Any]:
    """Return what the `tool` table of a notebook's header says; empty if there is none."""
    found = _HEADER.search(path.read_text(encoding="utf-8"))
    lines = found[1].splitlines() if found else []
    tools: Mapping[str, Any] = tomllib.loads("\n".join(line[2:] for line in lines)).get("tool", {})
    return tools


def _lesson(number: int, path: Path) -> Lesson:
    """A lesson from its header and the first line of its docstring, without running it."""
    tools = header(path)
    try:
        title, minutes = tools["marimo"]["opengraph"]["title"], tools["gpusim"]["minutes"]
    except KeyError as error:
        raise UserError(f"{path}: no {error} in its header; take it from another lesson's") from None
    what = (ast.get_docstring(ast.parse(path.read_bytes())) or "").split("\n")[0]
    return Lesson(number, path.name, what, title.partition(". ")[2], minutes)
