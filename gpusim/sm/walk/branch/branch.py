"""BRA: a taken branch sends its warp to the target, and holds it until it is resolved.

Where lanes are independent, a switch to another group of the warp's lanes takes as long (a guess).
"""

from __future__ import annotations

from gpusim.sm.jit.rule import rule
from gpusim.sm.records import Row, Sm, Warp
from gpusim.sm.replay.stream import stream
from gpusim.sm.unit.stall import Stall

BRANCH = int(Stall.BRANCH_RESOLVING)


@rule
def commit(sm: Sm, g: int, instruction: Row, pc: int, now: int) -> None:
    """Send warp slot g from pc to the branch's target; it may issue again `branch.latency` cycles later."""
    warp = sm.warps[g]
    warp.release_at[BRANCH] = now + sm.machine.branch
    warp.pc = instruction.target
    if sm.forwarding:
        stream.passed(sm, g, pc, instruction.target)


@rule
def elsewhere(sm: Sm, warp: Warp, pc: int, now: int) -> None:
    """Hold a warp that goes on elsewhere than after the instruction at pc."""
    if warp.pc != pc + 1:
        warp.release_at[BRANCH] = now + sm.machine.branch
