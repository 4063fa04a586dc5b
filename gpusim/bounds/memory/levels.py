"""How long each level of memory is busy with what a launch must move, where tags say what hits.

A level counts what no order of warps and no state of the caches can save: a sector that blocks load comes from the L2
once at least, and from the DRAM if the L2 lacks it when the launch begins; what passes the L1 comes each time; stores
leave the SM.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import floor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusim.bounds import pressure
from gpusim.bounds.memory.requests import Requests, requests
from gpusim.bounds.memory.share import Share, buffer_of
from gpusim.bounds.memory.touched import (
    FAR,
    FAR_OF_OTHERS,
    MASK,
    NEAR,
    NEAR_OF_OTHERS,
    NOTHING,
    PCS,
    STORED,
    UPDATED,
    Kinds,
    Touched,
    by_pc,
    firsts,
    joined,
    touched,
)
from gpusim.bounds.pressure import Pressure, Resource, Work
from gpusim.bounds.profiled import Profiled
from gpusim.engines import line_share
from gpusim.sm.memory.cache import declaration as cache
from gpusim.sm.memory.cache.declaration import SHARE_PARTS, tagged
from gpusim.sm.memory.l2_channel.declaration import ANSWERS, LOADS, STORES
from gpusim.sm.memory.l2_share.declaration import PARTS
from isa.dataflow.memory.address_steps import address_steps
from isa.dataflow.memory.order_dependence import varying
from isa.dataflow.memory.pointers import pointed
from isa.kernel import Kernel
from isa.memory import SECTOR_BYTES
from isa.row import Bulk, Unit

DEVICE, TAG_STAGE = "device memory", "L1 tag stage"
CHANNEL, CHANNEL_LOADS, CHANNEL_STORES = "L2 channel", "L2 channel, loads", "L2 channel, stores"
L2_LOADS, L2_STORES, L2_ANSWERS = "L2, loads", "L2, stores", "L2, answers"
THROUGH_L1, PAST_L1 = (NEAR, NEAR_OF_OTHERS), (FAR, FAR_OF_OTHERS)
Numbers = NDArray[np.int64]
Each = list[Numbers]  # of each work, by pc, a number for all its executions
Moved = tuple[Numbers, Each]  # by pc, for distinct sectors of all blocks, and for executions


@dataclass(frozen=True)
class _Levels:
    """A launch's works, the requests of each, the sectors that its blocks touch, and the share that its SMs have.

    `whole`: sectors of blocks that stand for as many as any. `each`, `sharing`: blocks of an SM, and of all that are
    simulated, for each that the works count. `unsure`: instructions that may access what others access.
    """

    works: Sequence[Work]
    requests: Sequence[Mapping[int, Requests]]
    each: Fraction
    sharing: Fraction
    share: Share
    kinds: Kinds
    sectors: Touched
    whole: Touched
    unsure: frozenset[int]

    @property
    def numbers(self) -> Any:
        return self.works[0].numbers

    @property
    def program(self) -> Any:
        return self.works[0].program

    @property
    def kernel(self) -> Kernel:
        return self.works[0].kernel

    @property
    def nothing(self) -> Numbers:
        return np.zeros(len(self.kinds), np.int64)

    def always(self, parts: Callable[[int, Requests], int]) -> Each:
        """Return of each work the parts of all executions of each instruction."""
        found = [self.nothing for _ in self.works]
        for own, asked in zip(found, self.requests, strict=True):
            for pc, one in asked.items():
                own[pc] = parts(pc, one)
        return found


@dataclass(frozen=True)
class Memory:
    """The use of the levels of memory, and by pc the least cycles from service to result of loads that surely miss."""

    resources: Sequence[Resource] = ()
    delays: Mapping[int, int] = field(default_factory=dict)


def of_memory(found: Profiled, share: Share, each: Fraction, limit: int) -> Memory:
    """Return the use of the levels of memory; none of a launch with clusters, or where no tags are kept.

    `each`: the SM's blocks for each that the works count. Raises as `touched` does.
    """
    works, kernel = found.least, share.kernel
    if kernel.cluster_blocks > 1 or not tagged(share.machine):
        return Memory()
    order = varying(kernel, frozenset(found.sources))
    unsure = frozenset(order.counts | order.guards | order.addresses)
    kinds = _kinds(works[0], unsure, share.of_others() | order.apart)
    if not any(kinds):
        return Memory()
    whole, rest = (touched(kernel, some, kinds, share.piece, limit) for some in (share.whole, share.partial))
    asked, sharing = [dict(requests(work)) for work in works], Fraction(len(share.blocks), found.counted)
    levels = _Levels(works, asked, each, sharing, share, kinds, joined([whole, rest]), whole, unsure)
    every = [*_tag_stage(levels), *_channels(levels), *_l2(levels), _device(levels)]
    return Memory([one for one in every if one.pressure.cycles > max(0, one.after)], _delays(levels))


def _kinds(work: Work, unsure: frozenset[int], of_others: frozenset[int]) -> Kinds:
    """Return what each instruction does to sectors of global memory.

    `unsure`: the order of warps decides where, by whom or how often it is executed; `of_others`: before it others may
    load or store what it loads.
    """
    every = range(len(work.certain))
    return tuple(NOTHING if pc in unsure else _kind(work, pc, of_others=pc in of_others) for pc in every)


def _kind(work: Work, pc: int, *, of_others: bool) -> int:
    row, cached = work.kernel.program.instructions[pc].row, int(work.program[pc]["cached"])
    if row.bulk:
        return {Bulk.LOAD: FAR, Bulk.STORE: UPDATED, Bulk.REDUCE: UPDATED}.get(row.bulk, NOTHING)
    if row.unit is not Unit.GLOBAL or not cached:
        return NOTHING
    if row.is_store or row.update is not None:
        return STORED if row.update is None else UPDATED
    return (THROUGH_L1 if cached == 1 + cache.NEAR else PAST_L1)[of_others]


def _of_sm(levels: _Levels, name: str, moved: Moved, after: int = 0) -> Resource:
    """Return a resource of each SM, by 1/64 cycles."""
    (union, always), sms, each = moved, levels.share.sms, levels.each
    parts = union * each.denominator + _summed(levels, always) * (each.numerator * sms)
    return Resource(name, Pressure(parts, Fraction(1, SHARE_PARTS * sms * each.denominator)), after)


def _shared(levels: _Levels, name: str, moved: Moved, after: int = 0) -> Resource:
    """Return a resource that all simulated SMs share, by 1/64 cycles of their shares.

    Blocks that stand for fewer others than the rest take less of it, and count for nothing.
    """
    (union, always), times = moved, levels.sharing
    parts = union * times.denominator + _summed(levels, always) * times.numerator
    for _ in levels.share.partial:
        parts = np.maximum(0, parts - np.max(always, axis=0) * times.denominator)
    return Resource(name, Pressure(parts, Fraction(1, SHARE_PARTS * levels.share.sms * times.denominator)), after)


def _summed(levels: _Levels, always: Each) -> Numbers:
    found: Numbers = np.sum([work.blocks * parts for work, parts in zip(levels.works, always, strict=True)], axis=0)
    return found


def _tag_stage(levels: _Levels) -> Iterator[Resource]:
    """The L1's tag stage, of loads that hit and of stores; the last access may still be there when all is over."""
    numbers, program, code, longest = levels.numbers, levels.program, levels.kernel.program.instructions, [0]

    def parts(pc: int, one: Requests) -> int:
        words = int(program[pc]["words"])
        if levels.kinds[pc] == STORED:
            least = int(numbers.store_cost) + words * int(numbers.store_word_cost)
            found = np.maximum(least, one.sectors * int(numbers.store_sector_cost))
        elif levels.kinds[pc] in THROUGH_L1 and not code[pc].row.copies:
            lookups = -(-one.lines // max(1, int(numbers.near_lines)))
            found = SHARE_PARTS * (lookups if numbers.late_asks else np.maximum(words, lookups))
        else:
            return 0
        longest.append(int(found.max(initial=0)))
        return one.total(found)

    if numbers.tag_stages:
        always = levels.always(parts)
        yield _of_sm(levels, TAG_STAGE, (levels.nothing, always), -(-max(longest) // SHARE_PARTS))


def _channels(levels: _Levels) -> Iterator[Resource]:
    """The SM's channels to the L2, or the one for both ways."""
    numbers = levels.numbers
    if levels.share.machine.l2 is None:
        return
    apart, costs = bool(numbers.ways_apart), numbers.port_cost
    loads = _from_l2(levels, int(costs[LOADS]))
    stores = _to_l2(levels, levels.sectors, int(costs[STORES if apart else LOADS]), int(numbers.store_line_cost))
    if apart:
        yield _of_sm(levels, CHANNEL_LOADS, loads, -_until_loaded(levels))
        yield _of_sm(levels, CHANNEL_STORES, stores)
    else:
        always = [a + b for a, b in zip(loads[1], stores[1], strict=True)]
        yield _of_sm(levels, CHANNEL, (loads[0] + stores[0], always))


def _from_l2(levels: _Levels, cost: int) -> Moved:
    """Return the parts of the channel for sectors that the L1 must get, and for what passes it, each time."""
    program, copied, size = levels.program, int(levels.numbers.copied_line), levels.numbers.line_bytes

    def past(pc: int, one: Requests) -> int:
        if levels.kinds[pc] not in PAST_L1:
            return 0
        return one.total(one.lines * copied if program[pc]["copies"] and copied else one.sectors * cost)

    union = cost * _near(levels)
    if copied and any(kind in THROUGH_L1 and program[pc]["copies"] for pc, kind in enumerate(levels.kinds)):
        union = min(cost, copied) * by_pc(firsts(levels.sectors.near, int(size)), len(levels.kinds))  # of whole lines
    return union, levels.always(past)


def _near(levels: _Levels) -> Numbers:
    """Return by pc the sectors that the L1 must get."""
    l1 = levels.share.machine.l1
    size = l1.sector_bytes if l1 else SECTOR_BYTES
    return by_pc(firsts(levels.sectors.near, size), len(levels.kinds)) * (size // SECTOR_BYTES)


def _to_l2(levels: _Levels, sectors: Touched, cost: int, of_line: int) -> Moved:
    """Return the parts for what stores and atomics send, and for lines of which a store leaves parts of sectors.

    A store to a sector that still waits joins it, if stores have a channel of their own.
    """
    joins = bool(levels.numbers.ways_apart)

    def parts(pc: int, one: Requests) -> int:
        sent = levels.kinds[pc] == UPDATED or (levels.kinds[pc] == STORED and not joins)
        return one.total(one.sectors * (cost * sent) + one.partial * (of_line * (levels.kinds[pc] == STORED)))

    return joins * cost * by_pc(sectors.stored, len(levels.kinds)), levels.always(parts)


def _until_loaded(levels: _Levels) -> int:
    """Return the least cycles from the way of a load's last sector to its result; of copies of the copy engine none.

    A warp does not exit before.
    """
    numbers, code = levels.numbers, levels.kernel.program.instructions
    loads = [pc for pc, kind in enumerate(levels.kinds) if kind in (*THROUGH_L1, *PAST_L1)]
    if any(code[pc].row.bulk for pc in loads):
        return -pressure.still_copied(levels.works[0])
    hits = min((int(numbers.far_latency[levels.program[pc]["far"]]) for pc in loads), default=0)
    return max(0, min(hits - int(numbers.slice_spread), int(numbers.memory_latency)))


def _l2(levels: _Levels) -> Iterator[Resource]:
    """The L2 itself, of which an SM has a share; what a sample of SMs takes of it is left out."""
    share = levels.share
    if share.machine.l2 is None or share.sms not in (1, share.machine.chip.sms):
        return
    differing = line_share.differing_of(levels.kernel, share.machine, share.blocks[0])
    if share.costs[LOADS]:
        yield _shared(levels, L2_LOADS, _asked(levels, differing, share.costs[LOADS]), -_until_loaded(levels))
    if share.costs[ANSWERS] and differing:
        answered = _answered(levels, differing, share.costs[ANSWERS])
        yield _shared(levels, L2_ANSWERS, answered, -_until_loaded(levels))
    if share.costs[STORES]:
        cost = share.costs[STORES]
        yield _shared(
            levels, L2_STORES, _to_l2(levels, levels.whole, cost, cost * bool(levels.numbers.store_line_cost))
        )


def _asked(levels: _Levels, differing: Mapping[int, int], cost: int) -> Moved:
    """Return the parts of the L2 for sectors that it answers, of lines that neighbours share for the SM's part."""
    together = max(1, int(levels.numbers.load_together))

    def past(pc: int, one: Requests) -> int:
        part = differing.get(pc, PARTS)
        found = one.together * cost * part // PARTS - one.lines * (part < PARTS)  # each line's are rounded
        return one.total(np.maximum(found, 0)) if levels.kinds[pc] in PAST_L1 else 0

    near, part = firsts(levels.whole.near, together * SECTOR_BYTES), _least_part(levels, differing)
    once = by_pc(near, len(part)) * (cost * together * part // PARTS)
    return once, _with_copies(levels, levels.always(past), cost, lambda pc: differing.get(pc, PARTS))


def _least_part(levels: _Levels, differing: Mapping[int, int]) -> Numbers:
    """Return by pc of how many of 64 sectors neighbours ask for different ones, at least, of those loaded here, too."""
    loads = [pc for pc, kind in enumerate(levels.kinds) if kind in THROUGH_L1]
    where = {pc: pointed(levels.kernel, pc) for pc in loads}
    found = np.full(len(levels.kinds), PARTS)
    for pc in loads:
        same = [other for other in loads if where[pc] & where[other] or not (where[pc] and where[other])]
        found[pc] = min(differing.get(other, PARTS) for other in same)
    return found


def _answered(levels: _Levels, differing: Mapping[int, int], cost: int) -> Moved:
    """Return the parts of the L2 for what it sends to SMs that ask for the same."""

    def past(pc: int, one: Requests) -> int:
        return one.total(one.sectors * cost) if levels.kinds[pc] in PAST_L1 and pc in differing else 0

    every = all(pc in differing for pc, kind in enumerate(levels.kinds) if kind in THROUGH_L1)
    once = by_pc(levels.whole.near, len(levels.kinds)) * (cost * every)
    return once, _with_copies(levels, levels.always(past), cost, lambda pc: PARTS * (pc in differing))


def _with_copies(levels: _Levels, always: Each, cost: int, part: Callable[[int], int]) -> Each:
    """Return the same with what the copy engine asks for: each line's sectors are rounded."""
    line = int(levels.numbers.line_bytes)
    for work, parts in zip(levels.works, always, strict=True):
        for pc, i in enumerate(levels.kernel.program.instructions):
            if i.row.bulk is Bulk.LOAD:
                size, pieces = (int(each) for each in work.profile.copied[:, pc])
                parts[pc] += max(0, size // SECTOR_BYTES * cost * part(pc) // PARTS - (size // line + 2 * pieces))
    return always


def _device(levels: _Levels) -> Resource:
    """The DRAM: sectors that the L2 lacks, and stored ones that go on; without an L2 all that leaves the L1."""
    numbers, times = levels.numbers, levels.sharing
    if levels.share.machine.l2:
        read, written = _read(levels), _passed_on(levels)
        parts, cycle = written * int(numbers.written_cost), Fraction(1, int(numbers.channel_parts))
        copied = any(i.row.bulk for i in levels.kernel.program.instructions)
        behind = min(0, floor(parts.sum() * cycle) - int(numbers.memory_latency)) if read.any() and not copied else 0
        return Resource(DEVICE, Pressure(parts + read * int(numbers.line_cost), cycle), behind)
    always = levels.always(lambda pc, one: one.total(one.sectors) if levels.kinds[pc] in (*PAST_L1, STORED) else 0)
    parts = int(numbers.line_cost) * (_near(levels) * times.denominator + _summed(levels, always) * times.numerator)
    return Resource(DEVICE, Pressure(parts, Fraction(1, int(numbers.channel_parts) * times.denominator)))


def _read(levels: _Levels) -> Numbers:
    """Return by pc the sectors that the SMs must bring from the DRAM: of each buffer their part at most."""
    share, kernel, sectors, size = levels.share, levels.kernel, levels.sectors, len(levels.kinds)
    keys, found = sectors.read[share.missing(sectors.read >> PCS)], levels.nothing
    assert share.machine.l2
    together = share.machine.l2.sector_bytes // SECTOR_BYTES
    keys = firsts(keys, share.machine.l2.sector_bytes)
    pieces = (keys >> PCS) // together
    stored = np.searchsorted(sectors.others // together, [pieces, pieces + 1])
    brought, where = together - (stored[1] - stored[0]), buffer_of(kernel, keys >> PCS)
    for number, buffer in enumerate(kernel.buffers):
        own = (where == number) & (buffer.name not in _clouded(levels))
        by = np.bincount(keys[own] & MASK, brought[own], size).astype(np.int64)
        found += by * min(share.part(buffer.nbytes), int(by.sum())) // max(1, int(by.sum()))
    return found


def _clouded(levels: _Levels) -> frozenset[str]:
    """Return the buffers that stores and atomics may write of which it is not known where, and so perhaps first."""
    code, every = levels.kernel.program.instructions, frozenset(buffer.name for buffer in levels.kernel.buffers)
    unsure = levels.unsure | set(levels.sectors.elsewhere.tolist())
    writes = [pc for pc in unsure if code[pc].row.is_store or code[pc].row.update is not None]
    some = [pointed(levels.kernel, pc) for pc in writes if code[pc].row.unit is Unit.GLOBAL]
    return frozenset[str]().union(*(names or every for names in some))


def _passed_on(levels: _Levels) -> Numbers:
    """Return by pc the sectors that stores send on to the DRAM, as the L2 does not keep them."""
    sectors = levels.sectors
    keys = sectors.stored[levels.share.lost(sectors.stored >> PCS)] if levels.share.passes_on else sectors.stored[:0]
    return by_pc(keys[~np.isin(keys >> PCS, sectors.updated)], len(levels.kinds))


def _delays(levels: _Levels) -> Mapping[int, int]:
    """Return by pc the least cycles from the service of a load to its result, where each is new to the SM's caches.

    It has the latency of the L2, or of the DRAM if the SM brings it, or waits for those that bring it now.
    """
    numbers, own, program = levels.numbers, levels.sectors.own, levels.program
    if any(levels.kernel.program.instructions[pc].row.unit is Unit.GLOBAL for pc in levels.unsure):
        return {}
    shared = np.isin((own >> PCS) // levels.share.piece, levels.sectors.common)
    new = np.setdiff1d(own & MASK, np.append(levels.sectors.again, own[shared] & MASK)).tolist()
    brought = np.isin(own >> PCS, levels.sectors.read >> PCS) & levels.share.missing(own >> PCS)
    alone = levels.share.sharers <= 1
    far = set(address_steps(levels.kernel) if not alone else new) - set((own[~brought] & MASK).tolist())
    hit = {pc: int(numbers.far_latency[program[pc]["far"]] - numbers.slice_spread) for pc in new}
    return {pc: int(numbers.memory_latency) if pc in far else min(hit[pc], int(numbers.memory_latency)) for pc in new}
