"""Faults of a text: what is found is kept, and the text is read on, so that all are told at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from isa.reading.source import AssemblyError

MOST = 9  # faults that are told after the first
T = TypeVar("T")
_R = TypeVar("_R")


def tried(faults: list[AssemblyError], made: Callable[..., T], *arguments: object, otherwise: _R) -> T | _R:
    """Return what a function makes of its arguments; if that is a fault, keep the fault and return `otherwise`."""
    try:
        return made(*arguments)
    except AssemblyError as fault:
        faults.append(fault)
        return otherwise


def raise_all(faults: Iterable[AssemblyError]) -> None:
    """Raise the first of some faults by its place in the text, with the others as further ones; none: nothing."""
    ordered = sorted(faults, key=lambda fault: (fault.line, fault.column))
    if ordered:
        first, *others = ordered
        first.further = (*map(str, others[:MOST]), *_left_out(len(others) - MOST))
        raise first


def _left_out(count: int) -> tuple[str, ...]:
    return (f"{count} more faults",) if count > 0 else ()
