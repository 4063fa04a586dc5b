"""Pickling and comparison of frozen data: read-only mappings can't be pickled, nor arrays compared, as they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")
KEPT = "results"  # what isa.support.once keeps with a record, by function and arguments


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


def comparable(kind: type[T]) -> type[T]:
    """Let records of a class with arrays be compared: equal are those with equal fields, arrays bit for bit.

    The class decorator of a dataclass. Such records have no hash, as arrays have none.
    """
    changed: Any = kind
    changed.__eq__, changed.__hash__ = _equal, None
    return kind


def _equal(record: Any, other: Any) -> bool:
    if type(record) is not type(other):
        return False
    names = (one.name for one in fields(record) if one.compare)
    return all(_same(getattr(record, name), getattr(other, name)) for name in names)


def _same(one: Any, other: Any) -> bool:
    """Tell whether two values are equal, whatever arrays are in them."""
    if one is other:
        return True
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_same(value, other[key]) for key, value in one.items())
    if isinstance(one, tuple | list) and type(one) is type(other):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return False
    return bool(one == other)
