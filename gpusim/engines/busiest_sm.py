"""Which SM stands for all where one is simulated: the one with most work.

Work is warp instructions, counted without time. Blocks that differ only in where they begin have equal work, and SM 0
has as many as any. Blocks that differ otherwise are counted SM by SM, far apart, until enough has been counted; where a
block cannot run by itself, SM 0 is taken.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from math import gcd

import numpy as np

from gpusim.engines.walks.counting.block_counts import FAULTY, Counter, Limited, counted, counter
from gpusim.launch.feed import foreseeable
from gpusim.machine.machine import Machine
from gpusim.machine.simulated_sms import blocks_of
from gpusim.sm.jit.rule import COMPILED
from isa.dataflow.block_step import block_steps
from isa.errors import LimitError, UserError
from isa.kernel import Kernel
from isa.nvidia.abi.on_chip import on_chip
from isa.support.once import once

MOST = 1_000_000 if COMPILED else 10_000  # warp instructions that are counted: a tenth of a second, or some seconds
TOGETHER = 16  # blocks behind the first that are counted before it is looked whether it is enough
GOLDEN = 0.618  # ratio whose multiples, less whole numbers, fill an interval evenly


def busiest_sm(kernel: Kernel, machine: Machine) -> int:
    """Return the number of the SM whose blocks execute most warp instructions, of those counted the first."""
    kernel, sms = on_chip(kernel, machine.chip.sms), machine.chip.sms
    if min(sms, kernel.blocks) == 1 or not foreseeable(kernel) or block_steps(kernel) is not None:
        return 0
    try:
        return _busiest(kernel, sms, Limited(MOST, machine))
    except UserError:  # of this machine: not kept, as another may run the kernel
        return 0


def blocks_of_sm(kernel: Kernel, machine: Machine) -> range:
    """Return the blocks of the SM that stands for all, of a kernel as it is on the machine's chip."""
    return blocks_of(kernel, machine, 1, busiest_sm(kernel, machine))


@once
def _busiest(kernel: Kernel, sms: int, walk: Limited) -> int:
    try:
        works = _works(counter(kernel, walk.where, threads=True), sms, walk.limit)
    except LimitError:
        return 0
    return min(sm for sm, work in works.items() if work == max(works.values()))


def _works(count: Counter, sms: int, limit: int) -> dict[int, int]:
    """Return the work of each SM, until enough has been counted; of the first alone only so much."""
    works, blocks = dict[int, int](), count.walker.kernel.blocks
    for sm in _far_apart(min(sms, blocks)):
        works[sm], ids = 0, range(sm, blocks, sms)
        for first, last in pairwise((0, *range(1, len(ids), TOGETHER), len(ids))):
            of, work = counted(count, ids[first:last], limit)
            works[sm] += int(np.where(of == FAULTY, MOST, work).sum())  # what faults shows most
            if works[sm] > MOST and len(works) == 1:
                return works
        if sum(works.values()) > MOST:
            break
    return works


def _far_apart(sms: int) -> Iterator[int]:
    """Yield each SM once, each far from those before it, so that no pattern of the grid hides most work."""
    step = next(step for step in range(round(sms * GOLDEN), sms + 2) if gcd(step, sms) == 1)
    return (step * place % sms for place in range(sms))
