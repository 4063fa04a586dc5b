"""`gpusim examples`: the kernels that come with gpusim, to run and to edit."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec

from gpusim.commands.frame.command import Answer
from gpusim.commands.frame.document import new_table
from gpusim.commands.frame.options import CopyTo
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


def examples(copy: CopyTo = None) -> Answer:
    """List the kernels that come with gpusim: listings, and CUDA C with its launch file and machine code.

    --copy puts them all into a new folder, to run and to edit there.

    Example: gpusim examples --json
    """
    where = shipped.copied(FOLDER, copy) if copy else shipped.folder(FOLDER)
    found = listed(where)
    table = new_table("file", "what it is", rows=[(one.file, one.what) for one in found])
    advice = f"\nin {where}; run one by its path, such as: gpusim run {where / 'saxpy.asm'}"
    return Answer(ExamplesDocument(str(where), found), [table, advice])


def listed(where: Path) -> list[Example]:
    """Return the kernels below a folder, by name, with the comment that each begins with."""
    sources = sorted(path for path in where.rglob("*") if path.suffix in KINDS)
    return [Example(path.relative_to(where).as_posix(), _first_comment(path)) for path in sources]


def _first_comment(path: Path) -> str:
    with path.open(encoding="utf-8") as file:
        return file.readline().removeprefix(COMMENT).strip()
