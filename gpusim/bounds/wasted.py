"""What accesses waste: passes of conflicts or of one word in shared memory, sectors of global memory by lanes apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from gpusim.bounds.pressure import Work
from gpusim.bounds.sectors import of_profiles
from isa.memory import SECTOR_BYTES

SHARING = 2  # lanes for each word from which on those of an atomic count as updating one
SCATTERED = 2  # times the sectors that the bytes fill, from which on lanes count as scattered


def conflicts(works: Sequence[Work]) -> Iterator[tuple[int, float]]:
    """Yield pc and passes for each pass that the width needs, of accesses to shared memory that have conflicts."""
    return ((pc, factor) for pc, factor in _passes(works) if not _on_one_word(works, pc))


def serialised(works: Sequence[Work]) -> Iterator[tuple[int, float]]:
    """Yield the same of atomics whose lanes update one word: no padding lets them go together."""
    return ((pc, factor) for pc, factor in _passes(works) if _on_one_word(works, pc))


def _on_one_word(works: Sequence[Work], pc: int) -> bool:
    """Tell whether an atomic has two lanes or more for each word, on the average."""
    if works[0].kernel.program.instructions[pc].row.update is None:
        return False
    patterns = [(work.blocks, p) for work in works for p in work.profile.accesses.get(pc, ())]
    lanes = sum(blocks * p.count * int(p.active.sum()) for blocks, p in patterns)
    words = sum(blocks * p.count * len(np.unique(p.addresses[p.active])) for blocks, p in patterns)
    return lanes >= SHARING * words


def _passes(works: Sequence[Work]) -> Iterator[tuple[int, float]]:
    """Yield pc and passes for each that the width needs, where they are more."""
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
