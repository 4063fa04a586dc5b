"""The parameter types of a kernel, as far as its mangled name says them to the demangler of the C++ runtime.

The demangler gets plain names alone: of functions and their templates, with types and numbers as arguments. Where types
are templates or functions, each reference may double the text: it makes 700 MB of 250 letters.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from isa.nvidia.file.names import MOST, parts

ELEMENTS = {
    "bool": "bool", "char": "int8", "signed char": "int8", "unsigned char": "uint8", "short": "int16",
    "unsigned short": "uint16", "int": "int32", "unsigned": "uint32", "long": "int64", "unsigned long": "uint64",
    "long long": "int64", "unsigned long long": "uint64", "float": "float32", "double": "float64", "__half": "float16",
    "__nv_bfloat16": "uint16", "__nv_fp8_e4m3": "uint8", "__nv_fp8_e5m2": "uint8",
}  # fmt: skip
_VECTOR = re.compile(r"(u(?=[csil]))?(char|short|int|long|longlong|float|double|__half|__nv_bfloat16)([1-4])(?:_\d+a)?")
_RUNTIMES = "libstdc++.so.6", "libc++abi.so.1", "libc++abi.dylib"
_SYMBOL = re.compile(rf"[\w$.]{{1,{MOST}}}", re.ASCII)  # libstdc++ refuses longer ones
_TYPE = "[PROrVK]*(?:[abcdfhijlmnostvwxy12]|N[12]1*E)"
_TEMPLATE = f"(?:I(?:0|{_TYPE})+E)?"
_FUNCTION = re.compile(f"(?P<name>_Z(?:N(?:L?1)+{_TEMPLATE}E|L?1{_TEMPLATE}))(?P<types>(?:{_TYPE})*)")
_NUMBER = re.compile(r"(?:\([a-z ]+\))?(-?\d+)u?l*")
_VALUE = re.compile(r"-?\d|\((?!anonymous)|(?:true|false)\b")  # in the place of a type
_WORD = re.compile(r"&&|[*&]|[^\s*&]+")
_QUALIFIERS = "const", "volatile"


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


def parameter_types(mangled: str) -> tuple[Type, ...] | None:
    """Return the types of a function's parameters in order; None where the name doesn't say them all."""
    _, found, types = _demangled(mangled).partition(f"{_demangled(_head(mangled))}(")
    each = [one for one in types[:-1].split(", ") if one]
    return None if not found or any(map(_VALUE.match, each)) else tuple(map(_type, each))


def instance(mangled: str) -> str:
    """Return how C++ writes an instance of a function's template, as `poly<double, 4>`.

    It is empty for other names, and where an argument is none that is read here.
    """
    name, _, arguments = _demangled(_head(mangled)).partition("<")
    words = [number[1] if (number := _NUMBER.fullmatch(one)) else _type(one).text for one in arguments[:-1].split(", ")]
    return f"{name}<{', '.join(words)}>" if arguments else ""


def built(base: str, qualifiers: Sequence[str] = (), signs: Sequence[str] = ()) -> Type:
    """Return the type of that base, its qualifiers before it, the signs of pointers and references behind it."""
    text, pointers = " ".join((*qualifiers, base, *signs)), [sign for sign in signs if sign not in _QUALIFIERS]
    element, vector = ELEMENTS.get(base, ""), _VECTOR.fullmatch(base)
    if len(pointers) != 1:
        return Type(text, "" if pointers else element, bool(pointers))
    if vector and not element:
        kind, count = vector[2].replace("longlong", "long long"), int(vector[3])
        return Type(text, (vector[1] or "") + ELEMENTS[kind], pointer=True, count=count)
    return Type(text, element, pointer=True)


def _type(text: str) -> Type:
    """Return a type that the demangler writes, as `float const*`: in the words that C has, `const float *`."""
    words = [word for word in _WORD.findall(text) if word != "restrict"]
    at = next((number for number, word in enumerate(words) if word[0] in "*&"), len(words))
    base = " ".join(word for word in words[:at] if word not in _QUALIFIERS)
    return built(base.replace("unsigned int", "unsigned"), [w for w in _QUALIFIERS if w in words[:at]], words[at:])


def _head(mangled: str) -> str:
    """Return a mangled name up to its parameters; empty where it is no plain one of a function."""
    found, shape = parts(mangled)
    match = _FUNCTION.match(shape)
    return "".join(found[: match.end("name")]) if match else ""


def _demangled(mangled: str) -> str:
    """Return a plain name as C++ writes it; empty for others, and where no C++ runtime is installed."""
    if not _SYMBOL.fullmatch(mangled) or not _FUNCTION.fullmatch(parts(mangled)[1]):
        return ""
    demangle, free = _runtime()
    address = demangle(mangled.encode(), None, None, None)
    try:
        return ctypes.string_at(address).decode() if address else ""
    finally:
        free(address)


@cache
def _runtime() -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return the C++ runtime's demangler, and what frees its texts; one that says nothing where there is none."""
    for name in _RUNTIMES:
        with suppress(OSError, AttributeError):
            demangle, free = ctypes.CDLL(name)["__cxa_demangle"], ctypes.CDLL(None)["free"]
            demangle.restype, free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
            return demangle, free
    return (lambda *_: None), (lambda _: None)
