"""The use of a level of memory by a launch: what its sectors and its accesses take, by instruction."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from gpusim.bounds import pressure
from gpusim.bounds.memory.requests import Requests
from gpusim.bounds.memory.share import Share
from gpusim.bounds.memory.touched import FAR, FAR_OF_OTHERS, NEAR, NEAR_OF_OTHERS, Kinds, Numbers, Touched
from gpusim.bounds.pressure import Pressure, Resource, Work
from gpusim.sm.memory.cache.declaration import SHARE_PARTS
from isa.kernel import Kernel

DEVICE, TAG_STAGE = "device memory", "L1 tag stage"
CHANNEL, CHANNEL_LOADS, CHANNEL_STORES = "L2 channel", "L2 channel, loads", "L2 channel, stores"
L2_LOADS, L2_STORES, L2_ANSWERS, L2_ATOMICS = "L2, loads", "L2, stores", "L2, answers", "L2, atomics"
LEVELS = frozenset(
    {DEVICE, TAG_STAGE, CHANNEL, CHANNEL_LOADS, CHANNEL_STORES, L2_LOADS, L2_STORES, L2_ANSWERS, L2_ATOMICS}
)
THROUGH_L1, PAST_L1 = (NEAR, NEAR_OF_OTHERS), (FAR, FAR_OF_OTHERS)
Each = list[Numbers]  # of each work, by pc, a number for all its executions
Moved = tuple[Numbers, Each]  # by pc, for distinct sectors of all blocks, and for executions


@dataclass(frozen=True)
class Levels:
    """A launch's works, the requests of each, the sectors that its blocks touch, and the share that its SMs have.

    `whole`: sectors of blocks that stand for as many as any. `each`, `sharing`: blocks of an SM, and of all that are
    simulated, for each that the works count. `local`: stores to local memory that go to the L2. `unsure`:
    instructions that may access what others access. `limit`: most warp instructions of a block that is run.
    """

    works: Sequence[Work]
    requests: Sequence[Mapping[int, Requests]]
    each: Fraction
    sharing: Fraction
    share: Share
    kinds: Kinds
    sectors: Touched
    whole: Touched
    local: frozenset[int]
    unsure: frozenset[int]
    limit: int

    @property
    def numbers(self) -> Any:
        """The machine's numbers."""
        return self.works[0].numbers

    @property
    def program(self) -> Any:
        """The program's rows."""
        return self.works[0].program

    @property
    def kernel(self) -> Kernel:
        """The launch."""
        return self.works[0].kernel

    @property
    def nothing(self) -> Numbers:
        """Nothing, by pc."""
        return np.zeros(len(self.kinds), np.int64)

    def always(self, parts: Callable[[int, Requests], int]) -> Each:
        """Return of each work the parts of all executions of each instruction."""
        found = [self.nothing for _ in self.works]
        for own, asked in zip(found, self.requests, strict=True):
            for pc, one in asked.items():
                own[pc] = parts(pc, one)
        return found


def of_sm(levels: Levels, name: str, moved: Moved, after: int = 0) -> Resource:
    """Return a resource of each SM, by 1/64 cycles."""
    (union, always), sms, each = moved, levels.share.sms, levels.each
    parts = union * each.denominator + summed(levels, always) * (each.numerator * sms)
    return Resource(name, Pressure(parts, Fraction(1, SHARE_PARTS * sms * each.denominator)), after)


def shared(levels: Levels, name: str, moved: Moved, after: int = 0) -> Resource:
    """Return a resource that all simulated SMs share, by 1/64 cycles of their shares.

    Blocks that stand for fewer others than the rest take less of it, and count for nothing.
    """
    (union, always), times = moved, levels.sharing
    parts = union * times.denominator + summed(levels, always) * times.numerator
    for _ in levels.share.partial:
        parts = np.maximum(0, parts - np.max(always, axis=0) * times.denominator)
    return Resource(name, Pressure(parts, Fraction(1, SHARE_PARTS * levels.share.sms * times.denominator)), after)


def summed(levels: Levels, always: Each) -> Numbers:
    """Return by pc the sum of what each work's executions take, for as many blocks as the works count."""
    found: Numbers = np.sum([work.blocks * parts for work, parts in zip(levels.works, always, strict=True)], axis=0)
    return found


def until_loaded(levels: Levels) -> int:
    """Return the least cycles from the way of a load's last sector to its result; of copies of the copy engine none.

    A warp does not exit before.
    """
    numbers, code = levels.numbers, levels.kernel.program.instructions
    loads = [pc for pc, kind in enumerate(levels.kinds) if kind in (*THROUGH_L1, *PAST_L1)]
    if any(code[pc].row.bulk for pc in loads):
        return -pressure.still_copied(levels.works[0])
    hits = min((int(numbers.far_latency[levels.program[pc]["far"]]) for pc in loads), default=0)
    return max(0, min(hits - int(numbers.slice_spread), int(numbers.memory_latency)))
