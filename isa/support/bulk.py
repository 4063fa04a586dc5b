"""Making many objects at once that all stay: Python then need not search them for garbage again and again."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collection() -> Iterator[None]:
    """Keep Python from searching for garbage in cycles meanwhile, unless it is kept from it already.

    Its searches look at all objects that there are, so a program of many instructions would take more than twice as
    long to load. What is not in a cycle is freed as always.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
