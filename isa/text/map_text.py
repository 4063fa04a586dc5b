"""Tensor maps in text: `name = buffer 64x256 box 64x64 swizzle 128B`, what a buffer is and a box of it."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from math import prod

import numpy as np

from isa import memory
from isa.generators import values_fill
from isa.kernel import Buffer
from isa.nvidia.tensor_map import BYTES, DIMENSIONS, TensorMap, dense
from isa.reading.source import AssemblyError, Token, equation, new_name, suggest, words

USAGE = ".map name = buffer 64x256 box 64x64 swizzle 128B"
_TYPES = {"f2": "float16", "f4": "float32", "f8": "float64", "i4": "int32", "u4": "uint32"}


def buffer(token: Token, buffers: Mapping[str, Buffer], taken: Iterable[str]) -> Buffer:
    """Return a buffer that holds the map of one of the others, which lie before it; raises AssemblyError."""
    left, right = equation(token, USAGE)
    given = words(right)
    if [one.text for one in given[2::2]] not in (["box"], ["box", "swizzle"]) or len(given) % 2:
        raise AssemblyError(right, f"{right.text!r} is no tensor map; write {USAGE}")
    if given[0].text not in buffers:
        raise AssemblyError(given[0], f"unknown buffer {given[0].text}; {suggest(given[0].text, buffers)}")
    whole_of = buffers[given[0].text]
    sizes, box = _sizes(given[1]), _sizes(given[3])
    if prod(sizes) != whole_of.elements:
        raise AssemblyError(given[1], f"{whole_of.name} has {whole_of.elements} elements, not {prod(sizes)}; write all")
    kind = _TYPES[np.dtype(whole_of.dtype).str[1:]]
    swizzle = given[5].text if len(given) > len(("buffer", "sizes", "box", "sizes")) else "none"
    try:
        found = TensorMap(kind, sizes, tuple(dense(sizes, kind)), box, swizzle=swizzle)
        encoded = found.encode(memory.bases(tuple(buffers.values()))[whole_of.name])
    except ValueError as error:
        raise AssemblyError(right, str(error)) from None
    held = struct.unpack(f"<{BYTES // 4}I", encoded)
    return Buffer(new_name(left, taken), "u4", len(held), values_fill(held, "u4"))


def _sizes(token: Token) -> tuple[int, ...]:
    """Return sizes from the innermost on; a text has the outermost first."""
    parts = token.text.split("x")
    if not 1 <= len(parts) <= DIMENSIONS or not all(part.isdecimal() for part in parts):
        raise AssemblyError(token, f"{token.text!r} are no sizes of 1 to {DIMENSIONS} dimensions; write 64x256")
    return tuple(int(part) for part in reversed(parts))
