"""The parameters of an element-wise or reduction kernel, as text: `float32 x, raw T y`; and what type T is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from isa.errors import UserError

C_TYPES: Mapping[str, str] = {
    "bool": "bool", "int8": "signed char", "int16": "short", "int32": "int", "int64": "long long",
    "uint8": "unsigned char", "uint16": "unsigned short", "uint32": "unsigned int", "uint64": "unsigned long long",
    "float16": "float16", "float32": "float", "float64": "double",
}  # fmt: skip
_DECLARED = re.compile(r"(?P<words>(?:(?:raw|const)\s+)*)(?P<kind>\w+)\s+(?P<name>[A-Za-z]\w*)")
Letters = Mapping[str, np.dtype[Any]]  # the type that each stands for
_RESERVED = "i", "n"  # the index of the loop, and its end


@dataclass(frozen=True)
class Parameter:
    """A parameter: its name, a type of NumPy or a letter that stands for one, and whether it is indexed by hand."""

    name: str
    kind: str
    raw: bool

    @property
    def letter(self) -> bool:
        """Whether its type is one that the arguments say."""
        return len(self.kind) == 1


def parsed(text: str) -> tuple[Parameter, ...]:
    """Return the parameters in a text, with commas between; raises UserError for one that is none."""
    return tuple(_parameter(part.strip()) for part in text.split(",") if part.strip())


def _parameter(text: str) -> Parameter:
    match = _DECLARED.fullmatch(text)
    if match is None or match["name"] in _RESERVED:
        raise UserError(f"parameter {text!r}: write a type and a name, which is neither i nor n, as in 'raw T x'")
    if len(match["kind"]) > 1:
        c_type(_dtype(match["kind"], text))
    return Parameter(match["name"], match["kind"], "raw" in match["words"].split())


def _dtype(kind: str, text: str) -> np.dtype[Any]:
    try:
        return np.dtype(kind)
    except TypeError:
        raise UserError(
            f"parameter {text!r}: {kind} is no type of NumPy, and no letter; such as float32, or T"
        ) from None


def c_type(dtype: np.dtype[Any]) -> str:
    """Return how CUDA C spells a type; raises UserError for one that kernels here don't take."""
    if dtype.name not in C_TYPES:
        why = "they need CuPy's own header" if dtype.kind == "c" else f"give one of {', '.join(C_TYPES)}"
        raise UserError(f"{dtype.name}: no type of these kernels; {why}")
    return C_TYPES[dtype.name]


def types(pairs: Iterable[tuple[Parameter, Any]]) -> dict[str, np.dtype[Any]]:
    """Return which type each letter stands for, by parameters with their arguments; only arrays say it.

    Raises UserError for an array of another type than its parameter has.
    """
    found = dict[str, np.dtype[Any]]()
    for one, argument in pairs:
        if not isinstance(argument, np.ndarray):
            continue
        wanted = found.setdefault(one.kind, argument.dtype) if one.letter else np.dtype(one.kind)
        if wanted != argument.dtype:
            of = f"{one.kind} is {wanted}" if one.letter else f"its parameter is {wanted}"
            raise UserError(f"{one.name}: an array of {argument.dtype}, where {of}; convert it with astype")
    return found


def type_of(one: Parameter, letters: Letters) -> np.dtype[Any]:
    """Return a parameter's type; raises UserError for a letter that no array gives one."""
    if not one.letter:
        return np.dtype(one.kind)
    if one.kind not in letters:
        raise UserError(f"{one.name}: no array says what {one.kind} is; give one, or write its type, such as float32")
    return letters[one.kind]


def matched(params: Sequence[Parameter], given: Sequence[Any], name: str, outputs: int) -> tuple[Any, ...]:
    """Return the arguments of all parameters, the outputs last, None for each that was left out.

    Raises UserError for another number of them.
    """
    inputs = len(params) - outputs
    if len(given) not in (inputs, len(params)):
        raise UserError(f"{name}: {len(given)} arguments; give {inputs}, or {len(params)} with the outputs")
    return (*given, *[None] * (len(params) - len(given)))
