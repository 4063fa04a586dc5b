"""What a tile of a matrix product asks of each resource of an SM, for what it asks of the tensor pipe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gpusim.bounds.product.limits import TENSOR, Held, held, limits
from gpusim.bounds.product.tiling import GROUP_ROWS, Tiling
from gpusim.machine.machine import Machine

STEPS = 4  # of 32 bytes of K in a stage: 128 bytes, the widest swizzle


@dataclass(frozen=True)
class Shares:
    """Cycles by resource for each cycle of the tensor pipe, and what an SM holds of the tiling."""

    by_resource: Mapping[str, float]
    held: Held

    @property
    def limiter(self) -> str:
        """The resource that takes longest."""
        return max(self.by_resource, key=self.by_resource.__getitem__)


def of_halves(machine: Machine, rows: int, columns: int, stages: int, sharers: int = 1) -> Shares:
    """Return the shares of a block's tile of halves by wgmma, 64 rows to a warpgroup, with stages of 128 bytes of K.

    `sharers`: blocks that get the columns' part by one multicast.
    """
    tiling = Tiling(rows, columns, GROUP_ROWS, columns, STEPS, stages, group=True, sharers=sharers)
    cycles = limits(tiling, machine, "f16")
    return Shares({name: float(one / cycles[TENSOR]) for name, one in cycles.items()}, held(tiling, machine))
