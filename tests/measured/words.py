"""The words of machine code in a cubin: where they lie, and the fields of an instruction (returns.py names them)."""

from __future__ import annotations

import struct
from collections.abc import Iterator

OPERATION = (1 << 12) - 1  # bits 0 to 11
RZ = 255


def field(word: int, place: int, bits: int, value: int) -> int:
    """Return the 128 bits with others in one field."""
    return word & ~(((1 << bits) - 1) << place) | value << place


def timed(word: int, stall: int, *, yields: bool) -> int:
    """Return the instruction with this stall count and yield, and no barriers."""
    word = field(field(word, 105, 4, stall), 109, 1, int(not yields))
    return field(field(word, 110, 6, 0o77), 116, 6, 0)


def sections(code: bytes) -> Iterator[tuple[str, int, int]]:
    """Yield the name of each function, where its code begins in the file (ELF64), and its bytes."""
    (table,) = struct.unpack_from("<Q", code, 0x28)
    size, count, names = struct.unpack_from("<HHH", code, 0x3A)
    headers = [struct.unpack_from("<IIQQQQIIQQ", code, table + i * size) for i in range(count)]
    for header in headers:
        name = code[headers[names][4] + header[0] :].split(b"\0", 1)[0].decode()
        if name.startswith(".text."):
            yield name.removeprefix(".text."), header[4], header[5]
