"""Which SM stands for all where one is simulated: the one with most work.

Work is warp instructions, counted without time. Blocks that differ only in where they begin have equal work, and SM 0
has as many as any. Blocks that differ otherwise are all counted if they are few enough; else, or where a block cannot
run by itself, SM 0 is taken.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from gpusim.engines import program_order
from gpusim.engines.first_block import first_profile
from gpusim.engines.program_order import Counts
from gpusim.launch.feed import ADDRESS_ONLY, recordable
from gpusim.machine.machine import Machine
from isa.dataflow.address_slice import address_slice
from isa.errors import UserError
from isa.execute.block_step import block_steps
from isa.execute.interpret import interpret
from isa.execute.touched_lines import without_contents
from isa.kernel import Kernel
from isa.once import once
from isa.sass.load import on_chip

MOST = 1_000_000  # warp instructions of all blocks: a tenth of a second of counting
Counter = Callable[[int], Counts | None]


@dataclass(frozen=True)
class On:
    """A machine whose own numbers change no count, except for that of SMs."""

    machine: Machine = field(compare=False)
    sms: int


def busiest_sm(kernel: Kernel, machine: Machine) -> int:
    """Return the number of the SM whose blocks execute most warp instructions, the first one of several."""
    kernel, sms = on_chip(kernel, machine.chip.sms), machine.chip.sms
    if min(sms, kernel.blocks) == 1 or not recordable(kernel) or block_steps(kernel) is not None:
        return 0
    return _busiest(kernel, On(machine, sms))


@once
def _busiest(kernel: Kernel, on: On) -> int:
    try:
        if int(first_profile(without_contents(kernel), MOST, on.machine).counts.sum()) * kernel.blocks > MOST:
            return 0
    except UserError:
        return 0
    count, work, left = counter(kernel, on.machine, MOST), np.zeros(on.sms, np.int64), MOST
    for block in range(kernel.blocks):
        try:
            found = count(block)
        except UserError:
            return 0
        each = int(found[0].sum()) if found else left
        work[block % on.sms] += each
        left -= each
        if left < 0:
            return 0
    return int(work.argmax())


def counter(kernel: Kernel, machine: Machine, limit: int) -> Counter:
    """Return a function that counts what a block executes; None if it faults.

    It raises LimitError beyond `limit` warp instructions in a block.
    """
    light = without_contents(kernel)
    if program_order.profiles(kernel):
        walker = program_order.walker(light, machine, feed=ADDRESS_ONLY)
        return lambda block: program_order.counts(walker, block, limit)
    wanted = address_slice(kernel.program)

    def interpreted(block: int) -> Counts | None:
        try:
            run = interpret(light, [block], evaluate=wanted, limit=limit)
        except UserError:
            return None
        return run.counts, run.active

    return interpreted
