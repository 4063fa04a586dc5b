"""Parts of value functions: functions that others call, which an engine compiles with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from pkgutil import walk_packages
from typing import Any

import isa.values


def _named(name: str) -> Iterator[Callable[..., Any]]:
    """Yield what each file of isa/values has in the tuple of that name."""
    for file in walk_packages(isa.values.__path__, f"{isa.values.__name__}."):
        if file.name != __name__:
            yield from getattr(import_module(file.name), name, ())


PARTS = tuple(dict.fromkeys(_named("PARTS")))
INLINED = tuple(dict.fromkeys(_named("INLINED")))  # parts that are compiled anew for the numbers that each caller gives
