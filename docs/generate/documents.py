"""The pages of JSON documents: every field of each, from the JSON Schema that `gpusim schema` prints."""

from __future__ import annotations

import json
from typing import Any

from generate.markdown import code, contents, page, table
from gpusim.commands.catalog.schema import DOCUMENTS, text

ABOUT = """\
Documents are the output of `--json`, for other programs. `gpusim schema NAME` prints the JSON Schema (draft 2020-12) of
a document, with which it can be checked. The version grows when a field changes its meaning or is removed."""
HEAD = "field", "type", "meaning"


def documents() -> dict[str, str]:
    """Return the pages by their paths: `documents`, and one for each document."""
    schemas = {name: json.loads(text(name)) for name in DOCUMENTS}
    rows = [(f"[{name}](documents/{name}.md)", _about(schema)) for name, schema in schemas.items()]
    pages = {f"documents/{name}": _page(name, schema) for name, schema in schemas.items()}
    return {
        "documents": page("JSON documents", ABOUT, table(("document", "what it is"), rows), contents(*pages))
    } | pages


def _about(schema: dict[str, Any]) -> str:
    """A description of the document, in a line."""
    return str(schema["$defs"][schema["$ref"].rpartition("/")[2]]["description"]).split("\n")[0]


def _page(name: str, schema: dict[str, Any]) -> str:
    defined = schema["$defs"]
    first = schema["$ref"].rpartition("/")[2]
    order = [first, *(one for one in defined if one != first)]
    about = f"Its schema is [{schema['$id']}](../../schema/{schema['$id']})."
    return page(name, about, *(_object(one, defined[one]) for one in order))


def _object(name: str, schema: dict[str, Any]) -> str:
    needed = schema.get("required", ())
    rows = [
        (code(field), _kind(one) + ("" if field in needed else ", may be absent"), one.get("description", ""))
        for field, one in schema.get("properties", {}).items()
    ]
    columns = 3 if any(meaning for *_, meaning in rows) else 2
    shown = [table(HEAD[:columns], [row[:columns] for row in rows])] if rows else []
    return "\n\n".join((f"## {name}", schema.get("description", ""), *shown))


def _kind(schema: dict[str, Any]) -> str:
    """The type of a value, in words."""
    match schema:
        case {"$ref": str(reference)}:
            name = reference.rpartition("/")[2]
            kind = f"[{name}](#{name.lower()})"
        case {"anyOf": choices}:
            kind = " or ".join(_kind(one) for one in choices)
        case {"enum": values}:
            kind = "one of " * (len(values) > 1) + ", ".join(map(code, values))
        case {"type": "array"}:
            kind = f"list of {_items(schema)}"
        case {"type": "object", "additionalProperties": dict(inner)}:
            kind = f"object of {_kind(inner)}"
        case _:
            kind = str(schema.get("type", "anything"))
    return kind


def _items(schema: dict[str, Any]) -> str:
    """The types of an array's items: one for all, or one for each place."""
    if schema.get("prefixItems"):
        return ", ".join(_kind(one) for one in schema["prefixItems"])
    items = schema.get("items")
    return _kind(items) if isinstance(items, dict) and items else "anything"
