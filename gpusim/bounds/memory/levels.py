"""How long each level of memory is busy with what a launch must move, where tags say what hits.

A level counts what no order of warps and no state of the caches can save: a sector that blocks load comes from the L2
once at least, and from the DRAM if the L2 lacks it when the launch begins; what passes the L1 comes each time; stores
leave the SM.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from gpusim.bounds.memory.dram import delays, device
from gpusim.bounds.memory.l2_side import l2, slices
from gpusim.bounds.memory.requests import requests
from gpusim.bounds.memory.share import Share
from gpusim.bounds.memory.sm_side import channels, tag_stage
from gpusim.bounds.memory.touched import (
    FAR,
    NOTHING,
    STORED,
    UPDATED,
    Kinds,
    joined,
    touched,
)
from gpusim.bounds.memory.use import PAST_L1, THROUGH_L1, Levels
from gpusim.bounds.pressure import Resource, Work
from gpusim.bounds.profiled import Profiled
from gpusim.sm.memory.cache import declaration as cache
from gpusim.sm.memory.cache.declaration import tagged
from gpusim.sm.memory.what_if import lifts_memory
from isa.dataflow.memory.order_dependence import varying
from isa.row import Bulk, Unit


@dataclass(frozen=True)
class Memory:
    """The use of the levels of memory, and by pc the least cycles from service to result of loads that surely miss."""

    resources: Sequence[Resource] = ()
    delays: Mapping[int, int] = field(default_factory=dict)


def of_memory(found: Profiled, share: Share, each: Fraction, limit: int) -> Memory:
    """Return the use of the levels of memory; none of a launch with clusters, without tags, or with limits lifted.

    `each`: the SM's blocks for each that the works count. Raises as `touched` does.
    """
    works, kernel = found.least, share.kernel
    if kernel.cluster_blocks > 1 or not tagged(share.machine) or lifts_memory(share.machine):
        return Memory()
    order = varying(kernel, frozenset(found.sources))
    unsure = frozenset(order.counts | order.guards | order.addresses)
    kinds = _kinds(works[0], unsure, share.of_others() | order.apart)
    local = _local_stores(works[0], unsure)
    if not any(kinds) and not local:
        return Memory()
    whole, rest = touched(kernel, (share.whole, share.partial), kinds, share.piece, limit)
    asked, sharing = [dict(requests(work)) for work in works], Fraction(len(share.blocks), found.counted)
    levels = Levels(works, asked, each, sharing, share, kinds, joined([whole, rest]), whole, local, unsure, limit)
    every = [*tag_stage(levels), *channels(levels), *l2(levels), *slices(levels, limit), device(levels)]
    return Memory([one for one in every if one.pressure.cycles > max(0, one.after)], delays(levels))


def _local_stores(work: Work, unsure: frozenset[int]) -> frozenset[int]:
    """Return the stores to local memory that go to the L2, each time they are executed."""
    code = work.kernel.program.instructions
    stores = (pc for pc, i in enumerate(code) if i.row.unit is Unit.LOCAL and i.row.is_store and pc not in unsure)
    return frozenset(pc for pc in stores if work.program[pc]["cached"] and work.numbers.keeps_stores != cache.BACK)


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
