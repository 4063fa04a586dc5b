"""What-if: lanes that go the same way lie in one warp. So a warp has time for the way of one of its lanes alone.

That lane leads. The warp passes over what other lanes do without it, and takes no time for that, but for accesses to
memory and for what waits for them: what these move stays. From warp to warp the leading lane is half a warp and one
further. So every instruction counts as often as lanes execute it, in the mean of many warps.
"""

from __future__ import annotations

from gpusim.sm.jit.rule import rule
from gpusim.sm.records import Sm, Warp
from gpusim.sm.unit.capacities import LANES
from gpusim.sm.unit.stall import Stall

SHORT, LONG = int(Stall.SHORT_SCOREBOARD), int(Stall.LONG_SCOREBOARD)


@rule
def begin(sm: Sm, warp: Warp) -> None:
    """Let the warp's first lane lead; of the next warp of its scheduler, and of the next scheduler, the next one."""
    turn = warp.age // sm.machine.schedulers + warp.age % sm.machine.schedulers
    warp.leads = turn * (warp.threads // 2 + 1) % warp.threads


@rule
def passes(sm: Sm, warp: Warp) -> bool:
    """Tell whether the warp may pass over its next instruction, which the leading lane does not execute."""
    absent = (warp.lanes[warp.leads // LANES] >> warp.leads % LANES) & 1 == 0
    return bool(absent and sm.program[warp.pc].passable)


@rule
def waits(warp: Warp, now: int) -> bool:
    """Tell whether the warp's next instruction waits for what memory brings."""
    return bool(warp.release_at[LONG] > now or warp.release_at[SHORT] > now)
