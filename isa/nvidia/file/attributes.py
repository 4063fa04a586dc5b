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
FRAME_BYTES, LEAST_STACK_BYTES, REGISTERS = 0x11, 0x12, 0x2F
BARRIERS, BRANCH_TARGETS = 0x4C, 0x34
CLUSTER, MOST_CLUSTER_BLOCKS = 0x3D, 0x3F
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


def branch_targets(value: bytes) -> dict[int, tuple[int, ...]]:
    """Return where the indirect branches of a section may go, by their own offsets; all in bytes from its beginning.

    Each branch has its offset, a zero, the number of targets, and these. Raises ValueError for numbers that end early.
    """
    found, left = dict[int, tuple[int, ...]](), words(value)
    while left:
        if len(left) < 3 or len(left) < 3 + left[2]:
            raise ValueError(f"branch targets end after {len(left)} numbers")
        branch, _, count = left[:3]
        found[branch], left = left[3 : 3 + count], left[3 + count :]
    return found
