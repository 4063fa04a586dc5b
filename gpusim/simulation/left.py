"""What a launch leaves in memory where its run has simulated some of its blocks: the others follow in program order."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gpusim.engines.simulate import threads_for
from gpusim.engines.walks import side_by_side
from gpusim.launch.feed import EXECUTION_DRIVEN
from gpusim.machine.simulated_sms import simulated_blocks
from gpusim.simulation.result import Result
from isa.executing.beyond import Beyond, joined
from isa.kernel import Kernel
from isa.nvidia.system.printed import prints

MANY = 2_000_000  # warp instructions, of which the first second has about as many


def printed_by_all(result: Result) -> bool:
    """Tell whether a run has computed values of a kernel that may print, of which `left` finds the rest."""
    return prints(result.kernel) and result.run.feed == EXECUTION_DRIVEN and result.growth == 1


def complete(result: Result, threads: int | None) -> Result:
    """Return a result whose memory all blocks have worked in."""
    memory, beyond = left(result.kernel, result, threads)
    return replace(result, run=replace(result.run, memory=memory, beyond=beyond))


def left(kernel: Kernel, result: Result, threads: int | None) -> tuple[NDArray[np.uint32], Beyond | None]:
    """Return global memory after the launch: the simulated blocks', then that of all others in program order.

    And the loads behind buffers of all these. Many blocks are run on so many threads.
    """
    held, ran = result.run.memory, result.run.blocks
    if ran == kernel.blocks:
        return held, result.run.beyond
    simulated = simulated_blocks(kernel, result.machine, result.run.sms, result.run.first_sm)[:ran]
    others = sorted(set(range(kernel.blocks)) - set(simulated))
    long = result.run.warp_instructions * len(others) > MANY * ran
    after = side_by_side.walk(kernel, others, held, threads_for(len(others), threads) if long else 1)
    return after.memory, joined((result.run.beyond, after.beyond))
