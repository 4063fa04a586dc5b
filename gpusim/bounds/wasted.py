"""What accesses waste: passes through shared memory by bank conflicts, sectors of global memory by scattered lanes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from gpusim.bounds.pressure import Work
from gpusim.bounds.sectors import of_profiles
from isa.memory import SECTOR_BYTES

SCATTERED = 2  # times the sectors that the bytes fill, from which on lanes count as scattered


def conflicts(works: Sequence[Work]) -> Iterator[tuple[int, float]]:
    """Yield pc and passes for each pass that the width needs, of accesses to shared memory that have conflicts."""
    for pc in sorted({pc for work in works for pc in work.costs}):
        costs = [(work.blocks, work.costs[pc]) for work in works if pc in work.costs]
        passes = sum(blocks * cost.passes for blocks, cost in costs)
        beyond = sum(blocks * cost.conflicts for blocks, cost in costs)
        if 0 < beyond < passes:
            yield pc, passes / (passes - beyond)


def scattered(works: Sequence[Work]) -> Iterator[tuple[int, float]]:
    """Yield pc and sectors for each that the lanes' bytes fill, of accesses to global memory in the first work.

    An access needs one sector at least. Only accesses with twice as many or more count as scattered.
    """
    first = works[0]
    for pc, moved in sorted(of_profiles(first.kernel, [(first.profile, 1)], (0,)).items()):
        executions = first.costs[pc].executions if pc in first.costs else 0
        needed = max(Fraction(executions), moved.bytes / SECTOR_BYTES)
        if executions and moved.sectors >= SCATTERED * needed:
            yield pc, float(moved.sectors / needed)
