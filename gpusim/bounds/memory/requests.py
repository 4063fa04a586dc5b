"""What accesses to global memory ask the levels of memory for, each by itself: lines, sectors, parts of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusim.bounds.memory.touched import Numbers
from gpusim.bounds.pressure import Work
from gpusim.engines.walks.profile import Pattern
from gpusim.sm.memory.global_memory.declaration import SEGMENTS
from gpusim.sm.unit.capacities import LANES
from isa.executing.places import lanes_in
from isa.memory import SECTOR_BYTES
from isa.row import Row, Unit


@dataclass(frozen=True)
class Requests:
    """The requests of an instruction in a block: arrays have an entry for each pattern of its addresses.

    `partial`: lines of stores that leave parts of the sectors as they are.
    """

    count: Numbers  # executions
    lines: Numbers
    sectors: Numbers
    partial: Numbers

    def total(self, each: Numbers) -> int:
        """Return the sum of a number over all executions."""
        return int((self.count * each).sum())


def requests(work: Work) -> Iterator[tuple[int, Requests]]:
    """Yield the pc of each access to global memory that keeps tags, and its requests."""
    for pc, patterns in work.profile.accesses.items():
        row = work.kernel.program.instructions[pc].row
        if row.unit is Unit.GLOBAL and work.program[pc]["cached"]:
            yield pc, _requests(work.numbers, work.program[pc], row, [p for p in patterns if p.active.any()])


def _requests(numbers: Any, decoded: Any, row: Row, patterns: list[Pattern]) -> Requests:
    addresses = np.stack([p.addresses for p in patterns]).astype(np.int64)
    active = np.stack([p.active for p in patterns])
    if row.generic:
        active &= lanes_in(Unit.GLOBAL, addresses.astype(np.uint32))
    size = LANES // 2 if numbers.global_rule == SEGMENTS else LANES // int(decoded["words"])
    lines, sectors = (_distinct(addresses, active, size, each) for each in (int(numbers.line_bytes), SECTOR_BYTES))
    parted = np.zeros_like(lines)
    if row.is_store:
        written = _distinct(addresses, active, LANES, row.nbytes) * row.nbytes
        partly = sectors.reshape((*written.shape, -1)).sum(axis=-1) * SECTOR_BYTES > written
        parted = np.where(partly[..., None], lines.reshape((*written.shape, -1)), 0)
    count = np.array([p.count for p in patterns], np.int64)
    return Requests(count, *(each.reshape(len(patterns), -1).sum(axis=1) for each in (lines, sectors, parted)))


def _distinct(addresses: Numbers, active: NDArray[np.bool_], size: int, nbytes: int) -> Numbers:
    """Return [pattern, group]: the distinct pieces of so many bytes that active lanes of a group of `size` touch."""
    pieces = np.where(active, addresses // nbytes, -1).reshape(len(addresses), -1, min(size, addresses.shape[1]))
    pieces.sort(axis=2)  # those of lanes that are not active come first, as one
    begins = (pieces[:, :, 1:] != pieces[:, :, :-1]).sum(axis=2)
    return np.asarray(begins + (pieces[:, :, 0] >= 0), np.int64)
