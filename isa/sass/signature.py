"""The parameter types of a kernel, as far as its mangled name says them: the Itanium C++ ABI without its rare parts.

Templates of functions are read, with types and numbers as their arguments; types that are templates are not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

BUILTIN = {
    "v": ("void", ""), "b": ("bool", "bool"), "c": ("char", "int8"), "a": ("signed char", "int8"),
    "h": ("unsigned char", "uint8"), "s": ("short", "int16"), "t": ("unsigned short", "uint16"), "i": ("int", "int32"),
    "j": ("unsigned", "uint32"), "l": ("long", "int64"), "m": ("unsigned long", "uint64"), "x": ("long long", "int64"),
    "y": ("unsigned long long", "uint64"), "f": ("float", "float32"), "d": ("double", "float64"),
}  # fmt: skip
_VECTOR = re.compile(
    r"(?P<kind>u?char|u?short|u?int|u?long|u?longlong|float|double|__half|__nv_bfloat16)(?P<count>[1-4])(?:_\d+a)?"
)
_OF_VECTOR = {
    "char": "int8", "uchar": "uint8", "short": "int16", "ushort": "uint16", "int": "int32", "uint": "uint32",
    "long": "int64", "ulong": "uint64", "longlong": "int64", "ulonglong": "uint64", "float": "float32",
    "double": "float64", "__half": "float16", "__nv_bfloat16": "uint16",
}  # fmt: skip
_NAMED = {"__half": "float16", "__nv_bfloat16": "uint16", "__nv_fp8_e4m3": "uint8", "__nv_fp8_e5m2": "uint8"}
_QUALIFIERS = "rVK"
_POINTERS = {"P": " *", "R": " &", "O": " &&"}
_NUMBER = re.compile(r"\d+")
_SEQUENCE = re.compile(r"[ST](?P<number>[0-9A-Z]*)_")
_LITERAL = re.compile(r"L[a-z]n?\d+E")


@dataclass(frozen=True, slots=True)
class Type:
    """A C++ type as text, and NumPy's name of its elements, or of those it points at; empty if NumPy has none.

    What it points at has `count` of these elements. Numbers without a type of NumPy's have one as wide.
    """

    text: str
    element: str = ""
    pointer: bool = False
    count: int = 1


def misread(kind: Type | None, dtype: np.dtype[Any]) -> bool:
    """Tell whether a parameter surely reads an array's elements wrongly: as real numbers of another size, or in parts.

    Whole numbers that are no wider may be the bits of anything, and bytes, structs and `void *` say nothing.
    """
    if kind is None or not kind.pointer or not kind.element or dtype.kind not in "iufc":
        return False
    given, read = dtype.itemsize // (2 if dtype.kind == "c" else 1), np.dtype(kind.element).itemsize
    if kind.element.startswith("float") and dtype.kind in "fc":
        return given != read
    return read > 1 and given > read * kind.count


class _UnknownError(Exception):
    """The name has something else than plain types."""


@dataclass(slots=True)
class _Reader:
    """What is read up to `at`; `known` are the types and prefixes that a name may refer back to.

    `given` are the arguments of its template, None for numbers, and `words` these as text.
    """

    text: str
    at: int
    known: list[Type] = field(default_factory=list)
    given: list[Type | None] = field(default_factory=list)
    words: list[str] = field(default_factory=list)


def parameter_types(mangled: str) -> tuple[Type, ...] | None:
    """Return the types of a function's parameters in order; None where the name doesn't say them all."""
    if not mangled.startswith("_Z"):
        return None
    reader = _Reader(mangled, 2)
    try:
        _skip_name(reader)
        types = []
        while reader.at < len(mangled):
            types.append(_type(reader))
    except _UnknownError:
        return None
    return () if [one.text for one in types] == ["void"] else tuple(types)


def instance(mangled: str) -> str:
    """Return how C++ writes an instance of a function's template, as `poly<double, 4>`.

    It is empty for other names, and where an argument is none that is read here.
    """
    if not mangled.startswith("_Z"):
        return ""
    reader = _Reader(mangled, 2)
    try:
        name = _skip_name(reader)
    except _UnknownError:
        return ""
    return f"{name}<{', '.join(reader.words)}>" if reader.words else ""


def _skip_name(reader: _Reader) -> str:
    """Skip the function's name and return it without its template's arguments, which are noted.

    Prefixes of a nested name may be referred to, and so may the arguments.
    """
    nested = _taken(reader, "N")
    names = [_source_name(reader, template=True)]
    while nested and reader.text[reader.at : reader.at + 1] not in ("I", "E"):
        reader.known.append(Type("::".join(names)))
        names.append(_source_name(reader, template=True))
    name = "::".join(names)
    template = _taken(reader, "I")
    if template:
        _note_arguments(reader, name)
    if nested and not _taken(reader, "E"):  # behind the arguments of a class
        raise _UnknownError
    if template:
        _type(reader)  # the function's result
    return name


def _note_arguments(reader: _Reader, name: str) -> None:
    """Note the arguments of a function's template, and their words."""
    reader.known.append(Type(name))
    while not _taken(reader, "E"):
        literal = _LITERAL.match(reader.text, reader.at)
        if literal:
            reader.at = literal.end()
        given = None if literal else _type(reader)
        reader.given.append(given)
        reader.words.append(given.text if given else _literal(literal[0] if literal else ""))


