"""The plain name in a mangled one, as the Itanium C++ ABI builds it: `_Z4polyILi2EEvPKf` is `poly`."""

from __future__ import annotations

import re
from functools import lru_cache

MOST = 1024  # parts of a name that are looked at
_PART = re.compile(r"(?P<number>L[abchijlmstxy]n?[0-9]+E)|(?P<earlier>[ST][0-9A-Z]*_)|(?P<name>[0-9]{1,9})|.", re.S)
_SHAPE = {"number": "0", "name": "1", "earlier": "2"}
_OWN = re.compile(r"_Z(?:N[rVK]*(?:L?1)+|L?1)")


def parts(mangled: str) -> tuple[list[str], str]:
    """Return the first parts of a mangled name, MOST at most, and its shape: a letter for each of them.

    It is 0 for a template's number, 1 for a name, 2 for a reference to an earlier part; others are letters themselves.
    """
    found, shape, at = list[str](), "", 0
    while len(found) < MOST and (match := _PART.match(mangled, at)):
        end = match.end() + int(match["name"] or 0)
        found.append(mangled[at:end])
        shape += _SHAPE.get(match.lastgroup or "", match[0])
        at = end
    return found, shape


@lru_cache(1 << 14)
def plain(mangled: str) -> str:
    """Return the function's own name without parameters, template arguments and namespaces; others as they are."""
    found, shape = parts(mangled)
    own = _OWN.match(shape)
    return found[own.end() - 1].lstrip("0123456789") or mangled if own else mangled


def named(name: str, mangled: tuple[str, ...]) -> tuple[str, ...]:
    """Return the mangled names that a name may mean: itself if it is one of them, else all of that plain name."""
    return (name,) if name in mangled else tuple(one for one in mangled if plain(one) == name)
