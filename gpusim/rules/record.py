"""The trace: one record per thing that happens, in the order in which it happens. An empty trace array records nothing."""

from __future__ import annotations

from typing import Any

from gpusim.rule import rule
from gpusim.state import FIRST_SCHEDULER, ISSUE, LAUNCHER, PLACE, REFUSE, RELEASE, RETIRE, SERVE

__all__ = ["ISSUE", "PLACE", "REFUSE", "RELEASE", "RETIRE", "SERVE", "block", "issue", "release", "service"]


@rule
def _write(sm: Any, trace: Any, kind: int, agent: int, warp: int, block: int, pc: int, detail: int, now: int) -> None:
    if sm.traced >= trace.size:
        return
    entry = trace[sm.traced]
    sm.traced += 1
    entry.cycle, entry.kind, entry.agent = now, kind, agent
    entry.warp, entry.block, entry.pc, entry.detail, entry.blocker = warp, block, pc, detail, -1


@rule
def issue(sm: Any, trace: Any, kind: int, k: int, g: int, blocker: int, now: int) -> None:
    """Warp slot g issues (or is refused) from scheduler k; with its rungs and the pc it waited for last."""
    if sm.traced >= trace.size:
        return
    warp = sm.warps[g]
    entry = trace[sm.traced]
    _write(sm, trace, kind, FIRST_SCHEDULER + k, g, sm.blocks[warp.block].id, warp.pc, warp.ready_at, now)
    entry.blocker = blocker
    entry.rung[:] = warp.rung


@rule
def service(sm: Any, trace: Any, g: int, pc: int, cycles: int, now: int) -> None:
    """The load/store unit begins to serve an instruction of warp slot g for so many cycles."""
    _write(sm, trace, SERVE, sm.load_store_agent, g, sm.blocks[sm.warps[g].block].id, pc, cycles, now)


@rule
def release(sm: Any, trace: Any, k: int, g: int, pc: int, when: int, now: int) -> None:
    """Warp slot g completes a barrier, which lets go at `when`."""
    _write(sm, trace, RELEASE, FIRST_SCHEDULER + k, g, sm.blocks[sm.warps[g].block].id, pc, when, now)


@rule
def block(sm: Any, trace: Any, kind: int, slot: int, now: int) -> None:
    """A block is placed into its slot, or leaves it."""
    _write(sm, trace, kind, LAUNCHER, -1, sm.blocks[slot].id, -1, slot, now)
