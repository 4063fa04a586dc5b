"""The examples that a test draws or goes through: all of them, or a part in the quick run of `make test`."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TypeVar

QUICK = os.environ.get("GPUSIM_TESTS") == "quick"

T = TypeVar("T")


def draws(number: int, least: int = 2) -> int:
    """Return the number of examples to draw: all of them, or in the quick run a 15th, but at least `least`."""
    return min(number, max(least, number // 15)) if QUICK else number


def few(values: Iterable[T], number: int) -> list[T]:
    """Return these values; in the quick run at most so many of them, at even distances from the first on."""
    found = list(values)
    if not QUICK or number >= len(found):
        return found
    return [found[i * len(found) // number] for i in range(number)]
