"""`gpusim lessons`: the notebooks that come with gpusim, in a browser."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from gpusim.commands.arguments import CopyTo, Json
from gpusim.commands.document import new_table, right, show, write_json
from gpusim.support import shipped
from gpusim.support.document import Document, doc
from isa.errors import UserError
from isa.reading import extra

FOLDER, FIRST = "notebooks", "lesson"


class Lesson(msgspec.Struct, frozen=True):
    """A notebook that comes with gpusim, and what it shows."""

    number: int
    file: str
    what: str


class LessonsDocument(Document, frozen=True):
    """The notebooks that come with gpusim."""

    folder: Annotated[str, doc("Where they are.")]
    lessons: Annotated[list[Lesson], doc("In the order in which to read them.")]


def lessons(
    number: Annotated[int | None, typer.Argument(help="The lesson to open; without it, all are listed.")] = None,
    *,
    index: Annotated[bool, typer.Option("--open", help="Open the list of all lessons in a browser.")] = False,
    copy: CopyTo = None,
    json: Json = False,
) -> None:
    """List the lessons: notebooks with sliders and exercises. With a number, open one in a browser until Ctrl-C.

    Opening needs the extra `lessons`. --copy puts them all into a new folder, to edit there with `marimo edit`.

    Example: gpusim lessons --json
    """
    where = shipped.copied(FOLDER, copy) if copy else shipped.folder(FOLDER)
    found = listed(where)
    if json:
        write_json(LessonsDocument(str(where), found))
    elif number is not None:
        _open(where / _chosen(found, number).file)
    elif index:
        _open(where)
    else:
        table = new_table(*right("lesson"), "what it shows", "file")
        for one in found:
            table.add_row(str(one.number), one.what, one.file)
        show(table, f"\nin {where}; open one by its number, such as: gpusim lessons 1")


def listed(where: Path) -> list[Lesson]:
    """Return the lessons of a folder, by number, with the first sentence of each."""
    found = [(int(path.stem.removeprefix(FIRST).partition("_")[0]), path) for path in where.glob(f"{FIRST}*_*.py")]
    return [Lesson(number, path.name, _sentence(path)) for number, path in sorted(found)]


def _sentence(path: Path) -> str:
    """The first line of a module's docstring, without running it."""
    return (ast.get_docstring(ast.parse(path.read_bytes())) or "").split("\n")[0]


def _chosen(found: Sequence[Lesson], number: int) -> Lesson:
    for one in found:
        if one.number == number:
            return one
    raise UserError(f"lesson {number}: there is none; give {found[0].number} to {found[-1].number}")


def _open(what: Path) -> None:
    """Show a notebook, or a folder of them, in a browser; the lessons import from their own folder."""
    extra.module("marimo", "lessons")
    home = what if what.is_dir() else what.parent
    subprocess.run([sys.executable, "-m", "marimo", "run", what], cwd=home, check=False)
