"""Which SM stands for all where one is simulated: the one with most work.

Work is warp instructions, counted without time. Blocks that differ only in where they begin have equal work, and SM 0
has as many as any. Blocks that differ otherwise are all counted if they are few enough; else, or where a block cannot
run by itself, SM 0 is taken.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gpusim.engines.walks.profile import first_profile
from gpusim.engines.walks.program_order import Counts, block_alone, walker
from gpusim.launch.feed import recordable
from gpusim.machine.machine import Machine
from gpusim.sm.jit.rule import COMPILED
from isa.dataflow.block_step import block_steps
from isa.errors import DeadlockError, ExecutionError, UserError
from isa.kernel import Kernel
from isa.nvidia.abi.load import on_chip
from isa.support.once import once

MOST = 1_000_000 if COMPILED else 10_000  # warp instructions of all blocks: of a tenth of a second, or some seconds
Counter = Callable[[int], Counts | None]


def busiest_sm(kernel: Kernel, machine: Machine) -> int:
    """Return the number of the SM whose blocks execute most warp instructions, the first one of several."""
    kernel, sms = on_chip(kernel, machine.chip.sms), machine.chip.sms
    if min(sms, kernel.blocks) == 1 or not recordable(kernel) or block_steps(kernel) is not None:
        return 0
    return _busiest(kernel, sms)


@once
def _busiest(kernel: Kernel, sms: int) -> int:
    try:
        if int(first_profile(kernel, MOST).counts.sum()) * kernel.blocks > MOST:
            return 0
    except UserError:
        return 0
    count, work, left = counter(kernel, MOST), np.zeros(sms, np.int64), MOST
    for block in range(kernel.blocks):
        try:
            found = count(block)
        except UserError:
            return 0
        each = int(found[0].sum()) if found else left
        work[block % sms] += each
        left -= each
        if left < 0:
            return 0
    return int(work.argmax())


def counter(kernel: Kernel, limit: int) -> Counter:
    """Return a function that counts what a block executes; None if it faults.

    It raises LimitError beyond `limit` warp instructions in a block.
    """
    one = walker(kernel, addresses=True)

    def count(block: int) -> Counts | None:
        try:
            return block_alone(one, block, limit)
        except (ExecutionError, DeadlockError):
            return None

    return count
