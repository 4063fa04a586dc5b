"""Simulate a launch: cycles, checked values, bound and stalls in one result.

On request, and where blocks wait for those of other SMs, time is that of all SMs, or of a sample of them. Otherwise it
is that of the SM with most work, with its fair share of the bandwidth; each of its blocks is simulated.
Values are computed in the same run if that is affordable. For a larger launch on one SM time is found without values
(gpusim/launch/feed.py), and its first blocks are run once more with values, and checked.

With a sample, time is an estimate from whole waves of resident blocks (gpusim/simulation/waves.py). With `estimate`,
one run takes steady loops and waves on at their mean cost (gpusim/sm/replay/fast_forward/estimate.py), and adds up by
how much it may be wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from functools import partial

import numpy as np
from numpy.typing import NDArray

from gpusim.bounds.bounds import Bound, NoBoundError, bound, works
from gpusim.bounds.of_run import Bounding, Limits, bound_of_run, enough, unasked
from gpusim.engines.busiest_sm import blocks_of_sm
from gpusim.engines.endless_wait import BlocksWaitError
from gpusim.engines.estimated import MILLION, adding_up, summing_up, tolerated
from gpusim.engines.simulate import Progress, check_engine, run_chip, run_sm
from gpusim.engines.sm_run import ChipRun, SmRun
from gpusim.engines.walks import touched_lines
from gpusim.engines.walks.profile import first_profile
from gpusim.launch.feed import EXECUTION_DRIVEN, TRACE_DRIVEN, recordable
from gpusim.machine import machine as model
from gpusim.machine.machine import Machine
from gpusim.machine.occupancy import check_cooperative
from gpusim.machine.simulated_sms import Sms
from gpusim.simulation.asked import WAITING, Sample, several_of, valid, why_all, with_policy
from gpusim.simulation.meanwhile import begun
from gpusim.simulation.result import Result, Scaling, scaling_of
from gpusim.simulation.sampled import sampled
from gpusim.simulation.verify import UNCHECKED, Verification, verified
from gpusim.sm.unit.capacities import NEVER
from isa.errors import LimitError, UserError
from isa.kernel import Kernel
from isa.memory import length
from isa.nvidia.abi.on_chip import on_chip
from isa.nvidia.system.printed import prints

BUDGET = {"compiled": 4_000_000, "reference": 400_000}  # warp instructions whose values are computed by default
WALK_BYTES = 1 << 24  # of memory: filling them takes about as long as walking through a block


def simulate(
    kernel: Kernel,
    machine: Machine | str,
    *,
    engine: str = "compiled",
    values: bool = True,
    max_cycles: int | None = None,
    policy: str | None = None,
    progress: Progress | None = None,
    sample: Sample = None,
    sms: Sms = 1,
    trace: bool = False,
    fast_forward: bool = True,
    threads: int | None = None,
    estimate: float | None = None,
    bounded: bool = True,
) -> Result:
    """Simulate a launch on a machine, given as an object or by name, and check its values.

    Without `values` only time is found. `policy` replaces the machine's scheduling policy. `sample` is the number of
    blocks to simulate, rounded up to at least two whole waves, from which the time of all is estimated; "all" computes
    the values of every block; None computes as many as are quick. `fast_forward` skips periods of a recurring state at
    once. `sms`: 1 for the SM with most work, with its share of the bandwidth, "all" for all SMs and every
    block, or a divisor of their number, so many evenly apart; several run on so many `threads` (None: one for each
    core). If its blocks wait for those of other SMs, all SMs are simulated in its place, with every block's values.
    `progress(blocks done, blocks in all)` is called at the start, with none done, and now and then. `estimate`: percent
    by which cycles may be wrong; steady loops and waves are then taken on at their mean cost where no state recurs, and
    no values are computed; of a sample, only loops. Without `bounded` there is no bound. Raises UserError where kernel
    and machine don't fit, ExecutionError at a fault, DeadlockError, and LimitError beyond `max_cycles`.
    """
    if not isinstance(kernel, Kernel):
        raise UserError(f"kernel={kernel!r}: no kernel; make one with workloads.catalog.make or isa.text.listing.load")
    check_engine(engine)
    machine = with_policy(model.load(machine) if isinstance(machine, str) else machine, policy)
    kernel = on_chip(kernel, machine.chip.sms)
    check_cooperative(kernel, machine)  # refuses launches that don't fit before anything is computed
    limit = NEVER if max_cycles is None else max_cycles
    every = sample if sample == "all" else None
    tolerance = tolerated(estimate, engine=engine, sample=every, sms=sms, trace=trace, fast_forward=fast_forward)
    several = several_of(kernel, machine, sms, sample, threads)
    bounding = partial(bound_of_run, kernel, machine) if bounded else unasked
    whole = partial(run_chip, kernel, machine, engine=engine, max_cycles=limit, trace=trace, progress=progress)
    if several:
        several_sms = partial(whole, threads=threads, sms=several)
        return _of_several(kernel, machine, several_sms, bounding, values, why_all(kernel, sms))
    runner = partial(run_sm, kernel, machine, engine=engine, max_cycles=limit, fast_forward=fast_forward)
    observed = partial(runner, trace=trace, progress=progress)
    try:
        return _of_one_sm(kernel, machine, engine, runner, observed, bounding, sample, tolerance, values)
    except BlocksWaitError:  # no SM can stand for others
        return _of_several(kernel, machine, whole, bounding, values, WAITING)


def _of_one_sm(
    kernel: Kernel,
    machine: Machine,
    engine: str,
    runner: Callable[..., SmRun],
    observed: Callable[..., SmRun],
    bounding: Bounding,
    sample: Sample,
    tolerance: int,
    values: bool,
) -> Result:
    """Return the result of the SM that stands for all; raises BlocksWaitError where its blocks wait for others'."""
    if isinstance(valid(sample), int):
        return sampled(
            kernel, machine, engine, observed, bounding, int(sample or 0), tolerance, values and not tolerance
        )
    if tolerance:
        return _estimated(kernel, machine, observed, bounding, tolerance)
    if values:
        run, verification, limits = _timed_and_checked(kernel, machine, engine, runner, observed, bounding, sample)
    else:
        run, verification = observed(feed=TRACE_DRIVEN), UNCHECKED
        limits = bounding(run)
    scaling = Scaling(run.blocks, run.blocks, "complete", "")
    return Result(kernel, machine, engine, run.cycles, run, scaling, verification, *limits)


