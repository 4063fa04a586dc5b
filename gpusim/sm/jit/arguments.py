"""Arguments of compiled code as words: what an entry's code reads them from, and of which kinds they are.

An entry is compiled with one parameter, the address of words of 64 bits, and takes its arguments apart itself
(gpusim/sm/jit/compiler/entries.py). So code from the cache is called without Numba, which knows arguments by its types.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from gpusim.sm.state.layout import Row, Rows

# What Numba's types say of an array: C order, Fortran order, aligned, writeable.
ASKED = 0x1 | 0x2 | 0x100 | 0x400
NAMES = {bool: "bool", int: "int64", float: "float64"}


def kind(value: Any) -> Any:
    """Return what distinguishes the code for an argument from that for others."""
    of = type(value)
    if of in NAMES or isinstance(value, Row):
        return of
    if of is Rows:
        return value.dtype.type, value.ndim
    if isinstance(value, np.ndarray):
        return value.dtype, value.ndim, value.flags.num & ASKED
    if isinstance(value, tuple):
        return (of, *map(kind, value))
    return value.dtype if isinstance(value, np.generic) else of


def named(found: Any) -> str:
    """Return the name of such a kind, which is the same in all processes."""
    if isinstance(found, tuple):
        return f"({', '.join(map(named, found))})"
    if isinstance(found, type):
        return NAMES.get(found) or f"{found.__module__}.{found.__qualname__}"
    return str(found)


def put(value: Any, words: list[int]) -> None:
    """Add the words of an argument: a number, or where an array begins, its shape and strides in bytes."""
    if isinstance(value, int | np.integer | np.bool_):
        words.append(int(value))
    elif isinstance(value, np.ndarray):
        words.append(value.ctypes.data)
        words += value.shape
        words += value.strides
    elif isinstance(value, tuple):
        for one in value:
            put(one, words)
    elif isinstance(value, Row):
        words.append(np.asarray(value).ctypes.data)
    else:
        words.append(int(np.float64(value).view(np.int64)))


def block(values: tuple[Any, ...]) -> Any:
    """Return the words of all arguments as an array of ctypes."""
    words: list[int] = []
    for value in values:
        put(value, words)
    return (ctypes.c_int64 * len(words))(*words)
