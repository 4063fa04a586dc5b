"""The L2, of which each SM has a share: what it answers and is sent, and the slices that do atomics."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from gpusim.bounds.memory.requests import Requests
from gpusim.bounds.memory.sm_side import to_l2
from gpusim.bounds.memory.touched import MASK, UPDATED, Numbers, by_pc, of_lines
from gpusim.bounds.memory.updates import updates
from gpusim.bounds.memory.use import (
    L2_ANSWERS,
    L2_ATOMICS,
    L2_LOADS,
    L2_STORES,
    PAST_L1,
    THROUGH_L1,
    Each,
    Levels,
    Moved,
    shared,
    until_loaded,
)
from gpusim.bounds.pressure import Pressure, Resource
from gpusim.engines import line_share, slice_share
from gpusim.engines.slice_share import slices_of
from gpusim.launch.caches import lockstep
from gpusim.sm.memory.cache.declaration import SHARE_PARTS
from gpusim.sm.memory.l2_atomic.declaration import ALONE
from gpusim.sm.memory.l2_channel.declaration import ANSWERS, LOADS, STORES
from gpusim.sm.memory.l2_share.declaration import PARTS
from isa.dataflow.memory.address_steps import linear_steps
from isa.dataflow.memory.pointers import pointed
from isa.memory import SECTOR_BYTES
from isa.row import Bulk


def l2(levels: Levels) -> Iterator[Resource]:
    """The L2 itself, of which an SM has a share; what a sample of SMs takes of it is left out."""
    share = levels.share
    if share.machine.l2 is None or share.sms not in (1, share.machine.chip.sms):
        return
    differing = line_share.differing_of(levels.kernel, share.machine, share.blocks[0])
    if share.costs[LOADS]:
        yield shared(levels, L2_LOADS, _asked(levels, differing, share.costs[LOADS]), -until_loaded(levels))
    if share.costs[ANSWERS] and differing:
        answered = _answered(levels, differing, share.costs[ANSWERS])
        yield shared(levels, L2_ANSWERS, answered, -until_loaded(levels))
    if share.costs[STORES]:
        cost = share.costs[STORES]
        yield shared(levels, L2_STORES, to_l2(levels, levels.whole, cost, cost * bool(levels.numbers.store_line_cost)))


def _asked(levels: Levels, differing: Mapping[int, int], cost: int) -> Moved:
    """Return the parts of the L2 for sectors that it answers, of lines that neighbours share for the SM's part."""
    least = int(levels.numbers.load_least) * cost // SECTOR_BYTES

    def past(pc: int, one: Requests) -> int:
        part = differing.get(pc, PARTS)
        found = np.maximum(one.sectors * cost, one.lines * least)
        found = found * part // PARTS - one.lines * (part < PARTS)  # each line's are rounded
        return one.total(np.maximum(found, 0)) if levels.kinds[pc] in PAST_L1 else 0

    keys, part = levels.whole.near, _least_part(levels, differing)
    of_each, of_line = (each * part[keys & MASK] // PARTS for each in (cost, least))
    once = of_lines(keys, of_each, of_line, int(levels.numbers.line_bytes) // SECTOR_BYTES, len(part))
    return once, _with_copies(levels, levels.always(past), cost, lambda pc: differing.get(pc, PARTS))


def _least_part(levels: Levels, differing: Mapping[int, int]) -> Numbers:
    """Return by pc of how many of 64 sectors neighbours ask for different ones, at least, of those loaded here, too."""
    loads = [pc for pc, kind in enumerate(levels.kinds) if kind in THROUGH_L1]
    where = {pc: pointed(levels.kernel, pc) for pc in loads}
    found = np.full(len(levels.kinds), PARTS)
    for pc in loads:
        same = [other for other in loads if where[pc] & where[other] or not (where[pc] and where[other])]
        found[pc] = min(differing.get(other, PARTS) for other in same)
    return found


def _answered(levels: Levels, differing: Mapping[int, int], cost: int) -> Moved:
    """Return the parts of the L2 for what it sends to SMs that ask for the same."""

    def past(pc: int, one: Requests) -> int:
        return one.total(one.sectors * cost) if levels.kinds[pc] in PAST_L1 and pc in differing else 0

    every = all(pc in differing for pc, kind in enumerate(levels.kinds) if kind in THROUGH_L1)
    once = by_pc(levels.whole.near, len(levels.kinds)) * (cost * every)
    return once, _with_copies(levels, levels.always(past), cost, lambda pc: PARTS * (pc in differing))


def _with_copies(levels: Levels, always: Each, cost: int, part: Callable[[int], int]) -> Each:
    """Return the same with what the copy engine asks for: each line's sectors are rounded."""
    line = int(levels.numbers.line_bytes)
    for work, parts in zip(levels.works, always, strict=True):
        for pc, i in enumerate(levels.kernel.program.instructions):
            if i.row.bulk is Bulk.LOAD:
                size, pieces = (int(each) for each in work.profile.copied[:, pc])
                parts[pc] += max(0, size // SECTOR_BYTES * cost * part(pc) // PARTS - (size // line + 2 * pieces))
    return always


def slices(levels: Levels, limit: int) -> Iterator[Resource]:
    """The slice of the L2 with most atomics to do, by the address of each."""
    numbers, share, size = levels.numbers, levels.share, len(levels.kinds)
    slices = int(numbers.slices)
    pcs = frozenset(pc for pc, kind in enumerate(levels.kinds) if kind == UPDATED and levels.program[pc]["packets"])
    if not (slices and pcs) or share.sms not in (1, share.machine.chip.sms):
        return
    found = updates(levels.kernel, share.whole, pcs, int(numbers.line_bytes), limit)
    line, pc, requests, sectors, passes = found.T
    least = levels.program["pass_parts"].astype(np.int64)[pc]
    parts = np.maximum(sectors * int(numbers.update_parts), (passes - requests) * least)
    busy = np.maximum(sectors * int(numbers.update_parts), (passes - requests) * np.minimum(least, numbers.pass_parts))
    times, apart = (each[pc] for each in _of_all(levels))
    parts = np.maximum(parts, (np.where(apart, busy, parts) * times).astype(np.int64) - requests)  # each is rounded
    by = np.zeros((slices, size), np.int64)
    np.add.at(by, (slices_of(line // int(numbers.slice_lines), slices), pc), parts)
    yield Resource(L2_ATOMICS, Pressure(by[by.sum(axis=1).argmax()], Fraction(1, SHARE_PARTS)))


def _of_all(levels: Levels) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return by pc the work of a slice for a block's atomic, as multiples of its own: others do theirs then, too.

    And whether these go to lines of their own.
    """
    share, kernel, numbers = levels.share, levels.kernel, levels.numbers
    found, blocks = np.ones(len(levels.kinds)), share.stands
    apart = np.zeros(len(found), np.bool_)
    if share.sharers <= 1:
        return found, apart
    size = int(numbers.slice_lines * numbers.line_bytes)
    place = slice_share.Place(share.blocks[0], share.apart, share.machine.chip.sms, int(numbers.slices), size)
    known = slice_share.slice_shares(kernel, place)
    steps = linear_steps(kernel)
    for pc in range(len(found)):
        near = lockstep.near(steps[pc], kernel.grid, size) if pc in steps else 0
        if pc in known:
            found[pc] = max(1, blocks * known[pc] / (ALONE * share.apart))
        else:
            found[pc] = max(min(blocks, near), blocks / int(numbers.slices)) if near else blocks
            apart[pc] = near > 0
    return found, apart