def _estimated(
    kernel: Kernel, machine: Machine, observed: Callable[..., SmRun], bounding: Bounding, tolerance: int
) -> Result:
    """Return the result of a run of one SM that was estimated where it was steady, if its doubt is tolerated."""
    run = observed(feed=TRACE_DRIVEN, tolerance=tolerance * 4 // 5)  # counts may add to its doubt
    limits = bounding(run)
    if run.estimated and limits[0] and limits[0].alike and not limits[0].order_dependent:
        each, many = works(kernel, machine, limit=enough(kernel, run))
        run = adding_up(run, np.sum([work.profile.counts * work.blocks for work in each], axis=0) * int(many))
    elif run.estimated:
        run = summing_up(run)
    if run.doubt * MILLION > tolerance * run.cycles:
        run = observed(feed=TRACE_DRIVEN)
    scaling = scaling_of(run, run.blocks, "complete", "", tolerance)
    return Result(kernel, machine, run.engine, run.cycles, run, scaling, UNCHECKED, *limits)


def _timed_and_checked(
    kernel: Kernel,
    machine: Machine,
    engine: str,
    runner: Callable[..., SmRun],
    observed: Callable[..., SmRun],
    bounding: Bounding,
    sample: Sample,
) -> tuple[SmRun, Verification, Limits]:
    """Time every block of the SM, with values if that is quick; else check some meanwhile, then bound it."""
    share = len(blocks_of_sm(kernel, machine))
    few = share if sample == "all" or prints(kernel) else _affordable(kernel, machine, engine)
    if few is not None and few < share:
        with ThreadPoolExecutor(1) as thread:
            check = thread.submit(_checked_run, kernel, machine, runner, few)
            limits = begun(partial(_bound_after, check, kernel, machine)) if bounding is not unasked else lambda: None
            run = observed(feed=TRACE_DRIVEN)
        early = limits()
        return run, check.result(), (early, "") if early else bounding(run)
    if few is None:
        run = observed(feed=TRACE_DRIVEN)
        few = max(1, run.blocks * BUDGET[engine] // run.warp_instructions)
        if few < run.blocks:
            return run, _checked_run(kernel, machine, runner, few), bounding(run)
    run = observed(feed=EXECUTION_DRIVEN)
    return run, verified(kernel, machine, run), bounding(run)


def _bound_after(check: Future[Verification], kernel: Kernel, machine: Machine) -> Bound | None:
    """Wait for the check, so that it has a core, and return the bound; None if a block is too long for it so far."""
    wait([check])
    with suppress(LimitError, NoBoundError):
        return bound(kernel, machine)
    return None


def _affordable(kernel: Kernel, machine: Machine, engine: str) -> int | None:
    """Blocks whose values are computed by default, if all are as long as the first; None if only a run can tell."""
    if not recordable(kernel):
        return None
    try:
        first = first_profile(kernel, BUDGET[engine], machine)
    except UserError:
        return None
    return max(1, BUDGET[engine] // int(first.counts.sum()))


def _checked_run(kernel: Kernel, machine: Machine, runner: Callable[..., SmRun], blocks: int) -> Verification:
    """Verify the values of the SM's first blocks."""
    lines = _lines(kernel, machine, blocks)
    return verified(kernel, machine, runner(blocks=blocks, lines=lines), lines)


def _of_several(
    kernel: Kernel, machine: Machine, whole: Callable[..., ChipRun], bounding: Bounding, values: bool, why: str
) -> Result:
    """Return the result of a run of all SMs, or of a sample of them; `why` not of one as asked."""
    run = whole(feed=EXECUTION_DRIVEN if values else TRACE_DRIVEN)
    scaling = Scaling(run.blocks, run.blocks, "complete", "")
    verification = verified(kernel, machine, run) if values else UNCHECKED
    limits = bounding(run)
    return Result(kernel, machine, run.engine, run.cycles, run, scaling, verification, *limits, all_sms=why)


def _lines(kernel: Kernel, machine: Machine, blocks: int) -> NDArray[np.bool_] | None:
    """Lines of memory that so many blocks of the SM touch; None if filling all memory is quicker than finding them."""
    if 4 * length(kernel) < blocks * WALK_BYTES or not recordable(kernel):
        return None
    return touched_lines.lines(kernel, blocks_of_sm(kernel, machine)[:blocks])
