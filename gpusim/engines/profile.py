"""Profile a block: how often each instruction executes, and its access patterns, without any machine's number.

Only the part of the program that determines addresses is computed, so a block takes milliseconds.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from gpusim.engines.program_order import LIMIT, Walker, bits, block_alone, lanes_of, walker
from gpusim.rules.access_log import ACTIVE, FIRST, PC, RELEASE
from gpusim.units.capacities import GROUPS
from isa import frozen
from isa.kernel import Kernel
from isa.memory import PLACE_BYTES
from isa.once import once
from isa.windows import SHARED_PLACE

ODD = np.uint64(0x9E3779B97F4A7C15)  # of a hash: the golden ratio in 64 bits
NOWHERE = np.uint32(0xFFFFFFFF)


@frozen.comparable
@dataclass(frozen=True)
class Pattern:
    """One warp's access: byte addresses less the lowest active one rounded down to a line; 0 where inactive.

    Of generic addresses, those in shared or local memory are places (isa.windows).
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
    accesses: Mapping[int, tuple[Pattern, ...]]


def profile(kernel: Kernel, block: int = 0, *, limit: int = LIMIT) -> Profile:
    """Return the counts and access patterns of one block, run alone.

    Raises what program_order.walk raises, for the addresses and branches of that block; LimitError beyond `limit` warp
    instructions.
    """
    return profile_of(walker(kernel, addresses=True), block, limit)


def profile_of(one: Walker, block: int, limit: int) -> Profile:
    """Return the same of a launch whose blocks are run one by one."""
    tally: Counter[bytes] = Counter()
    counts, active = block_alone(one, block, limit, lambda rows: _count(tally, rows))
    return Profile(counts, active, _patterns(tally))


def first_profile(kernel: Kernel, limit: int) -> Profile:
    """Return the profile of a kernel's first block, which the bound, a sample and the choice of an SM take.

    Raises LimitError beyond `limit` warp instructions, also where a larger limit has let it through before.
    """
    found = _first(kernel, _Walk(limit))
    return found if found.counts.sum() <= limit else profile(kernel, limit=limit)


@dataclass(frozen=True)
class _Walk:
    """A walk of at most so many warp instructions. All that come to an end find the same."""

    limit: int = field(compare=False)


@once
def _first(kernel: Kernel, walk: _Walk) -> Profile:
    return profile(kernel, limit=walk.limit)


def _count(tally: Counter[bytes], rows: NDArray[np.uint32]) -> None:
    """Add the patterns of some accesses: each the instruction, its active lanes, and their relative addresses."""
    rows = rows[(rows[:, PC] != RELEASE) & rows[:, ACTIVE:FIRST].any(axis=1)]
    active, addresses = lanes_of(rows), rows[:, FIRST:]
    lowest = np.where(active, addresses, NOWHERE).min(axis=1, keepdims=True, initial=NOWHERE)
    near = addresses >= np.uint32(SHARED_PLACE)  # of generic addresses, whose place tells the memory
    relative = np.where(near, addresses, addresses - lowest // PLACE_BYTES * PLACE_BYTES)
    found = np.concatenate(
        (rows[:, [PC, *range(ACTIVE, FIRST)]], np.where(active, relative, 0)), axis=1, dtype=np.uint32
    )
    for first, count in _distinct(found):
        tally[found[first].tobytes()] += count


def _distinct(rows: NDArray[np.uint32]) -> Iterator[tuple[int, int]]:
    """Yield the place of each distinct row, in their order, and how often it occurs."""
    powers = ODD ** np.arange(rows.shape[1], dtype=np.uint64)
    hashes = (rows * powers).sum(axis=1, dtype=np.uint64)
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
        addresses = words[1 + GROUPS :]
        active = bits(words[1 : 1 + GROUPS])[: len(addresses)]
        found[int(words[0])].append(Pattern(addresses, active, count))
    return {pc: tuple(found[pc]) for pc in sorted(found)}
