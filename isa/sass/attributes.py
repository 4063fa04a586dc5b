"""The attributes of a cubin's functions: what the sections `.nv.info` and `.nv.info.NAME` hold.

An attribute is a format, a number and a value; NVIDIA has no document of them. The numbers are those that
`cuobjdump -elf` names. Tests read them from files that nvcc makes, and compare them with the source.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

PARAMETER_BANK, PARAMETER = 0x0A, 0x17
MOST_THREADS, EXACT_THREADS = 0x05, 0x10
FRAME_BYTES, REGISTERS = 0x11, 0x2F
_INLINE, _SIZED = (1, 2, 3), 4  # formats: nothing, a byte or two bytes in place; or bytes that follow


class Attribute(NamedTuple):
    """One attribute: its number, and its value as bytes; of one or two bytes where the format has them in place."""

    number: int
    value: bytes


def attributes(data: bytes) -> Iterator[Attribute]:
    """Yield the attributes of a section in order; raises ValueError for bytes that are none."""
    at = 0
    while at < len(data):
        if len(data) - at < 4:
            raise ValueError(f"an attribute of {len(data) - at} bytes")
        form, number, size = struct.unpack_from("<BBH", data, at)
        at += 4
        if form in _INLINE:
            yield Attribute(number, struct.pack("<H", size))
        elif form == _SIZED and at + size <= len(data):
            yield Attribute(number, data[at : at + size])
            at += size
        else:
            raise ValueError(f"attribute {number:#x} has format {form} and {size} bytes")


def words(value: bytes) -> tuple[int, ...]:
    """Return a value as 32-bit numbers; raises ValueError if it isn't a whole number of them."""
    if len(value) % 4:
        raise ValueError(f"a value of {len(value)} bytes is no row of words")
    return struct.unpack(f"<{len(value) // 4}I", value)
