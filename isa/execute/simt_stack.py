"""The ways that the lanes of one warp go where they have parted: one goes on, the others wait, the last to part first.

At a branch that some lanes take, those that don't go on first; then those that do, up to where they meet; then all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Lanes = NDArray[np.bool_]  # [lane]


@dataclass(frozen=True, slots=True)
class Path:
    """Lanes, the pc where they go on, and the pc before which they wait for others (None: nowhere)."""

    pc: int
    lanes: Lanes
    reconvergence: int | None = None


def part(path: Path, taken: Lanes, target: int, reconvergence: int) -> list[Path]:
    """Return what becomes of a path at a branch that part of its lanes take, the way to go on with last."""
    both = [Path(reconvergence, path.lanes, path.reconvergence)] if reconvergence != path.reconvergence else []
    taken = taken.copy()  # it may be the predicate itself, which those that go first may write
    return [*both, Path(target, taken, reconvergence), Path(path.pc + 1, path.lanes & ~taken, reconvergence)]


def without(paths: Sequence[Path], gone: Lanes) -> list[Path]:
    """Return the paths without the lanes that have exited."""
    left = (Path(path.pc, path.lanes & ~gone, path.reconvergence) for path in paths)
    return [path for path in left if path.lanes.any()]
