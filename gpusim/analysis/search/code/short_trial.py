"""A short trial: the time of a launch from the first part of its run.

The SM issues as many warp instructions as some of its blocks, evenly apart, have in the mean. Those that are left go on
at the rate of the prefix after its first eighth. So later waves, and the last, partly filled one, count as the first.
"""

from __future__ import annotations

from gpusim.bounds.bounds import LIMIT
from gpusim.engines.busiest_sm import blocks_of_sm
from gpusim.engines.prefix import run_prefix
from gpusim.engines.walks.counting.block_counts import FAULTY, counted, counter
from gpusim.launch.feed import countable
from gpusim.machine.machine import Machine
from gpusim.support.stages import stage
from isa.errors import LimitError
from isa.kernel import Kernel
from isa.nvidia.abi.on_chip import on_chip, synchronises

LOOKED_AT = 8  # blocks that are counted
COUNTED = 200_000  # warp instructions from which on no further block is counted that has to be executed for it


def predicted(launched: Kernel, machine: Machine, instructions: int) -> float | None:
    """Return the cycles of a launch from its first warp instructions; None where it has no short trial.

    That is where one SM can't stand for all, and where a block can't be run by itself. Raises UserError where the
    launch is refused.
    """
    kernel = on_chip(launched, machine.chip.sms)
    if kernel.cluster_blocks > 1 or synchronises(kernel) or (work := work_of_sm(kernel, machine)) is None:
        return None
    prefix = run_prefix(kernel, machine, instructions, of=work)
    if prefix.ended:
        return prefix.cycles
    return prefix.cycles + max(0.0, work - prefix.issued) * prefix.rate


@stage("profile")
def work_of_sm(kernel: Kernel, machine: Machine) -> float | None:
    """Return about how many warp instructions the SM's blocks have; None if one can't be run by itself, or is endless.

    The kernel is as it is on the machine's chip.
    """
    ids, count = blocks_of_sm(kernel, machine), counter(kernel, machine)
    many, known = min(LOOKED_AT, len(ids)), countable(kernel)
    works: list[int] = []
    for place in range(many):
        try:
            found = counted(count, [ids[(2 * place + 1) * len(ids) // (2 * many)]], LIMIT)
        except LimitError:
            return None
        if found.of[0] == FAULTY:
            return None
        works.append(int(found.work[0]))
        if not known and sum(works) > COUNTED:
            break
    return len(ids) * sum(works) / len(works)
