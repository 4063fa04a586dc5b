"""The trace: one record per thing that happens, in that order. Nothing is recorded unless asked for."""

from __future__ import annotations

from typing import Any

from gpusim.on_demand import on_demand
from gpusim.rule import rule
from gpusim.stall import OWN
from gpusim.state import FIRST_SCHEDULER, ISSUE, LAUNCHER, PLACE, REFUSE, RELEASE, RETIRE, SERVE

__all__ = ["ISSUE", "PLACE", "REFUSE", "RELEASE", "RETIRE", "SERVE", "block", "issue", "release", "service"]


@on_demand
def _write(sm: Any, kind: int, agent: int, warp: int, block: int, pc: int, detail: int, now: int) -> None:
    entry = sm.records[sm.traced]
    sm.traced += 1
    entry.cycle, entry.kind, entry.agent = now, kind, agent
    entry.warp, entry.block, entry.pc, entry.detail, entry.blocker = warp, block, pc, detail, -1
    for rung in range(OWN):  # an array assigned to an array would bring in Numba's check of shapes, and take seconds
        entry.rung[rung] = 0


@on_demand
def issue(sm: Any, kind: int, k: int, g: int, blocker: int, now: int) -> None:
    """Warp slot g issues (or is refused) from scheduler k; with its rungs and the pc it waited for last."""
    if not sm.tracing:
        return
    warp = sm.warps[g]
    entry = sm.records[sm.traced]
    _write(sm, kind, FIRST_SCHEDULER + k, g, sm.blocks[warp.block].id, warp.pc, warp.ready_at, now)
    entry.blocker = blocker
    for rung in range(OWN):
        entry.rung[rung] = warp.rung[rung]


@rule
def service(sm: Any, g: int, pc: int, cycles: int, now: int) -> None:
    """The load/store unit begins to serve an instruction of warp slot g for so many cycles."""
    if sm.tracing:
        _write(sm, SERVE, sm.load_store_agent, g, sm.blocks[sm.warps[g].block].id, pc, cycles, now)


@rule
def release(sm: Any, k: int, g: int, pc: int, when: int, now: int) -> None:
    """Warp slot g completes a barrier, which lets go at `when`."""
    if sm.tracing:
        _write(sm, RELEASE, FIRST_SCHEDULER + k, g, sm.blocks[sm.warps[g].block].id, pc, when, now)


@rule
def block(sm: Any, kind: int, slot: int, now: int) -> None:
    """A block is placed into its slot, or leaves it."""
    if sm.tracing:
        _write(sm, kind, LAUNCHER, -1, sm.blocks[slot].id, -1, slot, now)
