"""The catalog's data on a kernel: its function, a description, and the parameters that a command line can set."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from isa.kernel import Kernel


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter: `parse` gives a value or raises ValueError or KeyError; `allowed` describes valid texts."""

    name: str
    default: object
    parse: Callable[[str], object]
    allowed: str
    doc: str


@dataclass(frozen=True, slots=True)
class Entry:
    """One kernel of the catalog; `function` takes the parameters by name."""

    name: str
    function: Callable[..., Kernel]
    description: str
    parameters: tuple[Parameter, ...]
    machine: str = "gtx580"  # a machine that fits it, for examples
    channels: bool = False  # shows what several channels of the memory do, which only all SMs share


def shown_default(parameter: Parameter) -> str:
    """Return the default in the notation of a command line; auto if the kernel chooses."""
    return "auto" if parameter.default is None else str(parameter.default)


def integer(name: str, default: int, doc: str) -> Parameter:
    """Return a parameter that takes whole numbers."""
    return Parameter(name, default, _whole, "a whole number", doc)


def _whole(text: str) -> int:
    """Return the number that decimal digits spell; raises ValueError for 1_0 and digits of other scripts, too."""
    if not re.fullmatch(r"[+-]?[0-9]+", text):
        raise ValueError(text)
    return int(text)


def number(name: str, default: float, doc: str) -> Parameter:
    """Return a parameter that takes numbers."""
    return Parameter(name, default, float, "a number", doc)


def choice(name: str, default: object, choices: Iterable[object], doc: str) -> Parameter:
    """Return a parameter that takes one of the choices, written as `str` writes them."""
    by_text = {str(choice): choice for choice in choices}
    return Parameter(name, default, by_text.__getitem__, f"one of {', '.join(by_text)}", doc)


def width(name: str, default: int, doc: str) -> Parameter:
    """Return a parameter that takes the width of an access in bits."""
    return choice(name, default, (32, 64, 128), doc)
