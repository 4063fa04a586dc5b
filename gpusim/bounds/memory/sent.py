"""Stores that surely move, as no order of warps lets them join others that still wait.

The last lines stored to wait, so many of them, each until that many other lines have come. So a store joins none if as
many requests that join none lie between it and any other store to its line: what follows the line in one of these
instructions, and precedes it in another.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusim.bounds.memory.touched import ROWS, Numbers
from gpusim.engines.walks.program_order import Rows, lanes_of, run_block, walker
from gpusim.sm.unit.capacities import LANES
from gpusim.sm.walk.access_log import FIRST, PC
from isa.executing.places import lanes_in
from isa.kernel import Kernel
from isa.memory import SECTOR_BYTES
from isa.row import Unit
from isa.support.once import once

PLACES = 32  # bits of an address
PLACE = (1 << PLACES) - 1
Blocks = tuple[int, ...]


class Sent(NamedTuple):
    """What surely moves, of two groups of blocks: sectors, and lines of which stores leave parts of sectors, by pc.

    `lines`: those to which all stores move, in ascending order.
    """

    sectors: Numbers
    partial: Numbers
    lines: Numbers


class _Requests(NamedTuple):
    """Requests of stores in their order: who makes them, for which line, how many sectors, whether it leaves parts."""

    access: Numbers
    pc: Numbers
    line: Numbers
    sectors: Numbers
    partial: Numbers


_NONE = _Requests(*5 * [np.zeros(0, np.int64)])


@once
def sent(
    kernel: Kernel, groups: tuple[Blocks, Blocks], pcs: frozenset[int], waiting: int, line_bytes: int, limit: int
) -> tuple[Sent, Sent]:
    """Return what the stores with these pcs, all of the program, surely move if so many lines wait to be joined.

    First what the first group of blocks moves, then what both do. None is sure where these have too many accesses.
    Raises as a walk in program order does; LimitError beyond `limit` warp instructions in a block.
    """
    one, found, seen, ends = walker(kernel, addresses=True), [_NONE], [0], [0]

    def tell(rows: Rows) -> None:
        for pc in pcs.intersection(rows[:, PC].tolist()):
            own = np.flatnonzero(rows[:, PC] == pc)
            found.append(_requests(kernel, pc, rows[own], seen[0] + own, line_bytes))
        seen[0] += len(rows)

    for blocks in groups:
        for block in blocks:
            if seen[0] <= ROWS:
                one.again()
                run_block(one, block, limit, tell)
        ends.append(sum(len(each.pc) for each in found))
    every = _Requests(*map(np.concatenate, zip(*found, strict=True)))
    alone = _alone(every, waiting) if seen[0] <= ROWS else np.zeros(len(every.pc), np.bool_)
    return _summed(kernel, every, alone, ends[1]), _summed(kernel, every, alone, ends[2])


def _summed(kernel: Kernel, every: _Requests, alone: NDArray[np.bool_], end: int) -> Sent:
    """Return what the first requests move, up to `end`, that join none."""
    own = np.flatnonzero(alone[:end])
    sectors, partial = (
        np.bincount(every.pc[own], each[own], len(kernel.program)) for each in (every.sectors, every.partial)
    )
    return Sent(sectors.astype(np.int64), partial.astype(np.int64), np.unique(every.line[alone]))


def _requests(kernel: Kernel, pc: int, rows: Rows, numbers: Numbers, line_bytes: int) -> _Requests:
    """Return the requests of some executions of a store: for each group of lanes its lines, in the order of lanes.

    `numbers` are those of the accesses.
    """
    row, places, active = kernel.program.instructions[pc].row, rows[:, FIRST:].astype(np.int64), lanes_of(rows)
    if row.generic:
        active &= lanes_in(Unit.GLOBAL, rows[:, FIRST:])
    at, lane = np.nonzero(active)
    place, access = places[at, lane], 2 * at + lane // LANES
    group = (access * LANES + lane % LANES // (LANES // row.source.words)) << PLACES
    keys, first = np.unique(group | place // line_bytes, return_index=True)
    sectors = np.unique(group | place // SECTOR_BYTES)
    lines = sectors >> PLACES << PLACES | (sectors & PLACE) // (line_bytes // SECTOR_BYTES)
    counts = np.bincount(np.searchsorted(keys, lines), minlength=len(keys))
    moved = np.bincount(access[first], counts, 2 * len(rows)) * SECTOR_BYTES
    written = np.bincount(np.unique(access << PLACES | place // row.nbytes) >> PLACES, minlength=2 * len(rows))
    order = np.argsort(first)
    who = access[first][order]
    partial = (moved > written * row.nbytes)[who]
    pcs = np.full(len(keys), pc)
    return _Requests(
        2 * numbers[who // 2] + who % 2, pcs, (keys & PLACE)[order], counts[order], partial.astype(np.int64)
    )


def _alone(every: _Requests, waiting: int) -> NDArray[np.bool_]:
    """Tell of each request whether it joins none: so many others that join none lie before any to its line."""
    if not len(every.line):
        return np.zeros(0, np.bool_)
    order = np.argsort(every.access, kind="stable")
    begins = np.flatnonzero(np.diff(every.access[order], prepend=-1))
    _, line, times = np.unique(every.line[order], return_inverse=True, return_counts=True)
    _, repeated = np.unique(every.access[order] * (len(times) + 1) + line, return_index=True)
    twice = np.setdiff1d(np.arange(len(line)), repeated)  # of one instruction: nothing lies between for sure
    found, kept = np.ones(len(line), np.bool_), -1
    found[np.isin(line, line[twice])] = False
    while kept != (kept := int(found.sum())):
        among = np.cumsum(found)
        earlier: Numbers = (
            among - found - np.repeat(among[begins] - found[begins], np.diff(np.append(begins, len(line))))
        )
        later = np.repeat(np.add.reduceat(found.astype(np.int64), begins), np.diff(np.append(begins, len(line))))
        later = later - earlier - found
        least = [np.full(len(times), np.iinfo(np.int64).max // 2) for _ in range(2)]
        for number, each in zip(least, (earlier, later), strict=True):
            np.minimum.at(number, line, each)
        found &= ((times == 1) | (least[0] + least[1] >= waiting))[line]
    result = np.zeros(len(line), np.bool_)
    result[order] = found
    return result
