"""Functions of what a warp holds beside its registers: what a barrier found, and its convergence barriers."""

from __future__ import annotations

import numpy as np

from gpusim.sm.jit.rule import lowest_bit, rule
from gpusim.sm.records import Sm, Warp


@rule
def warp_of(sm: Sm) -> Warp:
    """Return the warp of the lane group that is computed."""
    return sm.warps[sm.scratch.group // sm.machine.groups]


def found(sm: Sm) -> None:
    """Set d to what the warp's last BAR.RED found."""
    sm.scratch.d[0, :] = np.uint32(warp_of(sm).reduced)


def found_any(sm: Sm) -> None:
    """Tell whether that is not 0."""
    sm.scratch.flag[:] = np.uint32(1) if warp_of(sm).reduced else np.uint32(0)


def move_barrier(sm: Sm) -> None:
    """Set d to a convergence barrier and clear it, or set it to a's word in the lowest lane that takes part."""
    warp, scratch = warp_of(sm), sm.scratch
    instruction = sm.program[warp.pc]
    barrier = instruction.convergence
    if instruction.clears:
        scratch.d[0, :] = np.uint32(warp.convergence[barrier])
    warp.plain &= ~(1 << barrier)
    warp.convergence[barrier] = np.int64(scratch.a[0, int(lowest_bit(scratch.active))])
