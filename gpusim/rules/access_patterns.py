"""Address patterns of memory instructions, counted while a block runs: those of `isa.execute.profile`.

A pattern is what a warp's access has beside its place: each active lane's byte address less the lowest one's rounded
down to PLACE_BYTES. Equal patterns of one instruction are counted together, found by a hash of their words.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gpusim.jit.rule import rule
from gpusim.rules import memory_access
from gpusim.units.capacities import LANES
from isa.execute.profile import PLACE_BYTES
from isa.windows import SHARED_PLACE

MOST = 1 << 16  # patterns
HEADS = 4  # of the hash, for each pattern
PC, ACTIVE, FIRST = 0, 1, 2  # of a row: the instruction, the mask of its active lanes, then their addresses
FACTOR, MASK = 1_000_003, (1 << 40) - 1  # of the hash: products stay below 2**63


class Noted(NamedTuple):
    """The patterns so far: a row for each, and how often it occurred; `heads` has rows + 1 by hash, 0: none.

    `last` has the row that each instruction had last, -1: none, and is empty if nothing is noted. `size` counts the
    rows in use; if all are, some patterns may be missing.
    """

    rows: Any
    counts: Any
    heads: Any
    last: Any
    size: Any


def room(instructions: int, most: int = MOST) -> Noted:
    """Return room for so many patterns of so many instructions; of none, nothing is noted."""
    some = most if instructions else 0
    return Noted(
        np.zeros((some + 1, FIRST + LANES), np.uint32),
        np.zeros(some, np.int64),
        np.zeros(HEADS * some, np.int64),
        np.full(instructions, -1, np.int64),
        np.zeros(1, np.int64),
    )


@rule
def note(sm: Any, noted: Any, pc: int) -> None:
    """Count the pattern of the access that the instruction at pc has just made, if it was one."""
    if not memory_access.accesses(sm.program[pc]) or noted.size[0] == noted.counts.size:
        return
    size = noted.size[0]
    fresh = noted.rows[size]
    _fill(sm, fresh, sm.outcome.active[0], pc)
    found = noted.last[pc]
    if found < 0 or not _equal(noted.rows[found], fresh):
        found = _place(noted, fresh)
        noted.last[pc] = found
    noted.counts[found] += 1


@rule
def _fill(sm: Any, row: Any, active: int, pc: int) -> None:
    """Write the pattern into a row."""
    lowest = np.uint32(0xFFFFFFFF)
    for lane in range(LANES):
        if active >> lane & 1:
            lowest = min(lowest, sm.scratch.address[lane])
    base = np.uint32(lowest // PLACE_BYTES * PLACE_BYTES)
    row[PC], row[ACTIVE] = np.uint32(pc), np.uint32(active & 0xFFFFFFFF)
    for lane in range(LANES):
        address = sm.scratch.address[lane]
        own = (
            address if address >= SHARED_PLACE else np.uint32(address - base)
        )  # of generic ones, which tell the memory
        row[FIRST + lane] = own if active >> lane & 1 else np.uint32(0)


@rule
def _equal(one: Any, other: Any) -> bool:
    same = True
    for i in range(FIRST + LANES):
        same &= one[i] == other[i]
    return same


@rule
def _place(noted: Any, fresh: Any) -> int:
    """Return the row of a pattern, which is at first the one behind all others."""
    head = _hash(fresh) % noted.heads.size
    while noted.heads[head] and not _equal(noted.rows[noted.heads[head] - 1], fresh):
        head = (head + 1) % noted.heads.size
    if noted.heads[head] == 0:
        noted.size[0] += 1
        noted.heads[head] = noted.size[0]
    return int(noted.heads[head] - 1)


@rule
def _hash(row: Any) -> int:
    mixed = np.int64(0)
    for i in range(FIRST + LANES):
        mixed = (mixed * FACTOR + np.int64(row[i])) & MASK
    return int(mixed ^ mixed >> 20)
