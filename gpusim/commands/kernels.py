"""`gpusim kernels`: the kernels that come with the simulator, and their parameters."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from gpusim.commands.document import new_table, show, write_json
from workloads.catalog import CATALOG, find
from workloads.entry import Entry, Parameter


def kernels(
    name: Annotated[str, typer.Argument(help="A kernel's name.")] = "",
    json: Annotated[bool, typer.Option("--json", help="Print a JSON document.")] = False,
) -> None:
    """List the kernels, or the parameters of one.

    Example: gpusim kernels sgemm-lai
    """
    tell = _tell_one if name else _tell_all
    tell(name, json)


def _tell_all(_: str, json: bool) -> None:
    if json:
        write_json({"kernels": [_as_dict(entry) for entry in CATALOG.values()]})
        return
    table = new_table("kernel", "what it is")
    for entry in CATALOG.values():
        table.add_row(entry.name, entry.description)
    show(table)


def _tell_one(name: str, json: bool) -> None:
    entry = find(name)
    if json:
        write_json(_as_dict(entry))
        return
    table = new_table("parameter", "default", "takes", "what it is")
    for parameter in entry.parameters:
        table.add_row(parameter.name, _default(parameter), parameter.allowed, parameter.doc)
    first = entry.parameters[0]
    example = f"gpusim run {entry.name} -p {first.name}={_default(first)} --machine {entry.machine}"
    show(f"{entry.name}: {entry.description}\n", table, f"\nExample: {example}")


def _default(parameter: Parameter) -> str:
    return "auto" if parameter.default is None else str(parameter.default)


def _as_dict(entry: Entry) -> dict[str, Any]:
    parameters = [
        {"name": p.name, "default": _default(p), "allowed": p.allowed, "doc": p.doc} for p in entry.parameters
    ]
    return {"kernel": entry.name, "description": entry.description, "parameters": parameters}
