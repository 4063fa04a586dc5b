"""The members of a struct as CUDA C declares it: a light reading of plain ones, without a compiler."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from isa.nvidia.abi.declaration import type_of
from isa.nvidia.abi.launch import POINTER_BYTES
from isa.nvidia.file.signature import Type, built
from isa.nvidia.host.expression import UnknownError, number
from isa.nvidia.host.names import names
from isa.nvidia.host.text import bare, parts

_ALIGNED = 2, 4  # elements of vectors that begin at multiples of all their bytes
_MEMBER = re.compile(r"(?P<type>.*?[\s*&>])(?P<name>[A-Za-z_]\w*)\s*(?P<array>(?:\[[^\]]*\]\s*)*)", re.S)
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
    match = re.search(rf"\bstruct\s+(?:__\w+__(?:\([^)]*\))?\s+|alignas\([^)]*\)\s*)*{re.escape(name)}\s*{{", text)
    begin = match.end() if match else _named_behind(text, name)
    if begin < 0:
        return None
    try:
        found = [one for words in _statements(text, begin) for one in _members(text, words, begin)]
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


def _named_behind(text: str, name: str) -> int:
    """Return where the members begin of `typedef struct { ... } name;`; -1 where there is none."""
    for match in re.finditer(r"\btypedef\s+struct\b[^;{}]*{", text):
        _, end = parts(text, match.end(), "}")
        if re.match(rf"\s*{re.escape(name)}\s*;", text[end + 1 :]):
            return match.end()
    return -1


def _statements(text: str, begin: int) -> list[str]:
    """Return the declarations of a struct; raises ValueError for one that has more than these."""
    _, end = parts(text, begin, "}")
    inside = text[begin:end]
    if "(" in inside or "{" in inside:
        raise ValueError("functions or structs within")
    return [one.strip() for one in inside.split(";") if one.strip()]


def _members(text: str, words: str, at: int) -> list[Member]:
    """Return the members of one declaration; raises ValueError for another text."""
    first, *others = parts(words.partition("=")[0], 0)[0]
    match = _MEMBER.fullmatch(first)
    if match is None or "#" in words or ":" in words.replace("::", ""):
        raise ValueError("no plain members")
    found = [_member(text, match["type"], match["name"], match["array"], at)]
    for other in others:
        more = re.fullmatch(r"(\**)\s*(\w+)\s*((?:\[[^\]]*\]\s*)*)", other)
        if more is None:
            raise ValueError("no plain members")
        found.append(_member(text, f"{match['type'].partition('*')[0]} {more[1]}", more[2], more[3], at))
    return found


def _member(text: str, words: str, name: str, array: str, at: int) -> Member:
    count = 1
    for one in re.findall(r"\[([^\]]*)\]", array):
        count *= int(number(names(text).value(one, at)))
    kind = type_of(words)
    if not (kind.pointer or kind.element):
        pointed = built(kind.text, (), ["*"])  # vectors have the elements of what points at them
        if not pointed.element:
            raise ValueError("a struct within")
        return _of_vector(name, pointed, count)
    if not 0 < count <= _MOST:
        raise ValueError("an array of no size")
    return Member(name, kind, count)


def _of_vector(name: str, pointed: Type, count: int) -> Member:
    if pointed.count in _ALIGNED:
        raise ValueError("vectors that begin at multiples of more than an element")
    return Member(name, Type(pointed.text, pointed.element), count * pointed.count)
