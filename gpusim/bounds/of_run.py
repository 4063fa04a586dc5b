"""The bound of a launch that ran to its end, or why there is none."""

from __future__ import annotations

from collections.abc import Callable

from gpusim.bounds.bounds import LIMIT, Bound, bound
from gpusim.engines.sm_run import SmRun
from gpusim.launch.feed import countable
from gpusim.machine.machine import Machine
from gpusim.support.stages import stage
from isa.dataflow.memory.order_dependence import may_vary
from isa.errors import UserError
from isa.kernel import Kernel

SOME, MORE = 100_000, 4  # warp instructions of a block that may wait for ever, and times those of an SM
Limits = tuple[Bound | None, str]  # or why there is none
Bounding = Callable[[SmRun], Limits]


@stage("bound")
def bound_of_run(kernel: Kernel, machine: Machine, run: SmRun) -> Limits:
    """Return the bound of a launch that ran to its end; or none, and why, if a block by itself does not end."""
    try:
        return bound(kernel, machine, sms=run.sms, limit=enough(kernel, run)), ""
    except UserError as error:
        return None, f"it needs each block by itself, in program order, which does not end: {str(error).split('; ')[0]}"


def unasked(_run: SmRun) -> Limits:
    """Return that there is no bound, as none is asked for."""
    return None, "it was not asked for"


def enough(kernel: Kernel, run: SmRun) -> int:
    """Return the warp instructions of a block beyond which the bound gives up; at least as many as an SM executed.

    If what a block executes may depend on the order of warps, it may wait for ever in program order, or do by itself
    what all blocks do together. It does not where its path depends on no memory.
    """
    most = MORE * (run.warp_instructions // run.sms)
    varies = not countable(kernel) and may_vary(kernel)
    return max(SOME, most) if varies else max(LIMIT, run.warp_instructions)
