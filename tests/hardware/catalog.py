"""All snippets, by name."""

from collections.abc import Iterable

from hardware import conversions, floats, functions, further, halves, integers, lanes, memory, uniform
from hardware.inputs import SETS
from hardware.snippet import HEADER, Snippet, ptx

MODULES = (floats, integers, conversions, halves, functions, lanes, memory, uniform)
SNIPPETS: dict[str, Snippet] = {one.name: one for module in MODULES for one in module.snippets()}
AWAITED = tuple(further.snippets())  # those that the next recording adds: then their module is one of MODULES


def source(snippets: Iterable[Snippet]) -> str:
    """Return the PTX of snippets."""
    return HEADER + "".join(ptx(one, SETS[one.inputs].rows) for one in snippets)
