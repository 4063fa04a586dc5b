"""What the interpreter runs: the translated program, and the positions of a block's warps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from interpreter.block_barriers import Barriers
from interpreter.frame import Group
from interpreter.lanes import independent
from interpreter.lanes.simt_stack import StackEntry
from interpreter.steps import Action, Fetch
from isa.dataflow.lanes.divergence import reconvergence_points
from isa.kernel import Kernel

NO_WARPS = independent.Warps()


@dataclass(frozen=True, slots=True)
class Visit:
    """An instruction that needs work."""

    pc: int
    guard: Fetch | None
    action: Action | None


@dataclass(frozen=True, eq=False)
class Plan:
    """The translated program. From pc straight to stops[pc] nothing transfers control."""

    kernel: Kernel
    visits: list[Visit]  # in order
    first: list[int]  # [pc] index of the first visit at or after pc
    stops: list[int]  # [pc] the first control instruction at or after pc, else the program's length
    guards: dict[int, Fetch | None]  # of the control instructions
    steps: dict[int, independent.Step]  # the same, of independent lanes
    released: Callable[[NDArray[np.int64]], None] | None
    limit: int

    @cached_property
    def reconvergence_points(self) -> Mapping[int, int]:
        """Return by pc the reconvergence point of lanes that diverge there; computed on demand, as few kernels ask."""
        return reconvergence_points(self.kernel.program)


@dataclass(slots=True)
class Progress:
    """The positions of the running block's warps, and its barriers in use.

    `diverged` has the paths of warps whose lanes have diverged; the last is the running one, and its pc and lanes are
    those of the warp. `warps` are those of independent lanes.
    """

    pcs: list[int]
    running: list[int]
    warps: independent.Warps
    barriers: Barriers = field(default_factory=dict)
    groups: dict[tuple[int, ...], Group] = field(default_factory=dict)
    diverged: dict[int, list[StackEntry]] = field(default_factory=dict)
    issued: int = 0


def move(progress: Progress, members: Iterable[int], pc: int) -> None:
    """Let warps go on at a pc."""
    for warp in members:
        progress.pcs[warp] = pc


def alive(progress: Progress) -> int:
    """Return the number of warps that have not exited."""
    return len(progress.running) + sum(len(barrier.waiting) for barrier in progress.barriers.values())


def free(plan: Plan, progress: Progress, freed: Sequence[int], members: Sequence[int]) -> None:
    """Let warps go on that waited at a barrier of those members."""
    progress.running = sorted([*progress.running, *freed])
    if plan.released is not None and members:
        plan.released(np.array(members))
