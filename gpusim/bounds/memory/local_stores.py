"""What stores to local memory surely send to the L2, where the L1 does not keep it: sectors, by instruction.

Threads have local memory of their own, so no order of warps changes what they store. Where stores wait in front of the
L2 to be joined, each sector that a warp stores to goes there once, but for lines that still wait for the L2 when the
block begins, in the place of another.
"""

from __future__ import annotations

import numpy as np

from gpusim.bounds.memory.touched import ROWS, Blocks, Numbers, inside
from gpusim.engines.walks.program_order import Rows, Walker, lanes_of, run_block, walker
from gpusim.launch.feed import recordable
from gpusim.sm.walk.access_log import FIRST, PC, RELEASE, WARP
from isa.dataflow.memory.address_steps import local_steps
from isa.dataflow.moving import STILL
from isa.kernel import Kernel
from isa.memory import LINE_BYTES, SECTOR_BYTES
from isa.program import WORD_BYTES
from isa.support.once import once

LANES = SECTOR_BYTES // WORD_BYTES  # neighbours whose words lie in a sector
LINE = LINE_BYTES // SECTOR_BYTES  # sectors of a line that waits


@once
def sent(kernel: Kernel, blocks: Blocks, sms: int, pcs: frozenset[int], waiting: int, limit: int) -> Numbers:
    """Return by pc the sectors that the stores of these blocks send at least, if so many lines wait to be joined.

    The first of so many SMs begin with nothing that waits. Blocks inside the grid are taken to store what the middle
    one does where these are too many accesses and no address depends on the block; else some are run. Raises as a walk
    in program order does; LimitError beyond `limit` warp instructions in a block.
    """
    one, middle = walker(kernel, addresses=True), blocks[len(blocks) // 2]
    found, rows = _of_block(one, middle, pcs, waiting > 0, limit)
    most = max(1, ROWS // max(1, rows))
    if most < len(blocks) and recordable(kernel) and _still(kernel, found):
        alike = inside(kernel, blocks)
        first = int(alike[:sms].sum())
        return found * first + _later(found, waiting) * (int(alike.sum()) - first)
    total = np.zeros(len(kernel.program), np.int64)
    for place in range(0, len(blocks), -(-len(blocks) // most)):
        each = _of_block(one, blocks[place], pcs, waiting > 0, limit)[0]
        total += each if place < sms else _later(each, waiting)
    return total


def _still(kernel: Kernel, found: Numbers) -> bool:
    """Tell whether every store that was executed has its place in all blocks."""
    steps = local_steps(kernel)
    return all(steps.get(pc) == STILL for pc in np.flatnonzero(found).tolist())


def _later(found: Numbers, waiting: int) -> Numbers:
    """Return what a block sends that begins where another has ended, whose last lines may wait."""
    whole = int(found.sum())
    return found * max(0, whole - waiting * LINE) // max(1, whole)


def _of_block(one: Walker, block: int, pcs: frozenset[int], joins: bool, limit: int) -> tuple[Numbers, int]:
    """Return by pc what a block's stores send, and how many accesses it has; with `joins` a warp's sectors go once."""
    if one.kernel.buffers and not recordable(one.kernel):
        one.again()
    parts, seen = [np.zeros((0, 2), np.int64)], [0]

    def tell(rows: Rows) -> None:
        parts.append(_sectors(one.kernel, rows[np.isin(rows[:, PC], list(pcs))], joins))
        seen[0] += int((rows[:, PC] != RELEASE).sum())

    run_block(one, block, limit, tell)
    who, pc = np.concatenate(parts).T
    if joins:
        first = np.unique(who, return_index=True)[1]
        pc = pc[first]
    return np.bincount(pc, minlength=len(one.kernel.program)).astype(np.int64), seen[0]


def _sectors(kernel: Kernel, rows: Rows, joins: bool) -> Numbers:
    """Return rows of a sector's number, which has the warp's or the access's in it, and a pc."""
    at, lane = np.nonzero(lanes_of(rows))
    each = (rows[:, WARP] if joins else np.arange(len(rows))).astype(np.int64)
    words = np.array([i.row.source.words if i.row.is_store else 1 for i in kernel.program.instructions])
    found = [np.zeros((0, 2), np.int64)]
    for offset in range(int(words.max(initial=1))):
        some = words[rows[at, PC]] > offset
        word = rows[at[some], FIRST + lane[some]].astype(np.int64) // WORD_BYTES + offset
        sector = (each[at[some]] << 40) + (word << 8) + lane[some] // LANES
        sector, first = np.unique(sector, return_index=True)
        found.append(np.column_stack([sector, rows[at[some], PC].astype(np.int64)[first]]))
    return np.concatenate(found)
