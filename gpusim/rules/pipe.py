"""Arithmetic pipes: a warp instruction occupies its pipe for 32 / lanes cycles, its initiation interval."""

from __future__ import annotations

from typing import Any

from gpusim.rule import rule


@rule
def instance(sm: Any, k: int, pipe: int) -> Any:
    """The pipe that scheduler k's warps use: its own, or the SM's only one (kept with scheduler 0)."""
    return sm.pipes[0 if sm.machine.pipe_shared[pipe] else k, pipe]


@rule
def earliest(sm: Any, k: int, pipe: int) -> int:
    """First cycle at which the pipe takes the next warp instruction."""
    return instance(sm, k, pipe).free


@rule
def commit(sm: Any, k: int, pipe: int, interval: int, now: int) -> None:
    """A warp instruction enters the pipe."""
    taken = instance(sm, k, pipe)
    taken.free = now + interval
    taken.busy += interval
