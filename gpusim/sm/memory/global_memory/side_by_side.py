"""What-if: lanes that access global memory at neighbouring places, as they would if the data lay so.

Of the lanes that are resolved together, each distinct place keeps its rank, and they lie side by side in a block of
their own, of 32 to 128 bytes. The blocks that so many accesses touch are as many as their bytes fill: where lanes lie
a stride apart, accesses at the next places take turns among the blocks that all of them span. So what many accesses
touch together stays about as large. Accesses that touch few sectors as they are stay where they are. Values stay.
"""

from __future__ import annotations

import numpy as np

from gpusim.sm.jit.on_demand import on_demand
from gpusim.sm.jit.rule import rule
from gpusim.sm.records import Row, Scratch, Sm
from gpusim.sm.unit.capacities import LANES
from isa.memory import SECTOR_BYTES


@on_demand
def gather(sm: Sm, instruction: Row, active: int) -> None:
    """Put the active lanes' addresses in `scratch` side by side; `apart` has those that they were."""
    size, together = int(instruction.access_bytes), LANES // int(instruction.words)
    for lane in range(LANES):
        sm.scratch.apart[lane] = sm.scratch.address[lane]
    for first in range(0, LANES, together):
        _gather(sm.scratch, active, first, first + together, size)


@on_demand
def spread(sm: Sm) -> None:
    """Put the addresses in `scratch` back where they were."""
    for lane in range(LANES):
        sm.scratch.address[lane] = sm.scratch.apart[lane]


@rule
def _gather(scratch: Scratch, active: int, first: int, end: int, size: int) -> None:
    """Do it with the lanes from `first` on that are resolved together."""
    count = _rank(scratch, active, first, end)
    room = _power(count * size)
    low, high = np.int64(1) << 32, np.int64(0)
    for lane in range(first, end):
        if (active >> lane) & 1:
            place = np.int64(scratch.apart[lane])
            low, high = min(low, place), max(high, place + size)
    if count < 2 or _sectors(scratch, active, first, end) * SECTOR_BYTES <= max(SECTOR_BYTES, count * size):
        return
    blocks = min(_power(int((high - low + room - 1) // room)), _power(count))
    chosen = low // size % blocks * count // blocks
    base = np.int64(0)
    for lane in range(first, end):
        if (active >> lane) & 1 and scratch.rank[lane] == chosen:
            base = np.int64(scratch.apart[lane]) // room * room
    for lane in range(first, end):
        if (active >> lane) & 1:
            scratch.address[lane] = np.uint32(base + scratch.rank[lane] * size)


@rule
def _rank(scratch: Scratch, active: int, first: int, end: int) -> int:
    """Number the distinct places of lanes in their order; return how many there are."""
    count = 0
    for lane in range(first, end):
        if (active >> lane) & 1:
            other = first
            while not ((active >> other) & 1 and scratch.apart[other] == scratch.apart[lane]):
                other += 1
            scratch.rank[lane] = scratch.rank[other] if other < lane else count
            count += other == lane
    return count


@rule
def _sectors(scratch: Scratch, active: int, first: int, end: int) -> int:
    """Return the distinct sectors in which lanes' places begin."""
    count = 0
    for lane in range(first, end):
        if (active >> lane) & 1:
            other = first
            sector = scratch.apart[lane] // SECTOR_BYTES
            while not ((active >> other) & 1 and scratch.apart[other] // SECTOR_BYTES == sector):
                other += 1
            count += other == lane
    return count


@rule
def _power(number: int) -> int:
    """Return the least power of two that is not below a number."""
    power = 1
    while power < number:
        power *= 2
    return power
