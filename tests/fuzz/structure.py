"""Files with a structure changed by their fields: headers and tables of ELF files, values of JSON and TOML."""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from fuzz.mutate import MUTATIONS, Mutation

WORDS = 0, 1, 2, 7, 0x7F, 0xFF, 0xFFFF, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF, 0x7FFF_FFFF_FFFF_FFFF, 2**64 - 1
HEADER, SECTION, SYMBOL = 64, 64, 24  # bytes of ELF's header, and of entries of its tables
_FIRST_SECTION, _SECTIONS = 40, 60  # of the header: where the table of sections is, and how many there are
_OFFSET, _SIZE = 24, 32  # of an entry of that table
TOML_VALUES = (
    b"[]", b"{}", b'""', b"true", b"[[1]]", b"-1", b"2147483648", b"9223372036854775808", b"1e400", b"nan", b'"x"',
    b"0", b"[0, 0, 0, 0]", b'["$(touch x)"]', b'["-o", "x"]', b'"\\u001b[1m"', b'"/dev/zero"', b'"."', b"1979-05-27",
    b'["int32", 1]', b'"max(list(range(99999)))"', b'"1 << 200"', b'"A" ', b"[2147483647, 65535, 65535]",
)  # fmt: skip
JSON_VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 2**31, 2**63, 2**64, 1e308, "", "x", "\x1b[1m", "range(999999)", "[1] * 999999", [], {}, [[]],
    [None], "max(list(range(99999))) > 1", {"a": 1}, "9" * 400,
)  # fmt: skip
_VALUE = re.compile(rb"(?m)(?<==)[ \t]*[^\n]+$")


def bit(data: bytes, random: Random) -> bytes:
    """Turn over one bit."""
    if not data:
        return data
    at = random.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << random.randrange(8)]) + data[at + 1 :]


def field(data: bytes, random: Random) -> bytes:
    """Put an extreme number, or one that differs by a little, into the header or an entry of a table of an ELF file."""
    start = data.find(b"\x7fELF")
    if start < 0 or len(data) < start + HEADER:
        return bit(data, random)
    at, width = start + random.choice(list(_places(data[start:]))), random.choice((1, 2, 4, 8))
    old = int.from_bytes(data[at : at + width], "little")
    new = random.choice((*WORDS, old + 1, old - 1, old ^ 1 << random.randrange(8 * width)))
    return data[:at] + (new % (1 << 8 * width)).to_bytes(width, "little") + data[at + width :]


def _places(data: bytes) -> Iterator[int]:
    """Yield the offsets of the 4-byte fields of the header, the sections and what small sections hold."""
    yield from range(16, HEADER, 4)
    first, count = struct.unpack_from("<Q", data, _FIRST_SECTION)[0], struct.unpack_from("<H", data, _SECTIONS)[0]
    for number in range(min(count, 200)):
        entry = first + number * SECTION
        if entry + SECTION > len(data):
            return
        yield from range(entry, entry + SECTION, 4)
        offset, size = struct.unpack_from("<2Q", data, entry + _OFFSET)
        if offset + size <= len(data) and size <= 40 * SYMBOL:
            yield from range(offset, offset + size, 4)


def json_value(text: bytes, random: Random) -> bytes:
    """Put another value, or one of its own, in the place of a value of a JSON text; repeat or leave out an entry."""
    try:
        tree = json.loads(text)
    except (ValueError, RecursionError):
        return bit(text, random)
    places = list(_slots(tree))
    if not places:
        return text
    (holder, key), (other, another) = random.choice(places), random.choice(places)
    change = random.randrange(4)
    if change == 0:
        del holder[key]
    elif change == 1:
        holder[key] = other[another]
    else:
        holder[key] = random.choice(JSON_VALUES)
    try:
        return json.dumps(tree).encode()
    except (ValueError, RecursionError):  # a value in itself
        return text


def _slots(tree: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each list or table with each of its keys."""
    if isinstance(tree, dict | list):
        for key in list(tree) if isinstance(tree, dict) else range(len(tree)):
            yield tree, key
            yield from _slots(tree[key])


def toml_value(text: bytes, random: Random) -> bytes:
    """Put another value in the place of one of a TOML text, or that of another key."""
    places = list(_VALUE.finditer(text))
    if not places:
        return bit(text, random)
    found = random.choice(places)
    new = random.choice((*TOML_VALUES, random.choice(places)[0].strip()))
    return text[: found.start()] + b" " + new + text[found.end() :]


def mutations(kind: str) -> tuple[Mutation, ...]:
    """Return the mutations of a kind of file: those of its structure as often as those of any text."""
    own: tuple[Callable[[bytes, Random], bytes], ...] = _OWN.get(kind, ())
    return (*MUTATIONS, *own * (len(MUTATIONS) // max(1, len(own))))


_OWN: dict[str, tuple[Mutation, ...]] = {
    **dict.fromkeys(("cubin", "machine code", "fat binary"), (field, field, bit)),
    **dict.fromkeys(("timeline", "search space"), (json_value,)),
    **dict.fromkeys(("launch file", "space file", "machine file"), (toml_value,)),
    **dict.fromkeys(("npy", "cache entry", "zipped timeline"), (bit,)),
}
