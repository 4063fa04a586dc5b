"""How much of a launch's buffers, and of its shared memory, blocks access."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpusim.engines.walks.program_order import walk
from gpusim.sm.jit.rule import COMPILED
from isa.executing.places import BASES, lanes_in
from isa.kernel import Kernel
from isa.memory import bases
from isa.operands.windows import PEER_BYTES
from isa.row import GLOBAL_UNITS, Unit

MOST = 2_000_000 if COMPILED else 20_000  # warp instructions of all blocks that run: about a second
_SAMPLE = 64  # blocks, where all would be too many
_LOOK = 1 << 20 if COMPILED else 1 << 13  # warp instructions of a block: more are a loop without end


@dataclass(frozen=True)
class Accessed:
    """Bytes of each buffer, by name, and of a block's shared memory, up to the last one that is accessed."""

    buffers: Mapping[str, int]
    shared: int


def accessed(kernel: Kernel) -> Accessed:
    """Return how much blocks of a launch access: all of them if that is quick, else some over the whole grid.

    Raises ExecutionError, DeadlockError or LimitError for what ends one of them.
    """
    seen = _Seen(kernel)
    first = walk(kernel, [0], seen, limit=_LOOK)
    most = int(MOST // max(1, first.counts.sum()))
    if kernel.blocks > 1:
        walk(kernel, sample(kernel, most), seen, limit=_LOOK)
    return seen.accessed()


def check(kernel: Kernel) -> None:
    """Run the blocks of which `accessed` tells; raises as it does."""
    first = walk(kernel, [0], limit=_LOOK)
    walk(kernel, sample(kernel, int(MOST // max(1, first.counts.sum()))), limit=_LOOK)


def sample(kernel: Kernel, most: int) -> Sequence[int]:
    """Return blocks, at most so many but some all the same: those at the ends of each axis, and others between."""
    if kernel.blocks <= max(2, most):
        return range(kernel.blocks)
    x, y, z = kernel.grid
    ends = [a + x * (b + y * c) for a in (0, x - 1) for b in (0, y - 1) for c in (0, z - 1)]
    some = np.linspace(0, kernel.blocks - 1, min(_SAMPLE, max(2, most))).astype(np.int64).tolist()
    return sorted({*ends, *some})


class _Seen:
    """What is seen of accesses: the first byte behind them, of each buffer and of shared memory."""

    def __init__(self, kernel: Kernel) -> None:
        """Begin with nothing."""
        where = bases(kernel.buffers)
        self.rows = [one.row for one in kernel.program.instructions]
        self.leaves = kernel.program.leaves_global
        self.names = [one.name for one in kernel.buffers]
        self.starts = np.array([where[name] for name in self.names] or [0], np.int64)
        self.ends, self.shared = np.zeros(len(self.starts), np.int64), 0

    def __call__(self, pc: int, _warps: object, addresses: NDArray[np.uint32], active: NDArray[np.bool_]) -> None:
        """Take note of the accesses of one instruction."""
        row, places = self.rows[pc], addresses[active]
        unit = row.unit
        if row.generic and self.leaves:
            within = places[lanes_in(Unit.SHARED, places)]
            self._share(within - np.uint32(BASES[Unit.SHARED]), row.accessed_bytes)
            places, unit = places[lanes_in(Unit.GLOBAL, places)], Unit.GLOBAL
        if not len(places):
            return
        if unit is Unit.SHARED:
            self._share(places, row.accessed_bytes)
        elif unit in GLOBAL_UNITS:
            which = np.searchsorted(self.starts, places, "right") - 1
            np.maximum.at(self.ends, which, places.astype(np.int64) + row.accessed_bytes - self.starts[which])

    def _share(self, places: NDArray[np.uint32], nbytes: int) -> None:
        """Take note of places in shared memory, the block's own or another's of its cluster: all have as much."""
        if len(places):
            self.shared = max(self.shared, int((places & np.uint32(PEER_BYTES - 1)).max()) + nbytes)

    def accessed(self) -> Accessed:
        """Return what was seen."""
        return Accessed(dict(zip(self.names, self.ends.tolist(), strict=False)), self.shared)
