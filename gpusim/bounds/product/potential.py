"""The best tilings of a matrix product on a machine: equation 12, the largest over all that an SM holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Annotated

from gpusim.bounds.product.limits import TENSOR, Held, held, limits
from gpusim.bounds.product.tiling import GROUP_ROWS, GROUP_WARPS, Tiling
from gpusim.machine.machine import Machine
from gpusim.machine.tensor_rates import ELEMENT_BYTES, TYPES, products_per_cycle, tensor_gflops
from gpusim.support.document import doc
from isa.errors import UserError

SIDES = 64, 96, 128, 192, 256  # rows and columns of a block's tile
OWN = 16, 32, 48, 64, 96, 128  # of a warp's
DEPTHS = 1, 2, 4  # steps of a stage: 32 to 128 bytes of K, the widest swizzle
STAGES = 1, 2, 3, 4, 5, 6, 8
SHARERS = 2  # blocks of a cluster, which sm_90 has as it has wgmma


@dataclass(frozen=True)
class Potential:
    """The best tiling of a matrix product, the cycles of its step by resource, and what the chip reaches with it."""

    kind: Annotated[str, doc("Type of the factors: f16, f16_half (sums of halves), bf16, tf32, s8, fp8 or f64.")]
    by: Annotated[str, doc("mma.sync, wgmma, or wgmma with a multicast.")]
    tiling: Tiling
    held: Held
    limits: Mapping[str, Fraction]
    peak_gflops: Annotated[float, doc("Of the chip's tensor cores at best, 10^9 operations per second.")]

    @property
    def cycles(self) -> Fraction:
        """Cycles of a step that no schedule undercuts."""
        return max(self.limits.values())

    @property
    def size(self) -> int:
        """Numbers of C in a block's tile."""
        return self.tiling.rows * self.tiling.columns

    @property
    def limiter(self) -> str:
        """The resource that takes them; of several the tensor pipe."""
        return max(self.limits, key=lambda name: (self.limits[name], name == TENSOR))

    def gflops(self, machine: Machine) -> float:
        """Return 10^9 operations per second of the chip: all SMs, two operations to a multiplication."""
        return float(2 * self.tiling.products / self.cycles) * machine.chip.sms * machine.chip.shader_mhz / 1000


def potentials(machine: Machine, kind: str = "", tile: tuple[int, int] | None = None) -> list[Potential]:
    """Return the best tiling of each way in which a machine multiplies factors of a type, or of each type.

    `tile`: rows and columns of the blocks' tiles that are looked at, else many. Raises UserError for a machine without
    tensor cores, a type that its tensor cores don't have, and a tile that no tiling has.
    """
    ways = [(one, group) for one in ([kind] if kind else TYPES) for group in (False, True)]
    found = [way for way in ways if products_per_cycle(machine, way[0], group=way[1])]
    if not found:
        of = f"for {kind}" if machine.tensor_peak else "([tensor_peak] of its file)"
        raise UserError(f"{machine.key} has no tensor cores {of}; take another machine, such as h200")
    each = [(one, group, sharers) for one, group in found for sharers in _sharers(group)]
    bests = (best(machine, one, group=group, sharers=sharers, tile=tile) for one, group, sharers in each)
    if not (bounds := [one for one in bests if one]):
        rows, columns = tile or (0, 0)
        sides = ", ".join(map(str, SIDES))
        raise UserError(f"{machine.key} holds no tile of {rows}x{columns}; take sides of {sides}, or smaller ones")
    return bounds


def best(
    machine: Machine, kind: str, *, group: bool, sharers: int = 1, tile: tuple[int, int] | None = None
) -> Potential | None:
    """Return the tiling whose step takes fewest cycles for its products; of several the one of the smallest tiles.

    None if the SM holds none.
    """
    peak = tensor_gflops(machine, kind)
    by = ("wgmma" if group else "mma.sync") + (f", multicast to {sharers} blocks" if sharers > 1 else "")
    looked_at = (one for one in tilings(kind, group=group, sharers=sharers) if tile in (None, (one.rows, one.columns)))
    fitting = (one for one in looked_at if held(one, machine).blocks)
    found = [Potential(kind, by, one, held(one, machine), limits(one, machine, kind), peak) for one in fitting]
    return min(found, key=lambda one: (one.cycles / one.tiling.products, one.size), default=None)


def tilings(kind: str, *, group: bool, sharers: int) -> Iterator[Tiling]:
    """Yield the tilings that are looked at."""
    element = ELEMENT_BYTES[kind]
    total = {"f64": 8, "f16_half": 2}.get(kind, 4)
    for rows, columns, steps, stages in product(SIDES, SIDES, DEPTHS, STAGES):
        for own_rows, own_columns in _own(rows, columns, group=group):
            yield Tiling(rows, columns, own_rows, own_columns, steps, stages, element, total, group, sharers)


def _own(rows: int, columns: int, *, group: bool) -> Iterator[tuple[int, int]]:
    """Yield the tiles of a warp, equally many on each sub-partition, or of a warpgroup that divide the block's."""
    heights: tuple[int, ...] = (GROUP_ROWS, 2 * GROUP_ROWS) if group else OWN
    widths: tuple[int, ...] = (columns,) if group else OWN
    for height, width in product(heights, widths):
        whole = rows % height == 0 and columns % width == 0
        if whole and (group or rows // height * (columns // width) % GROUP_WARPS == 0):
            yield height, width


def _sharers(group: bool) -> tuple[int, ...]:
    return (1, SHARERS) if group else (1,)
