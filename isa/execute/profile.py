"""Profile a block: how often each instruction executes, and its access patterns, without any machine's rule.

Only the part of the program that determines addresses is computed, so a block takes milliseconds.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isa import frozen
from isa.dataflow.address_slice import address_slice
from isa.execute.interpret import LIMIT, interpret
from isa.kernel import Kernel
from isa.windows import SHARED_PLACE

PLACE_BYTES = 1024  # patterns keep their place modulo this: lines and rows of banks must divide it


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
    """One block's execution: `accesses[pc]` lists the distinct patterns of each memory instruction that executed."""

    counts: NDArray[np.int64]  # [pc] warp instructions
    active: NDArray[np.int64]  # [pc] thread instructions whose guard was true
    accesses: Mapping[int, tuple[Pattern, ...]]


@dataclass(slots=True, eq=False)
class _Tally:
    """Patterns of one pc, each key a whole group of warps; and the last group, which often recurs unchanged."""

    groups: Counter[bytes]
    key: bytes = b""
    times: int = 0
    addresses: NDArray[np.uint32] | None = None
    active: NDArray[np.bool_] | None = None


def profile(kernel: Kernel, block: int = 0, *, limit: int = LIMIT) -> Profile:
    """Return the counts and access patterns of one block, run alone.

    Raises what `interpret` raises, for the addresses and branches of that block; LimitError beyond `limit` warp
    instructions.
    """
    tallies = defaultdict[int, _Tally](lambda: _Tally(Counter()))

    def observe(pc: int, warps: NDArray[np.int64], addresses: NDArray[np.uint32], active: NDArray[np.bool_]) -> None:
        tally = tallies[pc]
        if addresses is not tally.addresses or active is not tally.active:
            tally.addresses, tally.active = addresses, active
            tally.key, tally.times = _key(addresses, active, int(np.count_nonzero(warps == warps[0])))
        tally.groups[tally.key] += tally.times

    run = interpret(kernel, [block], observe, address_slice(kernel.program), limit=limit)
    accesses = {pc: _patterns(tally.groups, kernel.warp_size) for pc, tally in sorted(tallies.items())}
    return Profile(run.counts, run.active, accesses)


def _key(addresses: NDArray[np.uint32], active: NDArray[np.bool_], rounds: int) -> tuple[bytes, int]:
    """Return the group's patterns as bytes, and how often they occur: once per round if all rounds are alike.

    The bytes are, for each warp, the lanes' relative addresses, then their flags as words.
    """
    if _alike(addresses, rounds) and _alike(active, rounds):
        warps = len(addresses) // rounds
        return _words(addresses[:warps], active[:warps]).tobytes(), rounds
    words = _words(addresses, active)
    return (words[: len(words) // rounds].tobytes(), rounds) if _alike(words, rounds) else (words.tobytes(), 1)


def _alike(rows: NDArray[Any], rounds: int) -> bool:
    """Tell whether the rows of each round equal those of the first."""
    each = rows.reshape(rounds, -1)
    return bool((each == each[0]).all())


def _words(addresses: NDArray[np.uint32], active: NDArray[np.bool_]) -> NDArray[np.uint32]:
    lowest = np.where(active, addresses, np.uint32(0xFFFFFFFF)).min(axis=1, keepdims=True)
    near = addresses >= np.uint32(SHARED_PLACE)  # of generic addresses, whose place tells the memory
    relative = np.where(active, np.where(near, addresses, addresses - lowest // PLACE_BYTES * PLACE_BYTES), 0)
    return np.concatenate((relative, active), axis=1, dtype=np.uint32)


def _patterns(groups: Counter[bytes], lanes: int) -> tuple[Pattern, ...]:
    """Return the distinct patterns of single warps, the most frequent first."""
    row = 2 * lanes * 4
    warps: Counter[bytes] = Counter()
    for key, count in groups.items():
        for start in range(0, len(key), row):
            warps[key[start : start + row]] += count
    return tuple(_pattern(key, count) for key, count in warps.most_common())


def _pattern(key: bytes, count: int) -> Pattern:
    words = np.frombuffer(key, np.uint32)
    return Pattern(words[: len(words) // 2], words[len(words) // 2 :].astype(np.bool_), count)
