"""Arguments of Numba's kernels: an array is seven numbers and more, a tuple its elements, one behind another.

The order is that of Numba's launcher: no owner, no parent, elements, bytes of one, address, extents, strides in bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from isa.errors import UserError
from isa.reading import extra

EXTRA = "numba"


def plain(value: Any, name: str) -> Any:
    """Return what Numba types an argument by: arrays of other kinds as NumPy's, in the same memory.

    Raises UserError, by the argument's name, for one that gives NumPy a copy, where results would be lost.
    """
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return tuple(plain(one, f"{name}[{place}]") for place, one in enumerate(value))
    if isinstance(value, np.ndarray):
        return value.view(np.ndarray)
    is_array = hasattr(value, "__array_interface__") or hasattr(value, "__array__")
    return _shared(value, name) if is_array and not isinstance(value, np.generic) else value


def _shared(value: Any, name: str) -> np.ndarray[Any, Any]:
    """Return an array of another kind as one of NumPy: a copy is found by the next one, which lies elsewhere."""
    found: np.ndarray[Any, Any] = np.asarray(value)
    if found.size and not np.may_share_memory(found, np.asarray(value)):
        what = f"{name}: {type(value).__name__} gives NumPy a copy, which would keep the results"
        raise UserError(f"{what}; pass numpy.asarray of it, and read that")
    return found


def passed(kind: Any, value: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Yield what a launch passes for an argument of one of Numba's types, with names; raises UserError for other types.

    An array has the name of the argument, or that with its place in a tuple.
    """
    types = extra.module("numba", EXTRA).types
    if isinstance(kind, types.Array):
        yield from ((name, one) for one in _array(value))
    elif isinstance(kind, types.BaseTuple):
        for place, (its, one) in enumerate(zip(kind, value, strict=True)):
            yield from passed(its, one, f"{name}[{place}]")
    elif isinstance(kind, types.Boolean):
        yield name, np.uint8(bool(value))
    elif isinstance(kind, types.Integer | types.Float):
        yield name, _number(kind, value, name)
    elif isinstance(kind, types.Complex):
        number = np.dtype(str(kind)).type(value)
        yield from ((name, number.real), (name, number.imag))
    elif isinstance(kind, types.NPDatetime | types.NPTimedelta):
        yield name, np.asarray(value).view(np.int64)[()]
    elif isinstance(kind, types.Record):
        yield name, np.array(value).reshape(1)
    elif isinstance(kind, types.EnumMember):
        yield from passed(kind.dtype, value.value, name)
    else:
        raise UserError(f"{name}: an argument of type {kind}; give arrays, numbers or tuples of these")


def _array(value: Any) -> Iterator[Any]:
    yield from (None, None, np.int64(value.size), np.int64(value.itemsize), value)
    yield from map(np.int64, (*value.shape, *value.strides))


def _number(kind: Any, value: Any, name: str) -> np.generic:
    try:
        found: np.generic = np.dtype(str(kind)).type(value)
    except (OverflowError, TypeError, ValueError) as error:
        raise UserError(f"{name}: {value!r}, where the signature has {kind}: {str(error).lower()}") from None
    return found
