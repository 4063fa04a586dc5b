"""The array of a .npy file, which may be anything: its header is read first, and says what the rest must be."""

from __future__ import annotations

import warnings
from io import BytesIO
from math import prod
from tokenize import TokenError
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from isa.reading.nearest import LONGEST

_ZIP = b"PK\x03\x04"
_READERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
# What NumPy raises at a header that makes no sense, a text that Python's own parser reads.
_SENSELESS = ValueError, TypeError, LookupError, AttributeError, ArithmeticError, SyntaxError, TokenError, EOFError
_TOO_LARGE = 1 << 63  # bytes of an array, also where it has no element: NumPy refuses it
MOST_DIMENSIONS = 32  # what every NumPy takes
_TOO_DEEP = RecursionError, MemoryError


def array(data: bytes, kinds: tuple[str, ...]) -> NDArray[Any]:
    """Return the array in the bytes of a .npy file, if its elements are of one of these kinds, such as f4.

    Raises ValueError, with the cause and the fix, for any other bytes; nothing in them is executed.
    """
    if data.startswith(_ZIP):
        raise ValueError("several arrays; save one array with numpy.save")
    if not data.startswith(npy.MAGIC_PREFIX):
        raise ValueError("no array of numbers: it does not begin as a .npy file; write it with numpy.save")
    shape, by_columns, dtype, start = _header(data)
    if dtype.hasobject:
        raise ValueError("an array of Python objects; save one of integers or floating-point numbers")
    if dtype.str[1:] not in kinds:
        raise ValueError(f"{str(dtype)[:LONGEST]}; save one array of integers or floating-point numbers")
    if prod(max(1, size) for size in shape) * dtype.itemsize >= _TOO_LARGE:
        raise ValueError(f"no array of numbers: its shape is {shape}; write it with numpy.save")
    needed, there = prod(shape) * dtype.itemsize, len(data) - start
    if needed > there:
        raise ValueError(f"cut short: {there} bytes of the {needed} of its numbers; write it with numpy.save")
    flat = np.frombuffer(data, dtype, prod(shape), start)
    return flat.reshape(shape, order="F" if by_columns else "C")


def _header(data: bytes) -> tuple[tuple[int, ...], bool, np.dtype[Any], int]:
    """Return shape, whether columns come first, type of the elements, and where these begin; raises ValueError."""
    file = BytesIO(data)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # on headers of old versions, and on odd texts in them
            shape, by_columns, dtype = _READERS[npy.read_magic(file)](file)
    except (*_SENSELESS, *_TOO_DEEP):
        raise ValueError("no array of numbers: its header is damaged; write it with numpy.save") from None
    if any(isinstance(size, bool) or size < 0 for size in shape) or len(shape) > MOST_DIMENSIONS:
        raise ValueError(f"no array of numbers: its shape is {shape}; write it with numpy.save")
    return shape, by_columns, dtype, file.tell()
