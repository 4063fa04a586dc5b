"""The result of one SM from a sample of its blocks: whole waves, from which the time of all follows."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from math import ceil

import numpy as np
from numpy.typing import NDArray

from gpusim.bounds.block_classes import bordering, classes
from gpusim.bounds.bounds import LIMIT, Bound, starts_of_blocks
from gpusim.bounds.of_run import Bounding, enough
from gpusim.bounds.profiled import are_alike, holds
from gpusim.engines.busiest_sm import blocks_of_sm
from gpusim.engines.estimated import summing_up
from gpusim.engines.sm_run import SmRun
from gpusim.launch.caches.left_out import stands
from gpusim.launch.feed import EXECUTION_DRIVEN, TRACE_DRIVEN
from gpusim.machine.machine import Machine
from gpusim.machine.occupancy import occupancy
from gpusim.simulation.result import Result, scaling_of
from gpusim.simulation.verify import UNCHECKED, verified
from gpusim.simulation.waves import Share, estimate
from gpusim.support.stages import stage
from isa.errors import UserError
from isa.kernel import Kernel
from isa.row import Unit

LONG = 4_000_000  # warp instructions of a wave whose begin is a small part of it


class DifferingBlocksError(UserError):
    """A sample was asked for of a launch whose blocks differ, so that none can stand for all."""


def sampled(
    kernel: Kernel,
    machine: Machine,
    engine: str,
    observed: Callable[..., SmRun],
    bounding: Bounding,
    sample: int,
    tolerance: int,
    values: bool,
) -> Result:
    """Return the estimate from a sample, or from all blocks if they are few; raises UserError where blocks differ.

    `tolerance`: parts in a million by which steady loops may be wrong that are taken at their mean cost; 0: none are.
    """
    share = _share(kernel, machine, tolerance)
    blocks = share.sampled(sample)
    feed = EXECUTION_DRIVEN if values else TRACE_DRIVEN
    run = observed(feed=feed, blocks=blocks, last=share.rest, part=True, tolerance=tolerance)
    run = summing_up(run) if run.estimated else run
    limits, no_bound = bounding(run)
    if blocks == share.blocks:
        cycles, scaling = run.cycles, scaling_of(run, blocks, "complete", "", tolerance)
    else:
        if not _alike(kernel, machine, run, limits):
            share = replace(share, work=_work(kernel, machine, enough(kernel, run)))
        found = estimate(share, run)
        starts = ceil(starts_of_blocks(machine, share.blocks, share.resident))  # which the first wave doesn't feel
        cycles = max(found.cycles, starts)
        scaling = scaling_of(run, share.blocks, "waves" if share.work is None else "work", found.checked, tolerance)
    return Result(
        kernel=kernel,
        machine=machine,
        engine=engine,
        cycles=cycles,
        run=run,
        scaling=scaling,
        verification=verified(kernel, machine, run, places=share.simulated(blocks)) if values else UNCHECKED,
        bound=limits,
        no_bound=no_bound,
        growth=share.growth(blocks),
    )


@stage("profile")
def _share(kernel: Kernel, machine: Machine, tolerance: int) -> Share:
    """Return the SM's blocks; of an estimate with a tolerance one wave is enough, if it is long by itself.

    Not where registers are spilled: the blocks of the first wave find no local memory of others in the L2.
    """
    every, resident = len(blocks_of_sm(kernel, machine)), occupancy(kernel, machine).blocks
    spills = any(i.row.unit is Unit.LOCAL for i in kernel.program.instructions)
    long = bool(tolerance) and not spills and (holds(kernel, machine, LONG, LIMIT) or resident) < resident
    brings = stands(machine) and min(machine.chip.sms, kernel.blocks) > 1
    return Share(every, resident, least=1 if long else 2, brings=brings)


@stage("profile")
def _alike(kernel: Kernel, machine: Machine, run: SmRun, limits: Bound | None) -> bool:
    """Return whether the SM's blocks are alike; where the bound doesn't say it, it is worked out, if that ends."""
    if limits:
        return limits.alike
    with suppress(UserError):
        return are_alike(kernel, machine, blocks_of_sm(kernel, machine), enough(kernel, run))
    return False


def _work(kernel: Kernel, machine: Machine, limit: int) -> NDArray[np.int64]:
    """Return the warp instructions of each of the SM's blocks; raises UserError unless half of these are of a class."""
    ids = blocks_of_sm(kernel, machine)
    found = classes(kernel, ids, limit, machine, threads=False) or bordering(kernel, ids, limit, machine)
    if found is None or 2 * max(map(len, found.members())) < len(found.of):
        raise DifferingBlocksError(
            f"{kernel.name}: its blocks differ, so that a sample can't stand for all; sample all"
        )
    return found.work
