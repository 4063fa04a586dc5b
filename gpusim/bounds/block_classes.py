"""Classes of blocks: those that execute the same instructions equally often, in as many threads.

Blocks at the border of a grid often do less than those inside. Each block is run without time, and without values but
those on which addresses, guards and branches depend; so its class is known, not assumed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpusim.engines.walks.counting.block_counts import FAULTY, KINDS, Counted, Counter, Limited, counted, counter
from gpusim.launch.feed import countable, recordable
from gpusim.machine.machine import Machine
from isa.kernel import Kernel
from isa.support import frozen
from isa.support.once import once

MOST = 100_000_000  # warp instructions of all blocks: about as many seconds of counting as 10 M in a block's profile
FEW = KINDS  # classes beyond which blocks are not put together
TOGETHER = 16  # blocks that are counted before it is looked whether it is too much


@frozen.comparable
@dataclass(frozen=True)
class Classes:
    """The classes of some blocks, in their order; `work` has their warp instructions."""

    of: NDArray[np.int64]
    work: NDArray[np.int64]

    def members(self) -> list[NDArray[np.int64]]:
        """Return the places of the blocks of each class, by first member."""
        return [np.flatnonzero(self.of == number) for number in range(int(self.of.max()) + 1)]


def classes(
    kernel: Kernel, ids: range, limit: int, machine: Machine | None = None, *, threads: bool = True
) -> Classes | None:
    """Return the classes of the blocks with these ids, without `threads` those that execute as much in any of them.

    `machine` as in program_order.walker. None where what a block executes depends on what memory holds, where blocks
    have too many warp instructions or classes, or where one can't be run. Raises LimitError beyond `limit` warp
    instructions in a block.
    """
    known = recordable(kernel) if threads else countable(kernel)
    return _classes(kernel, ids, limit, Limited(limit, machine), threads) if known else None


@once
def _classes(kernel: Kernel, ids: range, limit: int, walk: Limited, threads: bool) -> Classes | None:
    return _counted(counter(kernel, walk.where, threads=threads), ids, limit)


def _counted(count: Counter, ids: Sequence[int], limit: int) -> Classes | None:
    """Return the classes of the blocks with these ids; None where they are too many or too long."""
    found = list[Counted]()
    for first in range(0, len(ids), TOGETHER):
        found.append(counted(count, ids[first : first + TOGETHER], limit))
        of, work = found[-1]
        if of.min() == FAULTY or of.max() >= FEW or int(work[-1]) * (len(ids) - first) > MOST:
            return None
    return Classes(*(np.concatenate(each) for each in zip(*found, strict=True)))


def bordering(kernel: Kernel, ids: range, limit: int, machine: Machine | None = None) -> Classes | None:
    """Return the classes of blocks of which only the first, a middle one and the last of each row are counted.

    Those between are taken for the middle one, as borders are at the ends of rows: for blocks that are too long to
    count each of them. None and errors as of `classes` without threads.
    """
    if not countable(kernel):
        return None
    rows = np.array(ids) // kernel.grid[0]
    firsts = np.flatnonzero(np.diff(rows, prepend=-1))
    lasts = np.append(firsts[1:], len(ids)) - 1
    stands = np.repeat((firsts + lasts) // 2, lasts - firsts + 1)
    stands[firsts], stands[lasts] = firsts, lasts
    chosen, of = np.unique(stands, return_inverse=True)
    found = _counted(counter(kernel, machine), [ids[place] for place in chosen.tolist()], limit)
    return found and Classes(found.of[of], found.work[of])


def standing(places: Sequence[int], most: int) -> dict[int, int]:
    """Return blocks that stand for all at these places, the first, the last and some between, and for how many each."""
    chosen = np.unique(np.linspace(0, len(places) - 1, min(most, len(places))).round().astype(int))
    shares = np.diff(np.linspace(0, len(places), len(chosen) + 1).round().astype(int))
    return {int(places[at]): int(share) for at, share in zip(chosen, shares, strict=True)}
