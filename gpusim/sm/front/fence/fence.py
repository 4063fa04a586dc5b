"""A fence holds its warp until all that the warp has accessed before is performed, for the chip or the system.

It issues when the warp's accesses have left the load/store unit and its loads are back. Stores are performed some
cycles after they have left the SM; after loads a fence takes longer. Where lanes have parted, others run meanwhile.
"""

from __future__ import annotations

from gpusim.sm.jit.on_demand import on_demand
from gpusim.sm.records import Row, Sm
from gpusim.sm.unit.stall import Stall

BARRIER = int(Stall.BARRIER)


@on_demand
def commit(sm: Sm, g: int, instruction: Row, now: int) -> None:
    """Hold warp slot g at a fence that issues now: memory accesses, branches and barriers wait."""
    warp, machine = sm.warps[g], sm.machine
    if sm.independent and warp.parted:
        return
    over = now + int(instruction.fence)
    if instruction.fence == machine.fence_of_chip:
        over += warp.loaded * machine.fence_loads
    warp.loaded = 0
    if warp.stored:
        over = max(over, warp.stored + machine.fence_stores)
    warp.released_at = max(warp.released_at, over)
    if not machine.barrier_defers:
        warp.release_at[BARRIER] = warp.released_at
