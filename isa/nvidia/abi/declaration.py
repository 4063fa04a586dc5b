"""The parameters of a kernel as its source has them: a light reading of the list behind its name, without a compiler.

Comments, macros and conditions are not looked through: a list that is no plain one is not read at all.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from isa.nvidia.abi import ptx_declaration
from isa.nvidia.abi.launch import POINTER_BYTES
from isa.nvidia.compiler.ptx import is_ptx
from isa.nvidia.file.cubin import Parameter
from isa.nvidia.file.names import plain
from isa.nvidia.file.signature import Type, built, parameter_types

_HEADS = 64  # declarations of a kernel that are looked at
_LETTERS = 1 << 16  # of a list of parameters, which has 32 KB of values at most, and before it
_COMMENT = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)", re.S)
_TEMPLATE = re.compile(r"\btemplate\s*<")
_BEHIND_TEMPLATE = re.compile(r"\s*(?:static\s+|inline\s+)*")
_ATTRIBUTE = re.compile(r"\b(?:__restrict__|__restrict|restrict|__grid_constant__|struct|typename)\b|\bstd::|\bcuda::")
_DECLARED = re.compile(r"(?P<type>.*?[\s*&>])(?P<name>[A-Za-z_]\w*)\s*(?P<array>\[[^\]]*\])?", re.S)
_WORD = re.compile(r"[A-Za-z_]\w*(?:::\w+)*|\*|&")
_SAME = {
    "unsigned int": "unsigned", "signed int": "int", "signed": "int", "short int": "short", "long int": "long",
    "unsigned short int": "unsigned short", "unsigned long int": "unsigned long", "long long int": "long long",
    "unsigned long long int": "unsigned long long", "uint": "unsigned", "ushort": "unsigned short",
    "uchar": "unsigned char", "int8_t": "signed char", "uint8_t": "unsigned char", "int16_t": "short",
    "uint16_t": "unsigned short", "int32_t": "int", "uint32_t": "unsigned", "int64_t": "long long",
    "uint64_t": "unsigned long long", "size_t": "unsigned long", "half": "__half", "half2": "__half2",
    "nv_bfloat16": "__nv_bfloat16", "nv_bfloat162": "__nv_bfloat162", "cudaTextureObject_t": "unsigned long long",
}  # fmt: skip
_WORDS = frozenset({"int", "char", "short", "long", "float", "double", "signed", "unsigned"})  # no names
_ORDER = {"unsigned": 0, "signed": 0, "short": 1, "long": 1, "char": 2, "int": 2, "double": 2}


@dataclass(frozen=True, slots=True)
class Declared:
    """A parameter: its name, and its type; None in a template, whose types its instances say."""

    name: str
    type: Type | None


def known_types(
    kernel: str, source: str = "", parameters: Sequence[Parameter] | None = None
) -> tuple[Type | None, ...] | None:
    """Return the types of the parameters of a kernel, given mangled, as far as its name or else its source says them.

    A type of the source that is a name may stand for any, and is None. `parameters` is the table of them in the code,
    if there is one. None where neither says how many there are.
    """
    if (types := parameter_types(kernel)) is not None:
        return types
    found = declared(source, plain(kernel))
    if found is None or len(found) != len(parameters or found):
        return None
    rows: Sequence[Parameter | None] = parameters or [None] * len(found)
    kinds = (fitting(one.type, parameter) for one, parameter in zip(found, rows, strict=True))
    return tuple(kind if kind and (kind.pointer or kind.element) else None for kind in kinds)


def fitting(kind: Type | None, parameter: Parameter | None) -> Type | None:
    """Return a type of the source unless it has another size than the parameter, as behind a macro."""
    if kind is None or parameter is None or not (kind.pointer or kind.element):
        return kind
    size = POINTER_BYTES if kind.pointer else np.dtype(kind.element).itemsize
    return kind if size == parameter.size else None


def declared(source: str, kernel: str) -> tuple[Declared, ...] | None:
    """Return the parameters of a kernel, given by its plain name, as its source declares them, CUDA C or PTX.

    None where the source has no such kernel, where it has several with different names of parameters, or where the
    list is none that can be read. The time that it takes is in proportion to the text, which may be anybody's.
    """
    if is_ptx(source):
        listed = ptx_declaration.parameters(source, kernel)
        return None if listed is None else tuple(Declared(name, kind) for name, kind in listed)
    text = _COMMENT.sub(" ", source)
    heads = [*islice(_heads(kernel).finditer(text), _HEADS + 1)]
    if len(heads) > _HEADS:
        return None
    found = [one for match in heads if (one := _read(text, match)) is not None]
    names = {tuple(each.name for each in one) for one in found}
    return found[0] if len(names) == 1 and all(one == found[0] for one in found) else None


def _heads(kernel: str) -> re.Pattern[str]:
    """Return what the beginning of a kernel's declaration looks like, up to the parenthesis of its parameters."""
    return re.compile(rf"\b__global__\b(?:(?!\b__global__\b)[^;{{}}])*?\b{re.escape(kernel)}\s*+\(")


def _read(text: str, head: re.Match[str]) -> tuple[Declared, ...] | None:
    """Return the parameters behind the beginning of a declaration; None if one is none that can be read."""
    template = _in_template(text, head.start())
    found = list[Declared]()
    for part in _parts(text, head.end()):
        match = _DECLARED.fullmatch(part.partition("=")[0].strip())
        if match is None or match["name"] in _WORDS or "#" in part:
            return None
        found.append(Declared(match["name"], None if template else type_of(match["type"], bool(match["array"]))))
    return tuple(found)


def _in_template(text: str, at: int) -> bool:
    """Tell whether the declaration that begins there is a template's."""
    before = re.split("[;{}]", text[max(0, at - _LETTERS) : at])[-1]
    head, end = _TEMPLATE.search(before), before.rfind(">")
    return head is not None and head.end() <= end and _BEHIND_TEMPLATE.fullmatch(before, end + 1) is not None


def _parts(text: str, at: int) -> list[str]:
    """Return what stands between the commas of a list, up to the parenthesis that ends it; nothing of `()`, `(void)`.

    A list that does not end, or not soon, has an empty part.
    """
    depth, begin, found = 0, at, list[str]()
    for place in range(at, min(at + _LETTERS, len(text))):
        letter = text[place]
        if depth == 0 and letter in ",)":
            part = text[begin:place].strip()
            if letter == "," or begin > at or part not in ("", "void"):
                found.append(part)
            begin = place + 1
            if letter == ")":
                return found
        depth += (letter in "([{<") - (letter in ")]}>")
    return [""]


def type_of(text: str, array: bool = False) -> Type:
    """Return a type in C's words, as `parameter_types` has it."""
    plain = _ATTRIBUTE.sub(" ", text)
    if "<" in plain:
        return Type(" ".join(plain.split()), pointer=array or plain.rstrip().endswith("*"))
    words = _WORD.findall(plain)
    stars = words.count("*") + array
    qualifiers = [word for word in ("const", "volatile") if word in words]
    own = [word for word in words if word not in {"*", "&", "const", "volatile"}]
    base = " ".join(sorted(own, key=lambda word: _ORDER.get(word, 0)))  # C takes `long unsigned` too
    return built(_SAME.get(base, base), qualifiers, ["*"] * stars)
