"""Buffers in text: name, type, number of elements and generator of their contents, read and written."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isa import generators
from isa.errors import UserError
from isa.generators import ConstantFill, GeneratedFill, HashFill, IotaFill, ValuesFill
from isa.kernel import Buffer
from isa.reading import literals
from isa.reading.source import AssemblyError, Token, equation, new_name, suggest, whole, words

DTYPES = {"f16": "f2", "f32": "f4", "f64": "f8", "i32": "i4", "u32": "u4"}
GENERATORS = ("zero", "iota", "constant", "hash", "values")
MOST_SEED = 2**64 - 1  # of a hash, which takes its low 32 bits
LONGEST = 4096  # elements that are written out when no generator describes them


def buffer(token: Token, taken: Iterable[str]) -> Buffer:
    """Return the buffer of `name dtype elements [= generator]`, a name not in `taken`; raises AssemblyError."""
    head, generator = equation(token, "name dtype elements = generator") if "=" in token.text else (token, None)
    if len(fields := words(head)) != 3:
        raise AssemblyError(head, f"{head.text!r} is no buffer; write .buffer name dtype elements")
    name, dtype, elements = new_name(fields[0], taken), _dtype(fields[1]), whole(fields[2], 1)
    return Buffer(name, dtype, elements, fill(generator, dtype, elements) if generator else None)


def show_buffer(buffer: Buffer) -> str:
    """Return the text of a buffer, which `buffer` reads back; raises UserError for long contents without generator."""
    dtype = np.dtype(buffer.dtype)
    name = next((text for text, kind in DTYPES.items() if dtype == kind), None)
    if name is None:
        raise UserError(f"buffer {buffer.name}: {dtype} has no text form; take one of {', '.join(DTYPES)}")
    fill = f" = {_show_fill(buffer)}" if buffer.fill else ""
    return f"{buffer.name} {name} {buffer.elements}{fill}"


def contents(buffer: Buffer) -> NDArray[np.float64]:
    """Return the elements of a buffer before the launch, as doubles."""
    if buffer.fill is None:
        return np.zeros(buffer.elements)
    return buffer.fill(np.arange(buffer.elements, dtype=np.int64)).astype(buffer.dtype).astype(np.float64)


def _dtype(token: Token) -> str:
    if token.text not in DTYPES:
        raise AssemblyError(token, f"unknown type {token.text}; {suggest(token.text, DTYPES)}")
    return DTYPES[token.text]


def fill(token: Token, dtype: str, elements: int) -> GeneratedFill | None:
    """Return the generator of so many elements that a text names, None for zeros; raises AssemblyError."""
    kind, *arguments = words(token)
    if kind.text not in GENERATORS:
        raise AssemblyError(kind, f"unknown generator {kind.text}; {suggest(kind.text, GENERATORS)}")
    match kind.text, len(arguments):
        case "zero", 0:
            return None
        case "iota", 0:
            return generators.iota_fill(dtype)
        case "constant", 1:
            return generators.constant_fill(_number(arguments[0], dtype), dtype)
        case "values", count if count == elements:
            return generators.values_fill(tuple(_number(a, dtype) for a in arguments), dtype)
        case "hash", 1 | 3:
            return _hash(token, arguments, dtype)
    usage = f"zero, iota, constant V, hash SEED [LOW HIGH], or values and {elements} numbers"
    raise AssemblyError(token, f"{kind.text} can't take {len(arguments)} numbers here; write {usage}")


def _hash(token: Token, arguments: list[Token], dtype: str) -> HashFill:
    seed = whole(arguments[0], 0, MOST_SEED)
    limits = [_number(argument, "f8") for argument in arguments[1:]] or [-1.0, 1.0]
    try:
        return generators.hash_fill(seed, limits[0], limits[1], dtype)
    except ValueError as error:
        raise AssemblyError(token, f"{error}; write hash SEED LOW HIGH with limits that suit") from None


def _number(token: Token, dtype: str) -> float:
    """Return the value that an element holds: an integer exactly, a decimal rounded once."""
    try:
        if dtype[0] == "f":
            return _real(token.text, max(32, 8 * int(dtype[1])))  # a half is rounded when it is stored
        value, limits = literals.integer(token.text), np.iinfo(dtype)
    except ValueError as error:
        raise AssemblyError(token, str(error)) from None
    if not limits.min <= value <= limits.max:
        raise AssemblyError(token, f"{token.text} does not fit; write {limits.min} to {limits.max}")
    return value


def _real(text: str, width: int) -> float:
    bits = literals.real_bits(f"{text}.0" if text.lstrip("+-").isdecimal() else text, width)
    return float(np.uint32(bits).view(np.float32) if width == 32 else np.uint64(bits).view(np.float64))


def _show_fill(buffer: Buffer) -> str:
    match buffer.fill:
        case HashFill(seed, low, high):
            return f"hash {seed} {low!r} {high!r}"
        case IotaFill():
            return "iota"
        case ConstantFill(value):
            return f"constant {_show_number(np.array(value).astype(buffer.dtype)[()])}"
        case ValuesFill(values):
            return _values(np.array(values).astype(buffer.dtype))
    if buffer.elements > LONGEST or buffer.fill is None:
        raise UserError(f"buffer {buffer.name}: its contents have no text form; fill it with one of isa.generators")
    return _values(buffer.fill(np.arange(buffer.elements, dtype=np.int64)).astype(buffer.dtype))


def _values(elements: NDArray[Any]) -> str:
    return f"values {' '.join(_show_number(element) for element in elements)}"


def _show_number(element: Any) -> str:
    if element.dtype.kind != "f":
        return str(element)
    width = 8 * element.itemsize
    return literals.show_real(int(element.view(f"u{element.itemsize}")), width)
