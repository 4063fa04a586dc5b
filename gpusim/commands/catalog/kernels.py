"""`gpusim kernels`: the kernels that come with the simulator, and their parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from msgspec import Struct, structs
from typer import Argument

from gpusim.commands.frame.command import Answer
from gpusim.commands.frame.document import new_table
from gpusim.commands.frame.options import kernels_from
from gpusim.support.document import Document, KernelKey, doc
from isa.errors import UserError
from workloads.catalog import CATALOG, find
from workloads.entries.entry import Entry, Parameter, shown_default
from workloads.spaces import SPACES, make_space


@dataclass(frozen=True)
class Takes:
    """A parameter of a kernel, or a number of a search space: its default as text, and in words the values it takes."""

    name: str
    default: str
    allowed: str
    doc: str


class KernelEntry(Struct, frozen=True):
    """A kernel of the catalog."""

    kernel: KernelKey
    description: Annotated[str, doc("Description of the kernel.")]
    parameters: Annotated[list[Takes], doc("Its parameters, which -p sets.")]


class KernelDocument(KernelEntry, Document, frozen=True):
    """A kernel of the catalog and its parameters."""


class KernelsDocument(Document, frozen=True):
    """The kernels of the catalog and their parameters."""

    kernels: Annotated[list[KernelEntry], doc("All of them.")]


def kernels(name: Annotated[str, Argument(help="A kernel's name.", autocompletion=kernels_from)] = "") -> Answer:
    """List the kernels, or the parameters of one.

    Example: gpusim kernels sgemm-lai
    """
    if name:
        return _one(name)
    rows = [(entry.name, entry.description) for entry in CATALOG.values()]
    table = new_table("kernel", "what it is", rows=rows)
    return Answer(KernelsDocument([_entry(entry) for entry in CATALOG.values()]), [table])


def _one(name: str) -> Answer:
    if name in SPACES and name not in CATALOG:
        kernel = make_space(name, {}).kernel
        raise UserError(f"{name}: is a search space of {kernel}; `gpusim space {name}` counts it, or name {kernel}")
    entry = find(name)
    document = KernelDocument(**structs.asdict(_entry(entry)))
    rows = [(one.name, one.default, one.allowed, one.doc) for one in document.parameters]
    table, first = new_table("parameter", "default", "takes", "what it is", rows=rows), document.parameters[0]
    example = f"gpusim run {entry.name} -p {first.name}={first.default} --machine {entry.machine}"
    return Answer(document, [f"{entry.name}: {entry.description}\n", table, f"\nExample: {example}"])


def _entry(entry: Entry) -> KernelEntry:
    return KernelEntry(entry.name, entry.description, [takes(p) for p in entry.parameters])


def takes(parameter: Parameter) -> Takes:
    """Return a parameter as documents have it."""
    return Takes(parameter.name, shown_default(parameter), parameter.allowed, parameter.doc)
