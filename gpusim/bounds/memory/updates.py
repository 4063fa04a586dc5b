"""What atomics ask the slices of the L2 for, by line: one pass after the other, as lanes of one word take turns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gpusim.bounds.memory.sent import PLACES
from gpusim.bounds.memory.touched import ROWS, Numbers
from gpusim.engines.walks.program_order import Rows, lanes_of, run_block, walker
from gpusim.sm.unit.capacities import LANES
from gpusim.sm.walk.access_log import FIRST, PC
from isa.executing.places import lanes_in
from isa.kernel import Kernel
from isa.memory import SECTOR_BYTES
from isa.row import Unit
from isa.support.once import once


@once
def updates(kernel: Kernel, blocks: Sequence[int], pcs: frozenset[int], line_bytes: int, limit: int) -> Numbers:
    """Return rows of line, pc, requests, sectors and passes: sums over these blocks, or over the first of them.

    Each pass counts its sectors. Raises as a walk in program order does; LimitError beyond `limit` warp instructions
    in a block.
    """
    one, found, seen = walker(kernel, addresses=True), [np.zeros((0, 5), np.int64)], [0]
    generic = frozenset(pc for pc in pcs if kernel.program.instructions[pc].row.generic)

    def tell(rows: Rows) -> None:
        seen[0] += len(rows)
        some = rows[np.isin(rows[:, PC], list(pcs))]
        found.append(summed(_requests(some, generic, line_bytes)))

    for block in blocks if pcs else ():
        if seen[0] <= ROWS:
            one.again()
            run_block(one, block, limit, tell)
    return summed(np.concatenate(found))


def summed(rows: Numbers) -> Numbers:
    """Return the sums of rows of the same line and pc."""
    alike, which = np.unique(rows[:, :2], axis=0, return_inverse=True)
    counts = [np.bincount(which.reshape(-1), rows[:, place], len(alike)) for place in (2, 3, 4)]
    return np.column_stack([alike, *counts]).astype(np.int64)


def _requests(rows: Rows, generic: frozenset[int], line_bytes: int) -> Numbers:
    """Return the rows of each line of each access: a sector has a pass for each lane of its word that has most."""
    active, places = lanes_of(rows), rows[:, FIRST:]
    if generic:
        active &= ~np.isin(rows[:, PC], list(generic))[:, None] | lanes_in(Unit.GLOBAL, places)
    at, lane = np.nonzero(active)
    request = at * (rows.shape[1] // LANES + 1) + lane // LANES
    words, lanes = np.unique(request.astype(np.int64) << PLACES | places[at, lane].astype(np.int64), return_counts=True)
    pcs = np.zeros(int(request.max(initial=0)) + 1, np.int64)
    pcs[request] = rows[at, PC]
    sectors = np.flatnonzero(np.diff(words // SECTOR_BYTES, prepend=-1))
    lines = np.flatnonzero(np.diff(words // line_bytes, prepend=-1))
    if not len(words):
        return np.zeros((0, 5), np.int64)
    of_sector = np.maximum.reduceat(lanes, sectors)
    in_sectors = np.add.reduceat(of_sector, np.searchsorted(sectors, lines))
    line = (words[lines] & (1 << PLACES) - 1) // line_bytes
    return np.column_stack(
        [
            line,
            pcs[words[lines] >> PLACES],
            np.ones(len(lines), np.int64),
            in_sectors,
            np.maximum.reduceat(lanes, lines),
        ]
    )
