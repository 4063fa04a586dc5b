"""Parts of value functions: functions that others call, which an engine compiles with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from pkgutil import walk_packages
from typing import Any

import isa.values


def _parts() -> Iterator[Callable[..., Any]]:
    """Yield what each file of isa/values names in its PARTS."""
    for file in walk_packages(isa.values.__path__, f"{isa.values.__name__}."):
        if file.name != __name__:
            yield from getattr(import_module(file.name), "PARTS", ())


PARTS = tuple(dict.fromkeys(_parts()))
