"""Kernels by name, built from the texts of a command line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module

from isa.errors import UserError
from isa.kernel import Kernel
from isa.reading.nearest import nearest as nearest_name
from workloads.entries.entry import Entry, Parameter

# Kernels by the module of workloads.entries that has their entries, which is imported when one of them is asked for.
NAMES = {
    "gemm": "sgemm-lai matmul-naive matmul-block dgemm-tan transpose gemm-stencil sgemm-vega-legacy sgemm-vega-vlp "
    "dgemm-vega-vlp sg4",
    "microbench": "chain throughput expression cadence mix dual-issue bank-conflict maxas-loop register-banks "
    "pointer-chase stream offset-copy coalescing divergence partition-camping barrier",
}


@dataclass(frozen=True)
class _Catalog(Mapping[str, Entry]):
    """The entries by name; who asks for names alone imports no kernel."""

    modules: Mapping[str, str]

    def __getitem__(self, name: str) -> Entry:
        entries: Iterable[Entry] = import_module(f"workloads.entries.{self.modules[name]}").ENTRIES
        return next(entry for entry in entries if entry.name == name)

    def __contains__(self, name: object) -> bool:
        return name in self.modules

    def __iter__(self) -> Iterator[str]:
        return iter(self.modules)

    def __len__(self) -> int:
        return len(self.modules)


CATALOG: Mapping[str, Entry] = _Catalog({name: module for module, text in NAMES.items() for name in text.split()})


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
