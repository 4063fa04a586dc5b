"""Profiled blocks: those that stand for all blocks of an SM or chip, and the work that each has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from math import gcd
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusim.bounds.block_classes import Classes, classes, standing
from gpusim.bounds.chain.access_cost import AccessCost, Seen, costs
from gpusim.bounds.chain.any_order import least, order_of
from gpusim.bounds.placement import Placement, moved, placements
from gpusim.bounds.pressure import Work
from gpusim.engines.walks.counting.block_counts import COUNTED, FAULTY, KINDS, Limited, counted, counter
from gpusim.engines.walks.profile import Profile, first_profile, profile_of
from gpusim.engines.walks.program_order import Walker, walker
from gpusim.launch.feed import countable, recordable
from gpusim.launch.ground import Ground, ground
from gpusim.launch.launch import share_channel
from gpusim.machine.machine import Machine
from gpusim.sm.memory.what_if import may_part, packs
from isa.dataflow.block_step import block_steps, texture_steps
from isa.errors import UserError
from isa.kernel import Kernel
from isa.operands.operand import PT
from isa.support.once import once

ALL_PROFILED = 3  # blocks of an SM up to which all are profiled; of more, some that may differ, if alike
MOST_LOOKED_AT = 1 << 16  # blocks of a row of the grid, to find one at its end
ALL_FETCHING = 8  # the same, where blocks fetch textures at different places
Costs = Mapping[int, AccessCost]  # by pc


class Profiled(NamedTuple):
    """The works that stand for all blocks, each for its share of them; how many blocks were profiled; if all are alike.

    Blocks are alike if they execute the same instructions equally often. `works` are those of program order; `least`
    has what they come to in every order, equal ones together, and `sources` the pcs whose results the order decides,
    if there are any.
    """

    works: list[Work]
    least: list[Work]
    blocks: int
    alike: bool
    sources: tuple[int, ...] = ()

    @property
    def counted(self) -> int:
        """Blocks that the works stand for, relative to each other; that of a cluster is all its blocks'."""
        return sum(work.blocks for work in self.works) * self.works[0].kernel.cluster_blocks

    @property
    def equal(self) -> bool:
        """Whether all blocks have the same work."""
        first = self.least[0]
        counts = all(same(work.profile, first.profile) for work in self.least)
        return self.alike and counts and all(work.costs == first.costs for work in self.least)


def profiled(kernel: Kernel, machine: Machine, ids: range, sms: int, limit: int) -> Profiled:
    """Return the profiled blocks of those with these ids, which run on so many SMs that share a channel.

    Raises UserError where kernel and machine don't fit, LimitError beyond `limit` warp instructions in a block.
    """
    base = ground(kernel, machine)
    share_channel(base.numbers, sms)
    seen: Seen = {}

    def work(executed: Profile, given: Costs, blocks: int = 1) -> Work:
        certain = _certain(kernel, executed, given)
        if packs(machine) and may_part(kernel):
            stays = base.rows["passable"][:-1] == 0
            executed, certain = replace(executed, counts=executed.counts * stays), certain * stays
        return Work(kernel, machine, base.numbers, base.resident, base.rows, executed, certain, given, blocks)

    def cost(executed: Profile) -> Costs:
        return costs(base.numbers, base.rows, executed, seen)

    @cache
    def walking() -> Walker:
        return walker(kernel, addresses=True, machine=machine)

    @cache
    def of(block: int) -> Work:
        executed = profile_of(walking(), block, limit) if block else first_profile(kernel, limit, machine)
        return work(executed, cost(executed))

    def in_any_order(found: list[Work], alike: bool) -> Profiled:
        waits = kernel.cluster_blocks == 1 and not (machine.what_if and machine.what_if.barriers == "pass")
        order = order_of(kernel, ids if waits else None, int(found[0].profile.counts.sum()))
        if order is None:
            return Profiled(found, _differing(found), len(found), alike)
        each = [(least(kernel, order, one.profile), one.blocks) for one in _differing(found)]
        always = [work(executed, cost(executed), blocks) for executed, blocks in each]
        return Profiled(found, always, len(found), alike, tuple(sorted(order.sources)))

    if found := _places(kernel, machine, base, ids):
        first = first_profile(kernel, limit, machine)
        placed = [work(first, *each) for each in _placed(first, cost, found)]
        return Profiled(placed, placed, 1, alike=True)
    few = [of(block) for block in _looked_at(kernel, base, ids, known=recordable(kernel))]
    alike = all(same(few[0].profile, other.profile) for other in few)
    if not alike and len(few) < len(ids):
        few = _standing(of, classes(kernel, ids, limit, machine), ids)
    return in_any_order(few, alike)


def are_alike(kernel: Kernel, machine: Machine, ids: range, limit: int) -> bool:
    """Return whether blocks with these ids are `alike`, as `profiled` says, without the costs of any; raises as it.

    Where memory decides what blocks execute, some are taken for all, too: blocks that differ do so nearly everywhere.
    """
    base = ground(kernel, machine)
    if _places(kernel, machine, base, ids):
        return True
    count = counter(kernel, machine)
    kinds = np.unique(counted(count, _looked_at(kernel, base, ids, known=True), limit).of)
    if kinds[0] == FAULTY or kinds[-1] == KINDS:
        return False
    warps, _, *copies = count.kinds[kinds].reshape(len(kinds), COUNTED, -1).swapaxes(0, 1)
    return all(bool((one == one[0]).all()) for one in (warps, *copies))


