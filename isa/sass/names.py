"""The plain name in a mangled one, as the Itanium C++ ABI builds it: `_Z4polyILi2EEvPKf` is `poly`."""

from __future__ import annotations

import re

_LENGTH = re.compile(r"\d+")
_NESTED = re.compile(r"N[rVK]*")


def plain(mangled: str) -> str:
    """Return the function's own name without parameters, template arguments and namespaces; others as they are."""
    if not mangled.startswith("_Z"):
        return mangled
    at, name = 2, ""
    nested = _NESTED.match(mangled, at)
    if nested:
        at = nested.end()
    while length := _LENGTH.match(mangled, at):
        at = length.end() + int(length[0])
        name = mangled[length.end() : at]
        if nested is None:
            break
    return name or mangled


def named(name: str, mangled: tuple[str, ...]) -> tuple[str, ...]:
    """Return the mangled names that a name may mean: itself if it is one of them, else all of that plain name."""
    return (name,) if name in mangled else tuple(one for one in mangled if plain(one) == name)
