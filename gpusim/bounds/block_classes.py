"""Classes of blocks: those that execute the same instructions equally often, in as many threads.

Blocks at the border of a grid often do less than those inside. Each block is run without time, and without values but
those on which addresses, guards and branches depend; so its class is known, not assumed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpusim.engines.busiest_sm import counter
from gpusim.launch.feed import recordable
from isa.kernel import Kernel
from isa.support import frozen
from isa.support.once import once

MOST = 100_000_000  # warp instructions of all blocks: about as many seconds of counting as 10 M in a block's profile
FEW = 64  # classes beyond which blocks are not put together


@frozen.comparable
@dataclass(frozen=True)
class Classes:
    """The classes of some blocks, in their order; `work` has their warp instructions."""

    of: NDArray[np.int64]
    work: NDArray[np.int64]

    def members(self) -> list[NDArray[np.int64]]:
        """Return the places of the blocks of each class, by first member."""
        return [np.flatnonzero(self.of == number) for number in range(int(self.of.max()) + 1)]


@once
def classes(kernel: Kernel, ids: range, limit: int) -> Classes | None:
    """Return the classes of the blocks with these ids.

    None where what a block executes depends on what memory holds, where blocks have too many warp instructions or
    classes, or where one can't be run. Raises LimitError beyond `limit` warp instructions in a block.
    """
    if not recordable(kernel):
        return None
    count = counter(kernel, limit)
    numbers: dict[bytes, int] = {}
    of, work = np.zeros((2, len(ids)), np.int64)
    for place, block in enumerate(ids):
        found = count(block)
        if found is None or int(found[0].sum()) * (len(ids) - place) > MOST:
            return None
        of[place] = numbers.setdefault(b"".join(one.tobytes() for one in found), len(numbers))
        work[place] = found[0].sum()
        if len(numbers) > FEW:
            return None
    return Classes(of, work)


def standing(places: Sequence[int], most: int) -> dict[int, int]:
    """Return blocks that stand for all at these places, the first, the last and some between, and for how many each."""
    chosen = np.unique(np.linspace(0, len(places) - 1, min(most, len(places))).round().astype(int))
    shares = np.diff(np.linspace(0, len(places), len(chosen) + 1).round().astype(int))
    return {int(places[at]): int(share) for at, share in zip(chosen, shares, strict=True)}
