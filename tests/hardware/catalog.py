"""All snippets, by name."""

from collections.abc import Iterable

from hardware import conversions, extremes, floats, functions, generic, halves, integers, lanes, memory, parts, uniform
from hardware.inputs import SETS
from hardware.snippet import HEADER, Snippet, ptx

MODULES = (floats, integers, conversions, halves, functions, lanes, memory, uniform, extremes, parts, generic)
SNIPPETS: dict[str, Snippet] = {one.name: one for module in MODULES for one in module.snippets()}


def source(snippets: Iterable[Snippet]) -> str:
    """Return the PTX of snippets."""
    return HEADER + "".join(ptx(one, SETS[one.inputs].rows) for one in snippets)
