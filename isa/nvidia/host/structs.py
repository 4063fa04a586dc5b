"""The members of a struct as CUDA C declares it: a light reading of plain ones, without a compiler."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np

from isa.nvidia.abi.declaration import type_of
from isa.nvidia.abi.launch import POINTER_BYTES
from isa.nvidia.file.signature import Type, built
from isa.nvidia.host.expression import UnknownError, number
from isa.nvidia.host.names import Names, names
from isa.nvidia.host.text import LONGEST, bare, parts

_ALIGNED = 2, 4  # elements of vectors that begin at multiples of all their bytes
_MEMBER = re.compile(r"(?P<type>.*?[\s*&>])(?P<name>[A-Za-z_]\w*)\s*(?P<array>(?:\[[^\[\]]*\]\s*)*)", re.S)
_TYPEDEF = re.compile(r"\btypedef\s+struct\b[^;{}]{0,200}{")
_MOST = 1024  # members, and elements of one


@dataclass(frozen=True)
class Member:
    """A member of a struct: its name, its type, and how many of it there are."""

    name: str
    type: Type
    count: int

    @property
    def element(self) -> str:
        """NumPy's name of its elements; empty of a pointer."""
        return "" if self.type.pointer else self.type.element

    @property
    def bytes(self) -> int:
        """Bytes of one element."""
        return POINTER_BYTES if self.type.pointer else np.dtype(self.type.element).itemsize


def members(source: str, name: str) -> tuple[Member, ...] | None:
    """Return the members of a struct of a source; None where it has none of that name, or one that is not plain."""
    text = bare(source)
    match = re.search(
        rf"\bstruct\s+(?:__\w+__(?:\([^(){{}}]*\))?\s+|alignas\([^(){{}}]*\)\s*)*{re.escape(name)}\s*{{", text
    )
    known = names(text)
    begin = match.end() if match else _named_behind(known, name)
    if begin < 0:
        return None
    try:
        found = list(islice(_all(known, begin), _MOST + 1))
    except (UnknownError, ValueError):
        return None
    return tuple(found) if 0 < len(found) <= _MOST else None


def size(found: tuple[Member, ...]) -> int:
    """Return the bytes of a struct of these members, as C lays it out."""
    end, alignment = 0, 1
    for one in found:
        end += -end % one.bytes + one.bytes * one.count
        alignment = max(alignment, one.bytes)
    return end + -end % alignment


def _named_behind(known: Names, name: str) -> int:
    """Return where the members begin of `typedef struct { ... } name;`; -1 where there is none."""
    behind = re.compile(rf"\s*{re.escape(name)}\s*;")
    for match in _TYPEDEF.finditer(known.text):
        end = known.blocks.ends.get(match.end() - 1)
        if end is not None and behind.match(known.text, end + 1):
            return match.end()
    return -1


def _all(known: Names, begin: int) -> Iterator[Member]:
    """Yield the members of a struct that begin at a place; raises ValueError for others than plain ones."""
    for words in _statements(known, begin):
        yield from _members(known, words, begin)


def _statements(known: Names, begin: int) -> list[str]:
    """Return the declarations of a struct; raises ValueError for one that has more than these, or is long."""
    end = known.blocks.ends.get(begin - 1, begin + LONGEST)
    if end - begin >= LONGEST:
        raise ValueError("a struct that is long, or has no end")
    inside = known.text[begin:end]
    if "(" in inside or "{" in inside:
        raise ValueError("functions or structs within")
    return [one.strip() for one in inside.split(";") if one.strip()]


def _members(known: Names, words: str, at: int) -> Iterator[Member]:
    """Yield the members of one declaration; raises ValueError for another text."""
    first, *others = parts(words.partition("=")[0], 0)[0]
    match = _MEMBER.fullmatch(first)
    if match is None or "#" in words or ":" in words.replace("::", ""):
        raise ValueError("no plain members")
    yield _member(known, match["type"], match["name"], match["array"], at)
    for other in others:
        more = re.fullmatch(r"(\**)\s*(\w+)\s*((?:\[[^\[\]]*\]\s*)*)", other)
        if more is None:
            raise ValueError("no plain members")
        yield _member(known, f"{match['type'].partition('*')[0]} {more[1]}", more[2], more[3], at)


def _member(known: Names, words: str, name: str, array: str, at: int) -> Member:
    count = 1
    for one in re.findall(r"\[([^\]]*)\]", array):
        count *= int(number(known.value(one, at)))
        if not 0 < count <= _MOST:
            raise ValueError("an array of no size")
    kind = type_of(words)
    if not (kind.pointer or kind.element):
        pointed = built(kind.text, (), ["*"])  # vectors have the elements of what points at them
        if not pointed.element:
            raise ValueError("a struct within")
        return _of_vector(name, pointed, count)
    return Member(name, kind, count)


def _of_vector(name: str, pointed: Type, count: int) -> Member:
    if pointed.count in _ALIGNED:
        raise ValueError("vectors that begin at multiples of more than an element")
    return Member(name, Type(pointed.text, pointed.element), count * pointed.count)
