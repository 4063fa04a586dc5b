"""Blocks in program order, compiled: what they leave in memory, and one block's profile, without time.

Both equal the interpreter's results to the bit (`isa.execute.interpret`, `isa.execute.profile`), ten times as fast.
Where a block faults, or has more than fits here, the interpreter runs it and reports the fault.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusim.engines.sm_run import beyond_of
from gpusim.jit.on_demand import uninterrupted
from gpusim.jit.rule import COMPILED, borrow, entry
from gpusim.launch.feed import EXECUTION_DRIVEN
from gpusim.launch.launch import Launch, launch
from gpusim.machine.machine import Machine
from gpusim.rules import program_order
from gpusim.rules.access_patterns import ACTIVE, FIRST, MOST, PC, Noted, room
from gpusim.units.capacities import LANES, WARPS
from isa.execute import faults
from isa.execute.beyond import Beyond
from isa.execute.interpret import LIMIT, interpret
from isa.execute.profile import Pattern, Profile
from isa.kernel import Kernel
from isa.row import Unit

Counts = tuple[NDArray[np.int64], NDArray[np.int64]]
UNLIKE = Unit.TEXTURE, Unit.SMEM  # fetches from named buffers, and scalar loads: the interpreter notes other lanes
STEPS = 1 << 20  # warp instructions between two looks at Ctrl-C


@entry
def begin(sms: Any, memory: Any, away: Any, number: int) -> None:
    """Let a block of the grid begin in the first SM."""
    program_order.begin(sms[0], borrow(memory), borrow(away), number)


@entry
def run(sms: Any, memory: Any, away: Any, group: Any, noted: Any, steps: int) -> int:
    """Run the first SM's block for at least so many warp instructions or to its end; return how many it was."""
    return program_order.proceed(sms[0], borrow(memory), borrow(away), borrow(group), noted, steps)


@dataclass(frozen=True, eq=False)
class Walker:
    """A launch whose blocks are run one by one; `start` is the memory that a profiled block begins with."""

    kernel: Kernel
    launch: Launch
    start: NDArray[np.uint32]
    away: NDArray[np.int64]
    group: NDArray[np.int64]


def walker(
    kernel: Kernel, machine: Machine, left: NDArray[np.uint32] | None = None, feed: str = EXECUTION_DRIVEN
) -> Walker:
    """Return what runs blocks of a launch, on memory as others have `left` it (None: as it is before the launch).

    On the address-only `feed` blocks leave nothing in memory. Raises UserError where kernel and machine don't fit.
    """
    prepared = launch(kernel, machine, blocks=1, memory=left, feed=feed)
    sm = prepared.sm
    prepared.program.cached[:] = 0  # no cache is asked, and nothing waits
    sm.machine.fetch_cost = sm.machine.barrier_defers = sm.machine.barriers_pass = 0
    sm.launch.sms = kernel.sms  # what special registers tell of SMs is the interpreter's
    sm.defers = False
    start = prepared.memory[: prepared.global_words].copy()
    return Walker(kernel, prepared, start, *np.zeros((2, WARPS), np.int64))


Left = tuple[NDArray[np.uint32], Beyond | None]


def memory_after(kernel: Kernel, machine: Machine, blocks: Sequence[int], left: NDArray[np.uint32]) -> Left:
    """Return global memory after these blocks have run in program order, and their loads behind buffers.

    They run on what others have `left`. Raises as `isa.execute.interpret.interpret` does.
    """
    if COMPILED:
        one, noted = walker(kernel, machine, left), room(0)
        if all(_run(one, block, noted, LIMIT) for block in blocks):
            return one.launch.memory[: one.launch.global_words], beyond_of(one.launch.sm)
    return interpreted(kernel, machine, blocks, left)


def interpreted(kernel: Kernel, _machine: Machine, blocks: Sequence[int], left: NDArray[np.uint32]) -> Left:
    """Return the same, by the interpreter."""
    ran = interpret(kernel, blocks, left=left)
    return ran.memory, ran.beyond


def profile(one: Walker, block: int, limit: int, most: int = MOST) -> Profile | None:
    """Return one block's counts and access patterns; None if it faults, or has as many patterns as are kept.

    Accesses without an active lane are left out. Raises LimitError beyond `limit` warp instructions.
    """
    length = len(one.kernel.program)
    one.launch.memory[: len(one.start)] = one.start
    one.launch.program.issued[:] = one.launch.program.active[:] = 0
    one.launch.program.located[:] = 1
    noted = room(length + 1, most)
    if not _run(one, block, noted, limit) or noted.size[0] == most:
        return None
    counts, active = (np.array(field[:length]) for field in (one.launch.program.issued, one.launch.program.active))
    return Profile(counts, active, _patterns(noted))


def counts(one: Walker, block: int, limit: int) -> Counts | None:
    """Return the warp instructions and thread instructions of one block, by pc; None if it faults.

    Raises LimitError beyond `limit` warp instructions.
    """
    one.launch.program.issued[:] = one.launch.program.active[:] = 0
    if not _run(one, block, room(0), limit):
        return None
    length = len(one.kernel.program)
    issued, active = (np.array(field[:length]) for field in (one.launch.program.issued, one.launch.program.active))
    return issued, active


def profiles(kernel: Kernel) -> bool:
    """Tell whether blocks of a kernel are profiled here: compiled, of 32 lanes, without `UNLIKE` instructions."""
    return COMPILED and kernel.warp_size == LANES and all(i.row.unit not in UNLIKE for i in kernel.program.instructions)


def _run(one: Walker, block: int, noted: Noted, limit: int) -> bool:
    """Run a block to its end; False if it faults or waits for ever. Raises LimitError."""
    held, sm = one.launch, one.launch.sm
    sm.launch.index = block % one.kernel.sms if one.kernel.sms else 0
    begin(held.sms, held.memory, one.away, block)
    advance = uninterrupted(partial(run, held.sms, held.memory, one.away, one.group, noted))
    done = 0
    while done <= limit:
        asked = min(STEPS, limit + 1 - done)
        executed = advance(asked)
        done += executed
        if executed < asked:
            return not sm.fault.code and not sm.blocks[0].live
    raise faults.endless(one.kernel, block, limit, int(sm.warps[0].pc) - 1)


def _patterns(noted: Noted) -> dict[int, tuple[Pattern, ...]]:
    """Return the patterns of each instruction, the most frequent first."""
    found = defaultdict[int, list[Pattern]](list)
    size = int(noted.size[0])
    for row, count in sorted(zip(noted.rows[:size], noted.counts[:size].tolist(), strict=True), key=lambda x: -x[1]):
        lanes = np.unpackbits(row[ACTIVE : ACTIVE + 1].view(np.uint8), bitorder="little").astype(np.bool_)
        found[int(row[PC])].append(Pattern(row[FIRST:], lanes, count))
    return {pc: tuple(found[pc]) for pc in sorted(found)}
