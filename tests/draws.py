"""The examples that a test draws or goes through: all, or a part in the runs of `make test` and `make check`."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TypeVar

RUN = os.environ.get("GPUSIM_TESTS", "")
QUICK = RUN == "quick"
PARTS = {"quick": 15, "check": 3}  # of the examples one part is drawn
CASES = 4  # of a parametrised test run by the quick run, unless it is marked `every`

T = TypeVar("T")


def draws(number: int, least: int = 2) -> int:
    """Return the number of examples to draw: all, or a 15th in the quick run and a third in that of `make check`.

    At least `least` are drawn if there are as many.
    """
    return min(number, max(least, number // PARTS.get(RUN, 1)))


def few(values: Iterable[T], number: int) -> list[T]:
    """Return these values; in the quick run at most so many of them, at even distances from the first on."""
    found = list(values)
    if not QUICK or number >= len(found):
        return found
    return [found[i * len(found) // number] for i in range(number)]
