"""Where a warp goes on behind an instruction that may part its lanes: by a stack, or by lanes of their own."""

from __future__ import annotations

from gpusim.sm.jit.rule import rule
from gpusim.sm.lanes.convergence import independent_lanes
from gpusim.sm.lanes.simt_stack import simt_stack
from gpusim.sm.records import Row, Sm


@rule
def follow(sm: Sm, g: int, instruction: Row, pc: int) -> None:
    """Find the path on which warp slot g goes on after the instruction at pc."""
    if not sm.independent:
        simt_stack.follow(sm, g, instruction, pc)
    elif instruction.steers:
        independent_lanes.follow(sm, g, instruction, pc)
