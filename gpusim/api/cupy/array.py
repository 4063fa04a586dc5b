"""Arrays as CuPy's programs write them: NumPy's, with `get` and `set`, and NumPy's functions that make such."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from types import ModuleType
from typing import Any

import numpy as np

from isa.errors import UserError

_PARTS = "random", "linalg", "fft"  # of NumPy, which have functions of their own


class ndarray(np.ndarray[Any, Any]):  # noqa: N801  (CuPy's name)
    """An array of NumPy with the methods that CuPy's has for the way to the host and back."""

    def get(self, stream: object = None, order: str = "C", out: Any = None, blocking: bool = True) -> Any:
        """Return a copy as a plain array of NumPy, or copy to `out`; a call waits for nothing."""
        if out is None:
            return np.array(self, order=order)  # type: ignore[call-overload]  # a letter
        out[...] = self
        return out

    def set(self, arr: Any, stream: object = None) -> None:
        """Copy an array of NumPy into this one."""
        self[...] = arr

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        """Return results as arrays, also those without axes."""
        return np.asarray(array).view(type(self))


def array(
    values: Any, dtype: Any = None, copy: bool | None = True, order: Any = None, subok: bool = False, ndmin: int = 0
) -> ndarray:
    """Return an array of these values.

    Without `copy` an array of this kind shares its memory, if it can; others are copied, as to another memory.
    """
    copied = None if not copy and isinstance(values, ndarray) else True
    return np.array(values, dtype, order=order, copy=copied, ndmin=ndmin).view(ndarray)


def asarray(values: Any, dtype: Any = None, order: Any = None) -> ndarray:
    """Return an array of these values; one that is none of this kind yet is copied, as to another memory."""
    return array(values, dtype, False, order)


def asnumpy(values: Any, stream: object = None, order: str = "C", out: Any = None) -> Any:
    """Return a copy of an array as a plain one of NumPy."""
    return np.asarray(values).view(ndarray).get(out=out, order=order)


class _Part:
    """A part of NumPy whose functions return arrays of this kind."""

    def __init__(self, part: ModuleType) -> None:
        self._part = part

    def __getattr__(self, name: str) -> Any:
        return of_numpy(self._part, name)


def of_numpy(part: Any, name: str) -> Any:
    """Return what NumPy has by a name; arrays of functions are of this kind. Raises AttributeError if it has none."""
    found = getattr(part, name)
    if name in _PARTS and part is np:
        return _Part(found)
    if isinstance(found, type) or not callable(found):
        return found
    return _Function(found)


class _Function:
    """A function of NumPy, or a method of one, as `add.reduce` is, whose arrays are of this kind."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        update_wrapper(self, function)

    def __call__(self, *args: Any, **named: Any) -> Any:
        return _here(self._function(*args, **named))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # copies ask before there is a function
            raise AttributeError(name)
        return of_numpy(self._function, name)


def _here(found: Any) -> Any:
    if isinstance(found, tuple | list) and not hasattr(found, "_fields"):
        return type(found)(map(_here, found))
    if isinstance(found, np.ndarray | np.generic):
        return np.asarray(found).view(ndarray)
    return found


def checked(value: Any, name: str) -> Any:
    """Return an argument as an array of NumPy, or a number; raises UserError for another one."""
    if isinstance(value, np.ndarray):
        return value.view(np.ndarray)
    if isinstance(value, bool | int | float | np.number | np.bool_):
        return value
    raise UserError(f"{name}: {type(value).__name__}; give an array or a number")
