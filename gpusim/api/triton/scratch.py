"""Pointers that Triton's compiler adds to a kernel's parameters: to scratch memory, and to that of a profiler."""

from __future__ import annotations

from typing import Any

import numpy as np


def scratch(pointers: int, nbytes: int, programs: int) -> list[Any]:
    """Return the arguments for so many added pointers; the first is to so many bytes for each program, if any."""
    hidden: list[Any] = [None] * pointers
    if nbytes:
        hidden[0] = np.zeros(nbytes * programs, np.uint8)
    return hidden
