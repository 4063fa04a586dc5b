"""The page of kernels and search spaces, with the parameters of each."""

from __future__ import annotations

from collections.abc import Iterable

from generate.markdown import block, code, page, table
from workloads.catalog import CATALOG
from workloads.entries.entry import Entry, Parameter, shown_default
from workloads.spaces import SPACES

ABOUT = """\
`gpusim run` and other commands take a kernel by name, and `-p NAME=VALUE` sets its parameters. After the kernels follow
the search spaces, which `gpusim space` and `gpusim tune` take by name ([tuning](../tuning.md))."""
HEAD = "parameter", "default", "takes", "what it is"


def kernels() -> str:
    """Return the page."""
    kernels = (_kernel(entry) for entry in CATALOG.values())
    spaces = (_section(f"Search space {name}", entry.description, entry.parameters) for name, entry in SPACES.items())
    return page("Kernels and search spaces", ABOUT, *kernels, *spaces)


def _kernel(entry: Entry) -> str:
    example = block(f"gpusim run {entry.name} --machine {entry.machine}", "sh")
    return "\n\n".join((_section(entry.name, entry.description, entry.parameters), example))


def _section(name: str, description: str, parameters: Iterable[Parameter]) -> str:
    rows = [(code(p.name), code(shown_default(p)), p.allowed, p.doc) for p in parameters]
    about = f"{description[0].upper()}{description[1:]}."
    return "\n\n".join((f"## {name}", about, *([table(HEAD, rows)] if rows else [])))
