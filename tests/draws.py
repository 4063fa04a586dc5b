"""How many examples a random test draws: all of them, or a tenth in the quick run of `make test`."""

from __future__ import annotations

import os

QUICK = os.environ.get("GPUSIM_TESTS") == "quick"


def draws(number: int) -> int:
    """Return how many of so many examples are drawn now: at least two."""
    return min(number, max(2, number // 10)) if QUICK else number
