"""Profile a block: how often each instruction executes, and its access patterns, without any machine's number.

Only the part of the program that determines addresses is computed, so a block takes milliseconds.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpusim.engines.walks.counting.block_counts import Limited
from gpusim.engines.walks.program_order import Walker, bits, block_alone, lanes_of, walker
from gpusim.machine.machine import Machine
from gpusim.sm.unit.capacities import GROUPS
from gpusim.sm.walk.access_log import ACTIVE, FIRST, PC, RELEASE, WARP
from gpusim.support.stages import stage
from isa.executing.faults import LIMIT
from isa.kernel import Kernel
from isa.memory import PLACE_BYTES
from isa.operands.windows import SHARED_PLACE
from isa.support import frozen
from isa.support.once import once

ODD = np.uint64(0x9E3779B97F4A7C15)  # of a hash: the golden ratio in 64 bits
NOWHERE = np.uint32(0xFFFFFFFF)
HEAD = 2 + GROUPS  # words of a pattern before its addresses: the instruction, nothing, the active lanes


@frozen.comparable
@dataclass(frozen=True)
class Pattern:
    """One warp's access: byte addresses less the lowest active one rounded down to a line; 0 where inactive.

    Of generic addresses, those in shared or local memory are places (isa.operands.windows).
    """

    addresses: NDArray[np.uint32]  # [lane]
    active: NDArray[np.bool_]  # [lane]
    count: int  # warp instructions with this pattern


@frozen.comparable
@dataclass(frozen=True)
class Profile:
    """One block's execution: `accesses[pc]` lists the distinct patterns of each memory instruction that executed.

    Accesses without an active lane are left out.
    """

    counts: NDArray[np.int64]  # [pc] warp instructions
    active: NDArray[np.int64]  # [pc] thread instructions whose guard was true
    copied: NDArray[np.int64]  # [2, pc] bytes and pieces that the copy engine has asked for, or sent
    accesses: Mapping[int, tuple[Pattern, ...]]


def profile(kernel: Kernel, block: int = 0, *, limit: int = LIMIT, machine: Machine | None = None) -> Profile:
    """Return the counts and access patterns of one block, run alone; `machine` as in program_order.walker.

    Raises what program_order.walk raises, for the addresses and branches of that block; LimitError beyond `limit` warp
    instructions.
    """
    return profile_of(walker(kernel, addresses=True, machine=machine), block, limit)


def profile_of(one: Walker, block: int, limit: int) -> Profile:
    """Return the same of a launch whose blocks are run one by one."""
    tally: Counter[bytes] = Counter()
    counts = block_alone(one, block, limit, lambda rows: _count(tally, rows))
    return Profile(*counts, _patterns(tally))


@stage("profile")
def first_profile(kernel: Kernel, limit: int, machine: Machine | None = None) -> Profile:
    """Return the profile of a kernel's first block, which the bound and the choice of blocks with values take.

    Raises LimitError beyond `limit` warp instructions, also where a larger limit has let it through before.
    """
    found = _first(kernel, Limited(limit, machine))
    return found if found.counts.sum() <= limit else profile(kernel, limit=limit)


@once
def _first(kernel: Kernel, walk: Limited) -> Profile:
    return profile(kernel, limit=walk.limit, machine=walk.where)


def _count(tally: Counter[bytes], rows: NDArray[np.uint32]) -> None:
    """Add the patterns of some accesses: each the instruction, its active lanes, and their relative addresses."""
    rows = rows[(rows[:, PC] != RELEASE) & rows[:, ACTIVE:FIRST].any(axis=1)]
    head, addresses = rows[:, [PC, WARP, *range(ACTIVE, FIRST)]], rows[:, FIRST:]
    head[:, 1] = 0
    active = lanes_of(rows)
    whole = bool(active.all())
    lowest = (addresses if whole else np.where(active, addresses, NOWHERE)).min(axis=1, keepdims=True, initial=NOWHERE)
    base = lowest // PLACE_BYTES * PLACE_BYTES
    near = addresses >= np.uint32(SHARED_PLACE)  # of generic addresses, whose place tells the memory
    relative = addresses - (np.where(near, np.uint32(0), base) if near.any() else base)
    found = np.concatenate((head, relative if whole else np.where(active, relative, np.uint32(0))), axis=1)
    for first, count in _distinct(found):
        tally[found[first].tobytes()] += count


def _distinct(rows: NDArray[np.uint32]) -> Iterator[tuple[int, int]]:
    """Yield the place of each distinct row, in their order, and how often it occurs."""
    pairs = rows.view(np.uint64)
    hashes = (pairs * ODD ** np.arange(pairs.shape[1], dtype=np.uint64)).sum(axis=1, dtype=np.uint64)
    _, first, which, counts = np.unique(hashes, return_index=True, return_inverse=True, return_counts=True)
    if not np.array_equal(rows, rows[first[which]]):  # different rows have the same hash
        _, first, counts = np.unique(rows, axis=0, return_index=True, return_counts=True)
    order = np.argsort(first)
    yield from zip(first[order].tolist(), counts[order].tolist(), strict=True)


def _patterns(tally: Counter[bytes]) -> dict[int, tuple[Pattern, ...]]:
    """Return the patterns of each instruction, the most frequent first."""
    found = defaultdict[int, list[Pattern]](list)
    for key, count in tally.most_common():
        words = np.frombuffer(key, np.uint32)
        addresses = words[HEAD:]
        active = bits(words[HEAD - GROUPS : HEAD])[: len(addresses)]
        found[int(words[0])].append(Pattern(addresses, active, count))
    return {pc: tuple(found[pc]) for pc in sorted(found)}
