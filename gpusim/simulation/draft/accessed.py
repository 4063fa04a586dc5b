"""How much of a launch's buffers, and of its shared memory, blocks access."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpusim.engines.walks.program_order import Observe, Walked, Walker, walk
from gpusim.sm.jit.rule import COMPILED
from isa.errors import LimitError
from isa.executing.places import BASES, lanes_in
from isa.kernel import Kernel
from isa.memory import bases
from isa.operands.windows import PEER_BYTES
from isa.row import GLOBAL_UNITS, Unit

MOST = 2_000_000 if COMPILED else 20_000  # warp instructions of all blocks that run: about a second
ALL = 16 * MOST  # warp instructions of all launches that are tried for one draft
ALL_BYTES = 16 << 30  # of their buffers
_SAMPLE = 64  # blocks, where all would be too many
_LOOK = 1 << 20 if COMPILED else 1 << 13  # warp instructions of a block: more are a loop without end


@dataclass
class Budget:
    """What is left for the launches that are tried for one draft: warp instructions, and bytes of buffers."""

    instructions: int = ALL
    nbytes: int = ALL_BYTES

    @property
    def spent(self) -> bool:
        """Whether no further launch is tried."""
        return min(self.instructions, self.nbytes) <= 0

    def walk(self, kernel: Kernel, blocks: Sequence[int], observe: Observe | None = None) -> Walked:
        """Run blocks, as many as there is room for; raises what ends one of them, and LimitError if there is no room.

        The last block may run for as long as any may.
        """
        self.nbytes -= sum(one.nbytes for one in kernel.buffers)
        if self.spent:
            raise LimitError(f"{kernel.name}: no further launch is tried: the others have taken what there is for all")
        made, limit = list[Walker](), min(_LOOK, self.instructions)
        try:
            return walk(kernel, self._while_left(made, blocks), observe, limit=limit, made=made.append)
        finally:
            self.instructions -= _run(made)

    def _while_left(self, made: Sequence[Walker], blocks: Iterable[int]) -> Iterator[int]:
        """Yield blocks until the instructions are spent; the first one comes in any case."""
        for block in blocks:
            yield block
            if _run(made) >= self.instructions:
                return


@dataclass(frozen=True)
class Accessed:
    """Bytes of each buffer, by name, and of a block's shared memory, up to the last one that is accessed."""

    buffers: Mapping[str, int]
    shared: int


def accessed(kernel: Kernel, budget: Budget) -> Accessed:
    """Return how much blocks of a launch access: all of them if that is quick, else some over the whole grid.

    Raises ExecutionError, DeadlockError or LimitError for what ends one of them.
    """
    seen = _Seen(kernel)
    first = budget.walk(kernel, [0], seen)
    most = int(MOST // max(1, first.counts.sum()))
    if kernel.blocks > 1:
        budget.walk(kernel, sample(kernel, most), seen)
    return seen.accessed()


def check(kernel: Kernel, budget: Budget) -> None:
    """Run the blocks of which `accessed` tells; raises as it does."""
    first = budget.walk(kernel, [0])
    budget.walk(kernel, sample(kernel, int(MOST // max(1, first.counts.sum()))))


def _run(made: Sequence[Walker]) -> int:
    """Return how many warp instructions have run; 0 before anything runs them."""
    return sum(int(held.program["issued"][: len(one.kernel.program)].sum()) for one in made for held in one.each)


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
