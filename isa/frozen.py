"""Pickling of frozen data: read-only mappings can't be pickled by themselves."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

KEPT = "results"  # what isa.once keeps with a record, by function and arguments


class _Pairs(tuple[tuple[Any, Any], ...]):
    """The pairs of a read-only mapping."""

    __slots__ = ()


def state(record: Any) -> dict[str, Any]:
    """Return the fields of a record for pickling, read-only mappings as pairs, without results: its `__getstate__`."""
    fields = ((name, value) for name, value in vars(record).items() if name != KEPT)
    return {name: _Pairs(v.items()) if isinstance(v, MappingProxyType) else v for name, v in fields}


def restore(record: Any, fields: dict[str, Any]) -> None:
    """Set the fields of a record from such a state: its `__setstate__`."""
    vars(record).update({n: MappingProxyType(dict(v)) if isinstance(v, _Pairs) else v for n, v in fields.items()})