def _places(kernel: Kernel, machine: Machine, base: Ground, ids: range) -> list[tuple[Placement, int]] | None:
    """Return where blocks' accesses begin, and how many begin so, if blocks differ in nothing else; else None."""
    steps = block_steps(kernel)
    if (base.rows["bulk"] > 0).any() or kernel.cluster_blocks > 1:
        steps = None  # where copies lie, and who a block's neighbours are, is not followed
    if steps is None or _fetches_move(kernel, base):
        return None
    return placements(kernel, steps, machine.global_memory.line_bytes, ids)


def _fetches_move(kernel: Kernel, base: Ground) -> bool:
    return bool(base.numbers.fetch_cost) and texture_steps(kernel) != {}


def _looked_at(kernel: Kernel, base: Ground, ids: range, *, known: bool) -> Sequence[int]:
    """Return the blocks that show whether all are alike: of many whose work is `known`, those that may differ."""
    most = ALL_FETCHING if _fetches_move(kernel, base) else ALL_PROFILED
    return ids if len(ids) <= most or not known else _probes(kernel, ids)


def _differing(works: Sequence[Work]) -> list[Work]:
    """Return works that differ in what a limit depends on, each for the blocks of all that are equal to it."""
    alike: dict[Hashable, list[Work]] = {}
    for work in works:
        counts = work.profile.counts, work.profile.active, work.profile.copied
        alike.setdefault((*(one.tobytes() for one in counts), frozenset(work.costs.items())), []).append(work)
    return [replace(equal[0], blocks=sum(work.blocks for work in equal)) for equal in alike.values()]


def same(one: Profile, other: Profile) -> bool:
    """Tell whether blocks execute the same instructions equally often, and copy as many bytes."""
    return np.array_equal(one.counts, other.counts) and np.array_equal(one.copied, other.copied)


def holds(kernel: Kernel, machine: Machine, budget: int, limit: int) -> int | None:
    """Return how many blocks so many warp instructions hold, one at least, if all are as the first.

    The kernel is as it is on the machine's chip; so the run takes its decoded program from here. None where
    what a block executes depends on what memory holds, and where it can't be run, or not within `limit`.
    """
    try:
        work = _of_first(kernel, Limited(limit, machine)) if countable(kernel) else 0
    except UserError:
        return None
    return max(1, budget // work) if work else None


@once
def _of_first(kernel: Kernel, walk: Limited) -> int:
    """Return the warp instructions of the first block, 0 of one that can't be run; raises as `counted`."""
    return int(counted(counter(kernel, walk.where), [0], walk.limit).work[0])


def _probes(kernel: Kernel, ids: range) -> list[int]:
    """Return the first, middle and last block, one as far to the right as any, and one at the end of the first layer.

    Blocks at a border may do less. The last block is at the end of the last axis.
    """
    (x, y, z), found = kernel.grid, [ids[0], ids[len(ids) // 2], ids[-1]]
    if y * z > 1:
        found.append(max(ids[: min(x // gcd(x, ids.step), MOST_LOOKED_AT)], key=lambda block: block % x))
    if z > 1:
        found += range(ids.start, min(x * y, ids.stop), ids.step)[-1:]
    return list(dict.fromkeys(found))


def _standing(of: Callable[[int], Work], known: Classes | None, ids: range) -> list[Work]:
    """Return the works of blocks that stand for those of their class; of all blocks where no classes are known."""
    if known is None:
        return [of(block) for block in ids]
    chosen = [standing(places.tolist(), len(places) * ALL_PROFILED // len(ids) + 1) for places in known.members()]
    return [replace(of(ids[place]), blocks=blocks) for each in chosen for place, blocks in each.items()]


def _placed(
    first: Profile, cost: Callable[[Profile], Costs], found: Sequence[tuple[Placement, int]]
) -> list[tuple[Costs, int]]:
    """Return the distinct costs of blocks at these placements, and how many blocks have each."""
    own = cost(first)

    @cache
    def at(pc: int, by: int) -> AccessCost:
        return cost(moved(first, pc, by))[pc] if by else own[pc]

    counts: Counter[tuple[tuple[int, AccessCost], ...]] = Counter()
    for placement, blocks in found:
        counts[tuple((pc, at(pc, by)) for pc, by in placement.items() if pc in own)] += blocks
    return [({**own, **dict(differing)}, blocks) for differing, blocks in counts.items()]


def _certain(kernel: Kernel, executed: Profile, given: Costs) -> NDArray[np.int64]:
    """Return the warp instructions, by pc, that surely had an active lane: all, or the fewest that hold the lanes."""
    certain = np.where(_unguarded(kernel), executed.counts, -(-executed.active // kernel.warp_size))
    for pc, cost in given.items():
        certain[pc] = cost.executions
    return certain


@once
def _unguarded(kernel: Kernel) -> NDArray[np.bool_]:
    return np.array([i.guard == PT for i in kernel.program.instructions])
