"""The examples that a test draws or goes through: all, or a part in the runs of `make test` and `make check`."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TypeVar

import pytest

RUN = os.environ.get("GPUSIM_TESTS", "")
QUICK = RUN == "quick"
PARTS = {"quick": 15, "check": 6}  # of the examples one part is drawn
CASES = {"quick": 2, "check": 8}  # at most so many of a parametrised test's, unless it is marked `every`

T = TypeVar("T")


def draws(number: int, least: int = 2) -> int:
    """Return the number of examples to draw: all, or a 15th in the quick run and a sixth in that of `make check`.

    At least `least` are drawn if there are as many.
    """
    return min(number, max(least, number // PARTS.get(RUN, 1)))


def spread(values: Sequence[T], number: int) -> Sequence[T]:
    """Return at most so many of these values, at even distances from the first on."""
    return values if number >= len(values) else [values[i * len(values) // number] for i in range(number)]


def few(values: Iterable[T], number: int) -> list[T]:
    """Return these values; in the quick run at most so many of them, at even distances from the first on."""
    found = list(values)
    return list(spread(found, number)) if QUICK else found


def some_cases(items: Iterable[pytest.Item], number: int) -> list[pytest.Item]:
    """Return at most so many cases of each test, at even distances; all of a test that is marked `every`."""
    cases = defaultdict[str, list[pytest.Item]](list)
    for item in items:
        cases[item.nodeid if item.get_closest_marker("every") else item.nodeid.partition("[")[0]].append(item)
    return [item for found in cases.values() for item in spread(found, number)]
