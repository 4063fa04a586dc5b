"""`gpusim schema`: the JSON Schema of the documents."""

from __future__ import annotations

from inspect import cleandoc
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from gpusim import timeline, whole_file
from gpusim.commands.arguments import Json
from gpusim.commands.document import show, write, write_json
from isa.errors import UserError

DOCUMENTS = {"timeline": (timeline.Timeline, timeline.VERSION)}
DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema(
    document: Annotated[
        str | None, typer.Argument(help=f"One of {', '.join(DOCUMENTS)}; all are listed without.")
    ] = None,
    *,
    out: Annotated[Path | None, typer.Option("--out", help="Write it to a file.")] = None,
    json: Json = False,
) -> None:
    """Print the JSON Schema of a document, by which other programs can read and check it.

    Example: gpusim schema timeline
    """
    if document is None and json:
        write_json({"documents": {name: version for name, (_, version) in DOCUMENTS.items()}})
    elif document is None:
        show(*(f"{name}-{version}: {_summary(kind)}" for name, (kind, version) in DOCUMENTS.items()))
    elif out:
        whole_file.write(out, text(document))
    else:
        write(text(document))


def text(document: str) -> str:
    """Return the JSON Schema of a document; raises UserError if there is no such document."""
    if document not in DOCUMENTS:
        raise UserError(f"{document}: no document with a schema; there are {', '.join(DOCUMENTS)}")
    kind, version = DOCUMENTS[document]
    made: dict[str, Any] = {"$schema": DIALECT, "$id": f"{document}-{version}.json", **msgspec.json.schema(kind)}
    for one in made["$defs"].values():
        one["description"] = cleandoc(one["description"])
    return msgspec.json.format(msgspec.json.encode(made), indent=2).decode() + "\n"


def _summary(kind: type) -> str:
    return (kind.__doc__ or "").split("\n")[0]
