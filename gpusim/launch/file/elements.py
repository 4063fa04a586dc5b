"""Elements of buffers and variables: from generators, lists and .npy files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusim.launch.file import addresses, npy
from gpusim.launch.file.document import TYPES, Contents, Number
from gpusim.launch.file.source import Source
from isa.errors import UserError
from isa.generators import ArrayFill
from isa.kernel import Buffer
from isa.reading import input_file
from isa.reading.source import suggest
from isa.support.brief import shown
from isa.text import buffer_text

_REAL = {"c8": "f4", "c16": "f8"}  # complex numbers are pairs of these
_KINDS = (*_REAL, *(np.dtype(name).str[1:] for name in TYPES))
_NPY = "write it with numpy.save"


def buffer(source: Source, key: str, given: Contents, name: str) -> Buffer:
    """Return the buffer that the table at `key` describes; raises UserError."""
    if given.file:
        return _of_file(source, key, given, name)
    dtype = element_type(source, f"{key}.buffer", given.buffer)
    fill = source.token(f"{key}.fill", given.fill.strip())
    elements = given.elements or (len(fill.text.split()) - 1 if fill.text.startswith("values ") else 0)
    if not elements:
        raise source.refusal(key, f"buffer {name} has no elements; write elements = 1024, or as many as it has")
    generated = fill.text and not addresses.is_of(fill.text)  # addresses are known when all buffers are
    return Buffer(name, dtype, elements, buffer_text.fill(fill, dtype, elements) if generated else None)


def element_type(source: Source, key: str, name: str) -> str:
    """Return NumPy's short code of a type, `f4` of float32; a bool is a byte. Raises UserError for an unknown type."""
    if name not in TYPES:
        raise source.refusal(key, f"{name!r} is no type; {suggest(name, TYPES)}")
    return "u1" if name == "bool" else np.dtype(name).str[1:]


def array(source: Source, key: str, name: str) -> NDArray[Any]:
    """Return the numbers in a .npy file in the order of C, complex ones as pairs; raises UserError."""
    path = source.named(key, name)
    try:
        data = input_file.read(path, _NPY, input_file.MOST_GENERATED)
    except UserError as error:
        raise source.refusal(key, str(error)) from None
    try:
        found = npy.array(data, _KINDS)
    except ValueError as error:
        raise source.refusal(key, f"{path}: {error}") from None
    flat = np.ascontiguousarray(found, found.dtype.newbyteorder("<")).reshape(-1)
    return flat.view(_REAL.get(flat.dtype.str[1:], flat.dtype))


def listed(source: Source, key: str, values: Sequence[Number], name: str) -> NDArray[Any]:
    """Return numbers as elements of the type of that name; raises UserError for those that it doesn't hold."""
    return np.array([number(source, key, value, name) for value in values])


def number(source: Source, key: str, value: Number, name: str) -> Any:
    """Return a number of the type of that name; raises UserError for one that it doesn't hold, and for no such type."""
    element_type(source, key, name)
    try:
        return converted(value, name)
    except ValueError as error:
        raise source.refusal(key, str(error)) from None


def converted(value: Number, name: str) -> Any:
    """Return a number as NumPy's of the type of that name: reals are rounded; ValueError for what it can't hold."""
    kind = np.dtype(name)
    if kind.kind == "f":
        try:
            with np.errstate(over="ignore"):
                return kind.type(value)
        except OverflowError:
            raise ValueError(f"{shown(value)} is beyond {name}; write inf if that is meant") from None
    if isinstance(value, bool) or kind.kind == "b":
        if not isinstance(value, bool) and value not in (0, 1):
            raise ValueError(f"{value} is no {name}; write true or false")
        return kind.type(value)
    if isinstance(value, float) and not value.is_integer():
        raise ValueError(f"{value} is no whole number; {name} takes one")
    limits = np.iinfo(kind)
    if not limits.min <= value <= limits.max:
        raise ValueError(f"{shown(value)} does not fit {name}; write {limits.min} to {limits.max}")
    return kind.type(int(value))


def _of_file(source: Source, key: str, given: Contents, name: str) -> Buffer:
    values = array(source, f"{key}.file", given.file)
    if given.fill:
        raise source.refusal(f"{key}.fill", f"buffer {name} has a file and a fill; leave out one of the two")
    if given.buffer and element_type(source, f"{key}.buffer", given.buffer) != _code(values):
        raise source.refusal(f"{key}.buffer", f"{given.file} has {values.dtype}, not {given.buffer}; leave buffer out")
    if given.elements not in (0, values.size):
        cause = f"{given.file} has {values.size} elements, not {given.elements}"
        raise source.refusal(f"{key}.elements", f"{cause}; leave elements out")
    if not values.size:
        raise source.refusal(f"{key}.file", f"{given.file} has no elements; save one at least")
    return Buffer(name, _code(values), values.size, ArrayFill(values))


def _code(values: NDArray[Any]) -> str:
    return "u1" if values.dtype.kind == "b" else values.dtype.str[1:]