def _literal(text: str) -> str:
    """Return a number or a truth value as C++ writes it."""
    number = text[2:-1].replace("n", "-")
    return {"0": "false", "1": "true"}.get(number, number) if text[1:2] == "b" else number


def _type(reader: _Reader) -> Type:
    letter = reader.text[reader.at : reader.at + 1]
    if letter in BUILTIN:
        reader.at += 1
        return Type(*BUILTIN[letter])
    if letter == "S":
        return _earlier(reader)
    found = _TYPES.get(letter, _named)(reader)
    reader.known.append(found)
    return found


def _pointer(reader: _Reader) -> Type:
    sign = _POINTERS[reader.text[reader.at]]
    reader.at += 1
    return pointer_to(_type(reader), sign)


def pointer_to(target: Type, sign: str) -> Type:
    """Return the type of a pointer or reference, which has that sign."""
    if target.pointer:
        return Type(target.text + sign, pointer=True)
    element, count = (target.element, 1) if target.element else _of_vector(target.text)
    return Type(target.text + sign, element, pointer=True, count=count)


def _qualified(reader: _Reader) -> Type:
    letters = ""
    while reader.text[reader.at : reader.at + 1] in tuple(_QUALIFIERS):
        letters += reader.text[reader.at]
        reader.at += 1
    inner = _type(reader)
    words = "const " * ("K" in letters) + "volatile " * ("V" in letters)
    return Type(words + inner.text, inner.element, inner.pointer, inner.count)


def _named(reader: _Reader) -> Type:
    return named_type(_source_name(reader))


def named_type(text: str, element: str = "") -> Type:
    """Return the type of a name, maybe behind qualifiers, whose element is given unless it is one of CUDA's."""
    return Type(text, element or _NAMED.get(text.rpartition(" ")[2], ""))


def _of_vector(text: str) -> tuple[str, int]:
    """Return the element of CUDA's vector types, such as float4, and how many it has; an empty one for others."""
    vector = _VECTOR.fullmatch(text.rpartition(" ")[2])
    return (_OF_VECTOR[vector["kind"]], int(vector["count"])) if vector else ("", 1)


def _nested(reader: _Reader) -> Type:
    reader.at += 1
    names = [_source_name(reader)]
    while not _taken(reader, "E"):
        reader.known.append(Type("::".join(names)))
        names.append(_source_name(reader))
    return Type("::".join(names))


def _earlier(reader: _Reader) -> Type:
    """Return what `S_`, `S0_`, `S1_` ... refer to."""
    return _referred(reader, reader.known)


def _argument(reader: _Reader) -> Type:
    """Return the argument of the template that `T_`, `T0_`, `T1_` ... refer to."""
    return _referred(reader, reader.given)


def _referred(reader: _Reader, known: Sequence[Type | None]) -> Type:
    match = _SEQUENCE.match(reader.text, reader.at)
    number = int(match["number"], 36) + 1 if match and match["number"] else 0
    found = known[number] if match and number < len(known) else None
    if match is None or found is None:
        raise _UnknownError
    reader.at = match.end()
    return found


def _source_name(reader: _Reader, *, template: bool = False) -> str:
    """Return a name; one with template arguments behind it is known only where it is the function's."""
    length = _NUMBER.match(reader.text, reader.at)
    if length is None:
        raise _UnknownError
    end = length.end() + int(length[0])
    name = reader.text[length.end() : end]
    reader.at = end
    if end > len(reader.text) or (reader.text[end : end + 1] == "I" and not template):
        raise _UnknownError
    return name


def _taken(reader: _Reader, letter: str) -> bool:
    """Tell whether the next letter is this one, and go past it if so."""
    found = reader.text[reader.at : reader.at + 1] == letter
    reader.at += found
    return found


_TYPES: dict[str, Callable[[_Reader], Type]] = {
    **dict.fromkeys(_POINTERS, _pointer),
    **dict.fromkeys(_QUALIFIERS, _qualified),
    "N": _nested,
    "T": _argument,
}
