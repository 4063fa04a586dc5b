"""How far simulated figures are from published or measured ones, over many of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

import numpy as np


class Errors(TypedDict):
    """How many figures there are, and the median and 95th percentile of their absolute relative errors."""

    n: int
    median_error: float
    p95_error: float


def errors(found: Sequence[float]) -> Errors:
    """Return the summary of relative errors; there must be at least one."""
    sizes = np.abs(found)
    return Errors(n=len(found), median_error=float(np.median(sizes)), p95_error=float(np.quantile(sizes, 0.95)))
