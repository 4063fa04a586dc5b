"""How many of the lines for which neighbours ask together differ: the L2 is asked once for a line that several want.

Neighbours are the SMs of a graphics processing cluster (GPC), each with its block of the first wave. Where an address
moves evenly from block to block, that step tells which of these blocks ask for the same. For other loads, and for
copies of the copy engine, the blocks are run in program order, for a while: what a load has asked for by then counts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from functools import partial

import numpy as np
from numpy.typing import NDArray

from gpusim.engines.walks.program_order import Rows, lanes_of, run_block, walker
from gpusim.launch.launch import Launch
from gpusim.machine.machine import Machine
from gpusim.machine.simulated_sms import neighbours
from gpusim.sm.memory.cache.declaration import tagged
from gpusim.sm.memory.copy_engine.declaration import DIMENSIONS
from gpusim.sm.memory.l2_share.declaration import PARTS
from gpusim.sm.walk.access_log import FIRST, PC
from gpusim.sm.walk.marks import ASKED, MARK, SOURCE
from isa.dataflow.memory.address_steps import linear_steps
from isa.dataflow.moving import Step
from isa.errors import UserError
from isa.executing.places import lanes_in
from isa.kernel import Kernel
from isa.memory import SECTOR_BYTES
from isa.nvidia.abi.load import on_chip
from isa.row import Bulk, Unit
from isa.support.once import once

LONG = 1000  # instructions of a warp up to which a block is run, in the mean of its warps
COPIES = (Bulk.LOAD, Bulk.PREFETCH)
PRODUCTS = (Unit.TENSOR, Unit.WARPGROUP)  # which nobody is taken to need for an address

Blocks = tuple[int, ...]
Sets = defaultdict[int, list[NDArray[np.int64]]]  # by pc, what each block asks for


def prepare(kernel: Kernel, machine: Machine, launches: Sequence[Launch]) -> None:
    """Store of each load how many of the lines that neighbours ask for differ, if the L2 merges requests for one."""
    channel = machine.l2_channel
    if channel is None or channel.merged_parts >= PARTS or not tagged(machine):
        return
    there = on_chip(kernel, machine.chip.sms) if kernel.cluster_blocks == 1 else kernel
    for one in launches:
        near = neighbours(there, machine, int(one.sm.launch.index))
        for pc, parts in differing(there, near).items() if len(near) > 1 else ():
            one.sm.program[pc].differing = parts


@once
def differing(kernel: Kernel, blocks: Blocks) -> Mapping[int, int]:
    """Return, by pc of a load or a copy, how many of 64 sectors for which these blocks ask are different ones."""
    code = kernel.program.instructions
    loads = [pc for pc, i in enumerate(code) if i.row.unit is Unit.GLOBAL and i.row.is_load and not i.row.update]
    steps = {pc: step for pc, step in linear_steps(kernel).items() if pc in loads}
    found = {pc: _share([_moved(kernel, block, step) for block in blocks]) for pc, step in steps.items()}
    others = {pc for pc in loads if pc not in steps} | {pc for pc, i in enumerate(code) if i.row.bulk in COPIES}
    seen = _asked_for(kernel, blocks, others) if others else {}
    return found | {pc: _share(sets) for pc, sets in seen.items()}


def _share(sets: Sequence[NDArray[np.int64]]) -> int:
    """Return how many of 64 members of sets are different ones, at least one."""
    return max(1, round(PARTS * len(np.unique(np.concatenate(sets))) / sum(map(len, sets))))


def _moved(kernel: Kernel, block: int, step: Step) -> NDArray[np.int64]:
    """Return by how many sectors a block's place moves an address."""
    x, y, _ = kernel.grid
    place = (block % x, block // x % y, block // (x * y))
    moved = sum(at * each for at, each in zip(place, step, strict=True))
    return np.array([moved % (1 << 32) // SECTOR_BYTES])


def _asked_for(kernel: Kernel, blocks: Blocks, pcs: Collection[int]) -> Sets:
    """Run the blocks one by one up to some instructions; return what each asks for with those at these pcs."""
    code = kernel.program.instructions
    found: Sets = defaultdict(list)
    wanted = np.array([ASKED if pc in pcs and i.row.bulk else 0 for pc, i in enumerate(code)], np.int64)
    with suppress(UserError):
        one = walker(kernel, addresses=True, again=False)
        for pc in (pc for pc, i in enumerate(code) if i.row.unit in PRODUCTS):
            one.launch.program[pc].evaluate = 0
        fresh, limit = np.array(one.sms), (LONG + len(code)) * kernel.warps
        for block in blocks:
            parts: Sets = defaultdict(list)
            np.asarray(one.sms)[:] = fresh
            with suppress(UserError):  # it is longer, or waits for what others do
                run_block(one, block, limit, partial(_note, kernel, pcs, parts), wanted)
            for pc, each in parts.items():
                found[pc].append(np.unique(np.concatenate(each)))
    return found


def _note(kernel: Kernel, pcs: Collection[int], parts: Sets, rows: Rows) -> None:
    """Add the sectors of loads, and the boxes and bytes of copies, of some rows of a block's log."""
    for number in np.unique(rows[:, PC]).tolist():
        pc, some = number & (1 << MARK) - 1, rows[rows[:, PC] == number]
        if number >> MARK == ASKED:
            parts[pc].append(_numbers(some[:, FIRST + SOURCE : FIRST + SOURCE + 1 + DIMENSIONS]))
        elif number in pcs:
            row, places = kernel.program.instructions[pc].row, some[:, FIRST:]
            active = lanes_of(some) & lanes_in(Unit.GLOBAL, places) if row.generic else lanes_of(some)
            first = places[active].astype(np.int64)
            parts[pc].append(np.unique(np.concatenate([first, first + row.nbytes - 1]) // SECTOR_BYTES))


def _numbers(rows: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Return a number for each row of words, so that different rows have different ones."""
    return np.array([hash(row.tobytes()) for row in rows], np.int64)
