"""How often each of many blocks executes each instruction, without time, in one call of compiled code for many.

Blocks are of a kind if they execute the same instructions equally often, in as many threads, and copy as much. Where
only the path is asked for, and it depends on no memory, nothing is computed but what decides it; then a kind says
nothing of threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusim.engines.walks.counting import paths
from gpusim.engines.walks.program_order import Walker, block_alone, walker
from gpusim.engines.walks.waits.one_block import next_instruction
from gpusim.launch.feed import countable, foreseeable
from gpusim.machine.machine import Machine
from gpusim.sm.jit.on_demand import uninterrupted
from gpusim.sm.jit.rule import borrow, entry, rule
from gpusim.sm.records import Memory, Numbers, Records, Sm, Table
from gpusim.sm.walk import access_log, path, program_order
from gpusim.sm.walk.access_log import Log
from isa.errors import DeadlockError, ExecutionError
from isa.executing import faults
from isa.kernel import Kernel

KINDS = 64  # that are told apart
FAULTY = -1  # the kind of a block that can't be run by itself
STEPS = 1 << 20  # warp instructions between two looks at Ctrl-C
COUNTED = 4  # for each instruction: warps, threads, bytes and pieces of copies


@dataclass(frozen=True)
class Limited:
    """A walk of at most so many warp instructions, with a machine's decoded program. All that end find the same."""

    limit: int = field(compare=False)
    where: Machine | None = field(compare=False)


class Counted(NamedTuple):
    """The kind of each block, KINDS for all further ones and FAULTY, and its warp instructions (0 of FAULTY)."""

    of: NDArray[np.int64]
    work: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Counter:
    """What runs the blocks of a launch one by one, and the counts of each kind so far: [kind, counts]."""

    walker: Walker
    kinds: NDArray[np.int64]
    known: NDArray[np.int64]  # how many kinds
    runs: NDArray[np.int64]  # of instructions that a path passes over, as gpusim.sm.walk.path has them; empty: none


def counter(kernel: Kernel, machine: Machine | None = None, *, threads: bool = False) -> Counter:
    """Return what counts blocks of a launch, with their `threads` if asked for.

    `machine` as in program_order.walker, which says what it raises.
    """
    only_path = not threads and countable(kernel)
    one = walker(kernel, addresses=True, machine=machine)
    if only_path:
        paths.only(one.launch.program, kernel)
    runs = np.zeros((len(kernel.program) + 2) * only_path, np.int64)
    return Counter(one, np.zeros((KINDS, COUNTED * len(kernel.program)), np.int64), np.zeros(1, np.int64), runs)


def counted(one: Counter, blocks: Sequence[int], limit: int) -> Counted:
    """Return the kinds and warp instructions of some blocks of the grid.

    Raises LimitError beyond `limit` warp instructions in a block.
    """
    numbers = np.array(blocks, np.int64)
    found = Counted(*np.zeros((2, len(numbers)), np.int64))
    kernel, held = one.walker.kernel, one.walker.launch
    log, place = access_log.room(0, 0), np.zeros(1, np.int64)
    arrays = numbers, *found, one.kinds, one.known, one.runs, place, np.zeros(one.kinds.shape[1], np.int64)
    ahead = partial(count, held.sms, held.memory, one.walker.away[0], one.walker.group, log, *arrays, limit)
    run = uninterrupted(partial(ahead, len(kernel.program), kernel.sms))
    together = bool(len(one.runs)) or (foreseeable(kernel) and one.walker.start is None)
    while (at := int(place[0])) < len(numbers):
        longest = int(found.work[:at].max(initial=0)) or STEPS  # nothing is known of the first
        if not together or not run(at + max(1, STEPS // longest)):
            _alone(one, int(numbers[place[0]]), limit, found, int(place[0]))
            place[0] += 1
    return found


def _alone(one: Counter, block: int, limit: int, found: Counted, at: int) -> None:
    """Count a block by itself, one that may fail."""
    kernel, sm = one.walker.kernel, one.walker.launch.sm
    if len(one.runs):
        if not sm.fault.code:
            raise faults.endless(kernel, block, limit, next_instruction(sm, kernel))
        sm.fault.code, found.of[at] = 0, FAULTY
        return
    try:
        each = block_alone(one.walker, block, limit)
    except (ExecutionError, DeadlockError):
        found.of[at] = FAULTY
        return
    counts = np.concatenate([each[0], each[1], *each[2]]).astype(np.int64)
    found.of[at], found.work[at] = kind_of(counts, one.kinds, one.known), each[0].sum()


@entry
def count(
    sms: Records[Sm],
    memory: Memory,
    away: Numbers,
    group: Numbers,
    log: Log,
    blocks: Numbers,
    of: Numbers,
    work: Numbers,
    kinds: Table,
    known: Numbers,
    runs: Numbers,
    place: Numbers,
    counts: Numbers,
    limit: int,
    length: int,
    apart: int,
    until: int,
) -> int:
    """Count the blocks from a place on, up to another; return 0 if the block at the place reached can't end by itself.

    `counts` is room for those of a block, `length` the program's, `apart` the SMs over which blocks are spread (0 if it
    doesn't matter). Code that allocates room itself would not be kept.
    """
    sm, memory, away, group = sms[0], borrow(memory), borrow(away), borrow(group)
    rows, counts = access_log.borrowed(log), borrow(counts)
    while place[0] < min(until, blocks.shape[0]):
        at = place[0]
        _clear(sm, length)
        sm.launch.index = blocks[at] % apart if apart else 0
        program_order.begin(sm, memory, away, blocks[at])
        if runs.shape[0]:
            done = path.walk(sm, memory, runs, length, limit)
        else:
            rows.members[:] = 0
            rows.phases[:] = 0
            done = program_order.proceed(sm, memory, away, group, rows, limit + 1)
        if done > limit or sm.fault.code != 0 or (runs.shape[0] == 0 and sm.blocks[0].live):
            return 0
        _take(sm, counts, length)
        of[at], work[at] = kind_of(counts, kinds, known), done
        place[0] += 1
    return 1


@rule
def _clear(sm: Sm, length: int) -> None:
    for pc in range(length):
        row = sm.program[pc]
        row.issued = row.active = row.copied = row.pieces = 0


@rule
def _take(sm: Sm, counts: Numbers, length: int) -> None:
    for pc in range(length):
        row = sm.program[pc]
        counts[pc], counts[length + pc] = row.issued, row.active
        counts[2 * length + pc], counts[3 * length + pc] = row.copied, row.pieces


@rule
def kind_of(counts: Numbers, kinds: Table, known: Numbers) -> int:
    """Return the kind that has these counts, a new one if none has; KINDS if there is no room for more."""
    for kind in range(known[0]):
        if _equal(counts, kinds, kind):
            return kind
    if known[0] == kinds.shape[0]:
        return int(kinds.shape[0])
    for i in range(counts.shape[0]):
        kinds[known[0], i] = counts[i]
    known[0] += 1
    return int(known[0] - 1)


@rule
def _equal(counts: Numbers, kinds: Table, kind: int) -> bool:
    for i in range(counts.shape[0]):  # noqa: SIM110  (compiled)
        if counts[i] != kinds[kind, i]:
            return False
    return True
