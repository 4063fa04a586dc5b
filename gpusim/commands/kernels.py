"""`gpusim kernels`: the kernels that come with the simulator, and their parameters."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.table import Table

from gpusim.commands.document import console, write_json
from workloads.catalog import CATALOG, Entry, Parameter, find


def kernels(
    name: Annotated[str, typer.Argument(help="A kernel's name.")] = "",
    json: Annotated[bool, typer.Option("--json", help="Print a JSON document.")] = False,
) -> None:
    """List the kernels, or the parameters of one.

    Example: gpusim kernels sgemm-lai
    """
    show = _show_one if name else _show_all
    show(name, json)


def _show_all(_: str, json: bool) -> None:
    if json:
        write_json({"kernels": [_as_dict(entry) for entry in CATALOG.values()]})
        return
    table = Table("kernel", "what it is", box=None, header_style="bold", pad_edge=False)
    for entry in CATALOG.values():
        table.add_row(entry.name, entry.description)
    console().print(table)


def _show_one(name: str, json: bool) -> None:
    entry = find(name)
    if json:
        write_json(_as_dict(entry))
        return
    table = Table("parameter", "default", "takes", "what it is", box=None, header_style="bold", pad_edge=False)
    for parameter in entry.parameters:
        table.add_row(parameter.name, _default(parameter), parameter.allowed, parameter.doc)
    first = entry.parameters[0]
    console().print(f"{entry.name}: {entry.description}\n")
    console().print(table)
    console().print(f"\nExample: gpusim run {entry.name} -p {first.name}={_default(first)} --machine gtx580")


def _default(parameter: Parameter) -> str:
    return "auto" if parameter.default is None else str(parameter.default)


def _as_dict(entry: Entry) -> dict[str, Any]:
    parameters = [
        {"name": p.name, "default": _default(p), "allowed": p.allowed, "doc": p.doc} for p in entry.parameters
    ]
    return {"kernel": entry.name, "description": entry.description, "parameters": parameters}
