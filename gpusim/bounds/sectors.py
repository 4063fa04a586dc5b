"""Sectors of global memory that each instruction touches, and the bytes that its lanes ask for.

A warp instruction touches each sector of SECTOR_BYTES once, however many of its lanes are there: these are the sectors
that profilers count. Lanes that lie side by side need as few as their bytes fill; a stride takes more.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from gpusim.bounds.placement import moved, placements
from gpusim.bounds.pressure import Work
from gpusim.engines.walks.profile import Pattern, Profile
from isa.dataflow.block_step import block_steps
from isa.executing.places import lanes_in
from isa.kernel import Kernel
from isa.memory import SECTOR_BYTES
from isa.program import WORD_BYTES
from isa.row import Row, Unit


@dataclass(frozen=True, slots=True)
class Sectors:
    """What the executions of an access to global memory move: sectors touched, and bytes of active lanes."""

    sectors: Fraction
    bytes: Fraction


def sectors(works: Sequence[Work], ids: Sequence[int]) -> dict[int, Sectors]:
    """Return the sectors by pc, of all executions in the blocks with these ids, for which the works stand.

    Exact wherever the works are; if these stand for other blocks than those profiled, so do the sectors.
    """
    return of_profiles(works[0].kernel, [(work.profile, work.blocks) for work in works], ids)


def of_profiles(kernel: Kernel, profiles: Sequence[tuple[Profile, int]], ids: Sequence[int]) -> dict[int, Sectors]:
    """Return the same from profiles alone, each with the number of blocks that it stands for."""
    found: dict[int, Sectors] = defaultdict(lambda: Sectors(Fraction(0), Fraction(0)))
    for pc, profile, times in _executed(kernel, profiles, ids):
        row, patterns = kernel.program.instructions[pc].row, profile.accesses[pc]
        touched = sum(pattern.count * _touched(pattern, row) for pattern in patterns)
        nbytes = sum(pattern.count * len(_addresses(pattern, row)) * row.nbytes for pattern in patterns)
        found[pc] = Sectors(found[pc].sectors + times * touched, found[pc].bytes + times * nbytes)
    return dict(found)


def _executed(
    kernel: Kernel, profiles: Sequence[tuple[Profile, int]], ids: Sequence[int]
) -> list[tuple[int, Profile, Fraction]]:
    """Return each access to global memory, a profile that has its patterns, and the blocks for which this stands.

    Where a block's index only moves addresses, the first block's patterns are moved within a sector as each block does.
    """
    steps = block_steps(kernel)
    placed = None if steps is None else placements(kernel, steps, SECTOR_BYTES, ids)
    if placed is None:
        each = Fraction(len(ids), sum(blocks for _, blocks in profiles))
        every = [(profile, blocks * each) for profile, blocks in profiles]
        return [(pc, profile, times) for profile, times in every for pc in _global(kernel, profile)]
    first, found = profiles[0][0], Counter[tuple[int, int]]()
    for places, blocks in placed:
        found += Counter({(pc, places.get(pc, 0)): blocks for pc in _global(kernel, first)})
    return [(pc, moved(first, pc, by), Fraction(blocks)) for (pc, by), blocks in found.items()]


def _global(kernel: Kernel, profile: Profile) -> list[int]:
    """Return the accesses to global memory that executed, by pc."""
    return [pc for pc in profile.accesses if kernel.program.instructions[pc].row.unit is Unit.GLOBAL]


def _addresses(pattern: Pattern, row: Row) -> NDArray[np.int64]:
    """Return the addresses of the active lanes of one warp instruction that lie in global memory."""
    every = pattern.addresses[pattern.active]
    return (every[lanes_in(Unit.GLOBAL, every)] if row.generic else every).astype(np.int64)


def _touched(pattern: Pattern, row: Row) -> int:
    """Return the distinct sectors that these lanes touch."""
    first = _addresses(pattern, row)
    last = first + max(row.nbytes, 1) - 1
    every = np.concatenate([np.arange(-(-row.nbytes // WORD_BYTES))[:, None] * WORD_BYTES + first, last[None]])
    return _distinct(every // SECTOR_BYTES)


def _distinct(numbers: NDArray[np.int64]) -> int:
    """Return how many distinct numbers there are; np.unique imports np.ma first, which takes 0.02 s."""
    found = np.sort(numbers, axis=None)
    return int(np.count_nonzero(found[1:] != found[:-1])) + (found.size > 0)
