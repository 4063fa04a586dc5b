"""The feed tells the timing engine what each instruction does.

* execution-driven: every value is computed when its instruction issues.
* address-only: only the values on which addresses, guards and branches depend are computed; the cost of an access is
  remembered while its addresses stay the same or move together (sm/memory/memory_access/memory_access.py).
* trace-driven: the same values are computed once per kind of block, without time, and recorded
  (sm/replay/stream/stream.py).

All three give the same cycles. If addresses or branches depend on the contents of memory, they also depend on time, and
nothing can be recorded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusim.machine.machine import Machine
from gpusim.sm.memory.cache.declaration import tagged
from gpusim.sm.memory.what_if import packs
from gpusim.sm.unit.capacities import FEED, LANES
from isa.dataflow.block_step import block_steps, texture_steps
from isa.dataflow.memory.address_slice import address_slice, control_slice, path_slice
from isa.dataflow.memory.local_slots import local_slots
from isa.errors import UserError
from isa.executing.barriers import by_register
from isa.kernel import Kernel
from isa.operands.operand import PT
from isa.program import WORD_BYTES
from isa.row import GLOBAL_UNITS, Unit
from isa.support.once import once
from isa.values.semantics import ucompare

EXECUTION_DRIVEN, ADDRESS_ONLY, TRACE_DRIVEN = FEEDS = ("execution-driven", "address-only", "trace-driven")


def evaluated(kernel: Kernel, feed: str) -> NDArray[np.bool_]:
    """Return bool[pc]: whether the feed computes the instruction's result. Raises UserError for an unknown feed."""
    if feed not in FEEDS:
        raise UserError(f"unknown feed {feed}; choose one of {', '.join(FEEDS)}")
    return np.ones(len(kernel.program), np.bool_) if feed == EXECUTION_DRIVEN else address_slice(kernel.program)


def reads_memory(kernel: Kernel, computed: NDArray[np.bool_]) -> bool:
    """Tell whether any of the computed instructions depends on what memory holds, on the clock, or on other warps.

    Spilled registers are no such memory: what is stored to their slots is computed, too.
    """
    code, slots = kernel.program.instructions, local_slots(kernel.program)
    found = [(pc, code[pc]) for pc in np.flatnonzero(computed).tolist()]
    loaded = any(i.reads_memory() and pc not in slots for pc, i in found)
    return loaded or any(i.reads_clock() or i.row.reads_barrier for _, i in found) or _by_registers(kernel)


def _by_registers(kernel: Kernel) -> bool:
    """Tell whether registers name a barrier or its threads: streams do not record these."""
    return any(i.row.unit is Unit.BARRIER and by_register(i) for i in kernel.program.instructions)


@once
def foreseeable(kernel: Kernel) -> bool:
    """Tell whether a block's path is known without time: where it goes and what it accesses depend on no loaded values.

    Nor has the launch clusters, whose blocks meet. Nor is there a guard at BRA.DIV or BRA.CONV: an event has the
    threads that branch, not those whose guard holds too.
    """
    if (
        kernel.cluster_blocks > 1 or kernel.program.leaves_global
    ):  # an event has no place for results that come from several memories
        return False
    if any(i.guard != PT and i.row.asks for i in kernel.program.instructions):
        return False
    return not reads_memory(kernel, path_slice(kernel.program))


@once
def countable(kernel: Kernel) -> bool:
    """Tell whether what a block executes is known without time and addresses: where it goes depends on no memory."""
    if kernel.cluster_blocks > 1 or any(i.guard != PT and i.row.asks for i in kernel.program.instructions):
        return False
    return not reads_memory(kernel, control_slice(kernel.program))


@once
def recordable(kernel: Kernel) -> bool:
    """Tell whether the kernel's streams can be recorded: its path is known, and which lanes compute.

    Products of warpgroups are done later than they issue, and are not recorded.
    """
    if not foreseeable(kernel) or any(i.row.unit is Unit.WARPGROUP for i in kernel.program.instructions):
        return False
    return not reads_memory(kernel, address_slice(kernel.program))


def has_requests(kernel: Kernel, machine: Machine) -> bool:
    """Tell whether streams hold all that caches are asked.

    Where tags are kept they do not if there are texture fetches, or if block slots' local memory lies parts of a line
    apart. Nor do they tell which lanes run, as a warp asks that packs its lanes.
    """
    if packs(machine):
        return False
    if not tagged(machine):
        return True
    classes = {i.row.unit for i in kernel.program.instructions}
    whole = LANES * WORD_BYTES % machine.global_memory.line_bytes == 0 or Unit.LOCAL not in classes
    return whole and Unit.TEXTURE not in classes


class Moves(NamedTuple):
    """How addresses, comparisons and coordinates change from block to block, by pc; a feed for each and its range."""

    steps: Mapping[int, Any]
    moving: Sequence[int]  # comparisons
    textures: Mapping[int, Any] | None

    def ranges(self, accesses: int) -> int:
        """Return how many ranges a recorded block has, in a program of so many accesses."""
        return accesses + len(self.moving) + 2 * len(self.textures or ())


def moves(kernel: Kernel) -> Moves:
    """Return what changes from block to block; nothing is known of one block."""
    steps = block_steps(kernel) if kernel.blocks > 1 else None
    moving = [pc for pc in steps or () if kernel.program.instructions[pc].row.unit not in GLOBAL_UNITS]
    return Moves(steps or {}, moving, None if steps is None else texture_steps(kernel))


def prepare_streams(sm: Any, kernel: Kernel, known: Moves, accesses: int) -> None:
    """Let the SM record streams, and store how addresses, comparisons and coordinates change from block to block."""
    sm.trace_driven = True
    for pc in local_slots(kernel.program):
        sm.program[pc].spilled = 1
    sm.memory_feeds = accesses
    sm.coordinate_feeds = accesses + len(known.moving)
    sm.feeds = known.ranges(accesses)
    sm.provable = known.textures is not None and sm.feeds <= FEED
    if not sm.provable:
        sm.feeds = sm.coordinate_feeds = sm.memory_feeds
        return
    for feed, pc in enumerate(known.moving, accesses):
        sm.program[pc].feed = feed
        sm.program[pc].bias = 0 if kernel.program.instructions[pc].row.value is ucompare else 1 << 31
    for pc, step in known.steps.items():
        sm.block_step[sm.program[pc].feed] = step
    for feed, (pc, (column, row)) in enumerate((known.textures or {}).items()):
        sm.program[pc].feed = sm.coordinate_feeds + 2 * feed
        sm.block_step[sm.program[pc].feed : sm.program[pc].feed + 2] = column, row
