"""A matrix instruction of a warpgroup as the tensor cores compute it."""

from __future__ import annotations

from gpusim.sm.jit.on_demand import on_demand
from gpusim.sm.records import Memory, Sm


@on_demand
def land(sm: Sm, memory: Memory, g: int, place: int) -> None:
    """Compute."""
