"""The L1's tag stage, and the channels between an SM and the L2."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gpusim.bounds.memory import local_stores
from gpusim.bounds.memory.requests import Requests
from gpusim.bounds.memory.sent import Sent, sent
from gpusim.bounds.memory.touched import PCS, STORED, UPDATED, Numbers, Touched, by_pc, firsts, of_lines
from gpusim.bounds.memory.use import (
    CHANNEL,
    CHANNEL_LOADS,
    CHANNEL_STORES,
    PAST_L1,
    TAG_STAGE,
    THROUGH_L1,
    Levels,
    Moved,
    of_sm,
    until_loaded,
)
from gpusim.bounds.pressure import Resource
from gpusim.sm.memory.cache.declaration import SHARE_PARTS
from gpusim.sm.memory.l2_channel.declaration import LOADS, STORES
from isa.memory import SECTOR_BYTES
from isa.row import Unit


def tag_stage(levels: Levels) -> Iterator[Resource]:
    """The L1's tag stage, of loads that hit and of stores; the last access may still be there when all is over."""
    numbers, program, code, longest = levels.numbers, levels.program, levels.kernel.program.instructions, [0]

    def parts(pc: int, one: Requests) -> int:
        words = int(program[pc]["words"])
        if levels.kinds[pc] == STORED:
            least = int(numbers.store_cost) + words * int(numbers.store_word_cost)
            most = words * int(numbers.line_bytes) // SECTOR_BYTES
            found = np.maximum(least, np.minimum(one.sectors, most) * int(numbers.store_sector_cost))
        elif levels.kinds[pc] in THROUGH_L1 and not code[pc].row.copies:
            lookups = -(-one.lines // max(1, int(numbers.near_lines)))
            found = SHARE_PARTS * (lookups if numbers.late_asks else np.maximum(words, lookups))
        else:
            return 0
        longest.append(int(found.max(initial=0)))
        return one.total(found)

    if numbers.tag_stages:
        always = levels.always(parts)
        yield of_sm(levels, TAG_STAGE, (levels.nothing, always), -(-max(longest) // SHARE_PARTS))


def channels(levels: Levels) -> Iterator[Resource]:
    """The SM's channels to the L2, or the one for both ways."""
    numbers = levels.numbers
    if levels.share.machine.l2 is None:
        return
    apart, costs = bool(numbers.ways_apart), numbers.port_cost
    loads = _from_l2(levels, int(costs[LOADS]))
    stores = to_l2(levels, levels.sectors, int(costs[STORES if apart else LOADS]), int(numbers.store_line_cost))
    if apart:
        yield of_sm(levels, CHANNEL_LOADS, loads, -until_loaded(levels))
        yield of_sm(levels, CHANNEL_STORES, stores)
    else:
        always = [a + b for a, b in zip(loads[1], stores[1], strict=True)]
        yield of_sm(levels, CHANNEL, (loads[0] + stores[0], always))


def _from_l2(levels: Levels, cost: int) -> Moved:
    """Return the parts of the channel for sectors that the L1 must get, and for what passes it, each time."""
    program, copied, size = levels.program, int(levels.numbers.copied_line), levels.numbers.line_bytes

    def past(pc: int, one: Requests) -> int:
        if levels.kinds[pc] not in PAST_L1:
            return 0
        if program[pc]["copies"] and copied:
            return one.total(one.lines * copied)
        return one.total(np.maximum(one.sectors * cost, one.lines * int(levels.numbers.load_line_cost)))

    keys, least = levels.sectors.near, np.full(len(levels.sectors.near), int(levels.numbers.load_line_cost))
    lines = of_lines(keys, np.full(len(keys), cost), least, int(size) // SECTOR_BYTES, len(levels.kinds))
    union = np.maximum(lines, cost * near(levels))
    if copied and any(kind in THROUGH_L1 and program[pc]["copies"] for pc, kind in enumerate(levels.kinds)):
        union = min(cost, copied) * by_pc(firsts(levels.sectors.near, int(size)), len(levels.kinds))  # of whole lines
    return union, levels.always(past)


def near(levels: Levels) -> Numbers:
    """Return by pc the sectors that the L1 must get."""
    l1 = levels.share.machine.l1
    size = l1.sector_bytes if l1 else SECTOR_BYTES
    return by_pc(firsts(levels.sectors.near, size), len(levels.kinds)) * (size // SECTOR_BYTES)


def to_l2(levels: Levels, sectors: Touched, cost: int, of_line: int) -> Moved:
    """Return the parts for what stores and atomics send, and for lines of which a store leaves parts of sectors.

    Where lines wait for further stores, one to a sector that waits joins it; what surely does not counts each time.
    """
    joins, size = bool(levels.numbers.store_lines), len(levels.kinds)

    def parts(pc: int, one: Requests) -> int:
        alone = levels.kinds[pc] == STORED and not joins
        sent = levels.kinds[pc] == UPDATED or alone
        return one.total(one.sectors * (cost * sent) + one.partial * (of_line * alone))

    local = cost * _local(levels, of_all=sectors is levels.sectors)
    if not joins:
        return local, levels.always(parts)
    alone = _alone(levels)[sectors is levels.sectors]
    lines = (sectors.stored >> PCS) // (int(levels.numbers.line_bytes) // SECTOR_BYTES)
    others = by_pc(sectors.stored[~np.isin(lines, alone.lines)], size)
    return local + cost * (others + alone.sectors) + of_line * alone.partial, levels.always(parts)


def _local(levels: Levels, *, of_all: bool) -> Numbers:
    """Return by pc the sectors of local memory that all blocks, or those that stand for as many as any, send."""
    share, waiting = levels.share, int(levels.numbers.store_lines)
    blocks = share.whole + share.partial * of_all
    some = levels.local if blocks else frozenset[int]()
    return local_stores.sent(levels.kernel, blocks, share.sms, some, waiting, levels.limit) if some else levels.nothing


def _alone(levels: Levels) -> tuple[Sent, Sent]:
    """Return the stores that surely join none, of whole blocks and of all; none if others may store anywhere."""
    code, share = levels.kernel.program.instructions, levels.share
    stores = frozenset(pc for pc, kind in enumerate(levels.kinds) if kind == STORED)
    others = [pc for pc, i in enumerate(code) if i.row.unit is Unit.GLOBAL and i.row.is_store and pc not in stores]
    groups = ((), ()) if others or any(i.row.bulk for i in code) else (share.whole, share.partial)
    numbers = levels.numbers
    return sent(levels.kernel, groups, stores, int(numbers.store_lines), int(numbers.line_bytes), levels.limit)
