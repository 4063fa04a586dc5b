"""The paths of a warp whose lanes have diverged: one runs, the others wait, the last to diverge runs first.

At a branch that some lanes take, the others run first, then those that take it, up to the reconvergence point; then all
run together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Lanes = NDArray[np.bool_]  # [lane]


@dataclass(frozen=True, slots=True)
class StackEntry:
    """Lanes, the pc at which they continue, and the pc before which they wait for others (None: no such pc)."""

    pc: int
    lanes: Lanes
    reconvergence: int | None = None


def diverge(entry: StackEntry, taken: Lanes, target: int, reconvergence: int) -> list[StackEntry]:
    """Return the entries after a branch that some of the lanes take, the one to run next last."""
    both = [StackEntry(reconvergence, entry.lanes, entry.reconvergence)] if reconvergence != entry.reconvergence else []
    taken = taken.copy()  # it may be the predicate itself, which the path that runs first may write
    return [
        *both,
        StackEntry(target, taken, reconvergence),
        StackEntry(entry.pc + 1, entry.lanes & ~taken, reconvergence),
    ]


def without(stack: Sequence[StackEntry], gone: Lanes) -> list[StackEntry]:
    """Return the entries without the lanes that have exited."""
    left = (StackEntry(entry.pc, entry.lanes & ~gone, entry.reconvergence) for entry in stack)
    return [entry for entry in left if entry.lanes.any()]
