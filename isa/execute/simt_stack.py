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
class Path:
    """Lanes, the pc at which they continue, and the pc before which they wait for others (None: no such pc)."""

    pc: int
    lanes: Lanes
    reconvergence: int | None = None


def part(path: Path, taken: Lanes, target: int, reconvergence: int) -> list[Path]:
    """Return the paths after a branch that some of its lanes take, the path to run next last."""
    both = [Path(reconvergence, path.lanes, path.reconvergence)] if reconvergence != path.reconvergence else []
    taken = taken.copy()  # it may be the predicate itself, which the path that runs first may write
    return [*both, Path(target, taken, reconvergence), Path(path.pc + 1, path.lanes & ~taken, reconvergence)]


def without(paths: Sequence[Path], gone: Lanes) -> list[Path]:
    """Return the paths without the lanes that have exited."""
    left = (Path(path.pc, path.lanes & ~gone, path.reconvergence) for path in paths)
    return [path for path in left if path.lanes.any()]
