"""Which SM stands for all where one is simulated: the one with most work.

Work is warp instructions, counted without time. Blocks that differ only in where they begin have equal work, and SM 0
has as many as any. Blocks that differ otherwise are counted SM by SM, far apart, until enough has been counted; where a
block cannot run by itself, SM 0 is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import gcd

from gpusim.engines.walks.program_order import Counts, block_alone, walker
from gpusim.launch.feed import foreseeable
from gpusim.machine.machine import Machine
from gpusim.sm.jit.rule import COMPILED
from isa.dataflow.block_step import block_steps
from isa.errors import DeadlockError, ExecutionError, UserError
from isa.kernel import Kernel
from isa.nvidia.abi.on_chip import on_chip
from isa.support.once import once

MOST = 1_000_000 if COMPILED else 10_000  # warp instructions that are counted: a tenth of a second, or some seconds
GOLDEN = 0.618  # ratio whose multiples, less whole numbers, fill an interval evenly
Counter = Callable[[int], Counts | None]


def busiest_sm(kernel: Kernel, machine: Machine) -> int:
    """Return the number of the SM whose blocks execute most warp instructions, of those counted the first."""
    kernel, sms = on_chip(kernel, machine.chip.sms), machine.chip.sms
    if min(sms, kernel.blocks) == 1 or not foreseeable(kernel) or block_steps(kernel) is not None:
        return 0
    return _busiest(kernel, sms)


@once
def _busiest(kernel: Kernel, sms: int) -> int:
    count, works = counter(kernel, MOST), dict[int, int]()
    for sm in _far_apart(min(sms, kernel.blocks)):
        try:
            works[sm] = sum(_work(count(block)) for block in range(sm, kernel.blocks, sms))
        except UserError:
            return 0
        if sum(works.values()) > MOST:
            break
    return min(sm for sm, work in works.items() if work == max(works.values()))


def _work(found: Counts | None) -> int:
    """Return what a block executes; one that faults shows most."""
    return int(found[0].sum()) if found else MOST


def _far_apart(sms: int) -> Iterator[int]:
    """Yield each SM once, each far from those before it, so that no pattern of the grid hides most work."""
    step = next(step for step in range(round(sms * GOLDEN), sms + 2) if gcd(step, sms) == 1)
    return (step * place % sms for place in range(sms))


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
