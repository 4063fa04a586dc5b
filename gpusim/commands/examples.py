"""`gpusim examples`: the kernels that come with gpusim, to run and to edit."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec

from gpusim.commands.arguments import CopyTo, Json
from gpusim.commands.document import new_table, show, write_json
from gpusim.support import shipped
from gpusim.support.document import Document, doc

FOLDER = "examples"
KINDS = ".asm", ".cu"
COMMENT = "//"


class Example(msgspec.Struct, frozen=True):
    """A kernel that comes with gpusim, and the first line of its source."""

    file: str
    what: str


class ExamplesDocument(Document, frozen=True):
    """The kernels that come with gpusim."""

    folder: Annotated[str, doc("Where they are.")]
    examples: Annotated[list[Example], doc("Listings and CUDA C, by their place below the folder.")]


def examples(*, copy: CopyTo = None, json: Json = False) -> None:
    """List the kernels that come with gpusim: listings, and CUDA C with its launch file and machine code.

    --copy puts them all into a new folder, to run and to edit there.

    Example: gpusim examples --json
    """
    where = shipped.copied(FOLDER, copy) if copy else shipped.folder(FOLDER)
    found = listed(where)
    if json:
        write_json(ExamplesDocument(str(where), found))
        return
    table = new_table("file", "what it is")
    for one in found:
        table.add_row(one.file, one.what)
    show(table, f"\nin {where}; run one by its path, such as: gpusim run {where / 'saxpy.asm'}")


def listed(where: Path) -> list[Example]:
    """Return the kernels below a folder, by name, with the comment that each begins with."""
    sources = sorted(path for path in where.rglob("*") if path.suffix in KINDS)
    return [Example(path.relative_to(where).as_posix(), _first_comment(path)) for path in sources]


def _first_comment(path: Path) -> str:
    with path.open(encoding="utf-8") as file:
        return file.readline().removeprefix(COMMENT).strip()
