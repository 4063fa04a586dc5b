"""Show data of any size in one line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import fields
from itertools import islice
from typing import Any

import numpy as np

LONGEST = 60  # characters of one value
FIRST = 3  # elements of a collection that are shown


def brief(record: Any) -> str:
    """Return a record with its fields cut to a few words each: a `__repr__` for fields that may hold any amount.

    A record is a dataclass, or a struct of msgspec, which has the names of its fields.
    """
    names = getattr(record, "__struct_fields__", None) or [field.name for field in fields(record) if field.repr]
    parts = (f"{name}={shown(getattr(record, name))}" for name in names)
    return f"{type(record).__qualname__}({', '.join(parts)})"


def shown(value: Any) -> str:
    """Return a text for a value, at most LONGEST characters: of a collection, the first elements."""
    if isinstance(value, str):
        return cut(repr(value[:LONGEST]))
    if isinstance(value, np.ndarray):
        return f"<{'x'.join(map(str, value.shape))} of {cut(str(value.dtype))}>"
    if isinstance(value, Mapping):
        return _collected(len(value), (f"{key!r}: {shown(each)}" for key, each in value.items()), "{}")
    if isinstance(value, tuple | list | Set):
        return _collected(len(value), map(shown, value), "[]" if isinstance(value, list) else "()")
    return cut(repr(value))


def cut(text: str) -> str:
    """Return the text, cut off at LONGEST characters."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def _collected(number: int, elements: Iterable[str], brackets: str) -> str:
    inside = cut(", ".join(islice(elements, FIRST)))
    more = f", {number} in all" if number > FIRST else ""
    return f"{brackets[0]}{inside}{more}{brackets[1]}"
