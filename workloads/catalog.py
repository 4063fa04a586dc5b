"""Kernels by name, built from the texts of a command line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from isa.errors import UserError
from isa.kernel import Kernel
from isa.reading.nearest import nearest as nearest_name
from workloads.entries import gemm, microbench
from workloads.entries.entry import Entry, Parameter

CATALOG: Mapping[str, Entry] = MappingProxyType({entry.name: entry for entry in (*gemm.ENTRIES, *microbench.ENTRIES)})


def make(name: str, texts: Mapping[str, str] | None = None) -> Kernel:
    """Build the named kernel with the parameters given as text, the others at their defaults.

    Raises UserError for an unknown kernel or parameter, a value that does not parse, and one that the kernel refuses.
    """
    entry = find(name)
    return entry.function(**arguments(name, entry.parameters, texts or {}))


def arguments(name: str, parameters: Iterable[Parameter], texts: Mapping[str, str]) -> dict[str, object]:
    """Return the values that the texts give to some of the parameters; raises UserError, which begins with `name`."""
    known = {p.name: p for p in parameters}
    for key in [key for key in texts if key not in known]:
        raise UserError(f"{name}: no parameter {key}{nearest(key, known)}; it takes {', '.join(known)}")
    return {key: _parse(name, known[key], text) for key, text in texts.items()}


def find(name: str) -> Entry:
    """Return the entry of the named kernel; raises UserError with the nearest name if there is none."""
    if name not in CATALOG:
        raise UserError(f"no kernel {name}{nearest(name, CATALOG)}; there are {', '.join(CATALOG)}")
    return CATALOG[name]


def nearest(name: str, known: Iterable[str]) -> str:
    """Return a question that suggests the nearest known name, or nothing."""
    meant = nearest_name(name, known)
    return f" (did you mean {meant}?)" if meant else ""


def _parse(kernel: str, parameter: Parameter, text: str) -> object:
    try:
        return parameter.parse(text)
    except (ValueError, KeyError):
        raise UserError(f"{kernel}: {parameter.name}={text} is not allowed; give {parameter.allowed}") from None
