"""A word of each lane, moved as a whole: compiled loops over lanes would move one after the other.

A compiler cannot know that two rows of words do not overlap. Called from Python these are assignments of NumPy's.
"""

from __future__ import annotations

import numpy as np

from gpusim.sm.records import Numbers, Table
from gpusim.sm.unit.capacities import LANES


def copy(to: Numbers, rows: Table, row: int) -> None:
    """Copy a row, counted from the first: all arrays here are of 32-bit words, 32 in a row, one after the other."""
    to[:] = rows[row]


def put(rows: Table, row: int, words: Numbers, active: int) -> None:
    """Set the words of a row whose lanes are in the mask; the others stay."""
    chosen = active >> np.arange(LANES) & 1 == 1
    np.asarray(rows[row])[chosen] = np.asarray(words)[chosen]


def exchange(rows: Table, row: int, words: Numbers) -> None:
    """Exchange a row with other words."""
    held = np.array(rows[row])
    rows[row] = words
    words[:] = held
