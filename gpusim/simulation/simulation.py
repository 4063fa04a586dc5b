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

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from gpusim.bounds import rates
from gpusim.bounds.block_classes import classes
from gpusim.bounds.bounds import STARTS, Bound, NoBoundError, bound, works
from gpusim.bounds.of_run import Limits, bound_of_run, enough
from gpusim.engines.busiest_sm import busiest_sm
from gpusim.engines.endless_wait import BlocksWaitError
from gpusim.engines.estimated import MILLION, adding_up, summing_up, tolerated
from gpusim.engines.simulate import Progress, check_engine, run_chip, run_sm
from gpusim.engines.sm_run import ChipRun, SmRun
from gpusim.engines.walks import touched_lines
from gpusim.engines.walks.happens_before.conflicts import Race
from gpusim.engines.walks.profile import first_profile
from gpusim.engines.walks.races import races as find_races
from gpusim.launch.feed import EXECUTION_DRIVEN, TRACE_DRIVEN, recordable
from gpusim.machine import machine as model
from gpusim.machine.machine import Machine
from gpusim.machine.occupancy import Occupancy, check_cooperative, occupancy
from gpusim.machine.simulated_sms import Sms, blocks_of, simulated_blocks
from gpusim.simulation import memory_account
from gpusim.simulation.asked import WAITING, Sample, several_of, valid, why_all, with_policy
from gpusim.simulation.meanwhile import begun
from gpusim.simulation.memory_account import MemoryAccount
from gpusim.simulation.scaling import Scaling, scaling_of
from gpusim.simulation.verify import UNCHECKED, Verification, verify
from gpusim.simulation.waves import Share, estimate
from gpusim.sm.unit.capacities import NEVER
from isa.dataflow.waits.missing_waits import MissingWait, missing_waits
from isa.errors import LimitError, UserError
from isa.kernel import Kernel
from isa.memory import length
from isa.nvidia.abi.load import on_chip
from isa.nvidia.system.printed import printed, prints
from isa.support import frozen

BUDGET = {"compiled": 4_000_000, "reference": 400_000}  # warp instructions whose values are computed by default
WALK_BYTES = 1 << 24  # of memory: filling them takes about as long as walking through a block


class DifferingBlocksError(UserError):
    """A sample was asked for of a launch whose blocks differ, so that none can stand for all."""


@frozen.comparable
@dataclass(frozen=True, repr=False)
class Result:
    """One launch on one machine. `run` holds the simulated blocks, `cycles` counts for all blocks of the SM, or SMs.

    Cycles are shader cycles; rates are of the whole chip, figures per cycle are of one SM; `run` is a ChipRun if all
    SMs were simulated.
    """

    kernel: Kernel
    machine: Machine
    engine: str
    cycles: int
    run: SmRun
    scaling: Scaling
    verification: Verification
    bound: Bound | None
    no_bound: str = ""  # why there is none
    all_sms: str = ""  # why all SMs were simulated in place of one
    growth: float = 1  # blocks of the SM over simulated ones, or their work if they differ: the factor for counts

    def __repr__(self) -> str:
        """Return one line; the arrays of the run would take pages."""
        found = self.verification
        values = "wrong" if found.wrong else "right" if found.verified else "unchecked"
        rate = "" if self.gflops is None else f"{self.gflops:.1f} GFLOP/s, "
        bound = f"bound {self.bound.cycles:,} ({self.bound.limiter})" if self.bound else "no bound"
        return f"<{self.kernel.name} on {self.machine.key}: {self.cycles:,} cycles, {rate}values {values}, {bound}>"

    @property
    def printed(self) -> str:
        """What blocks have printed, as far as memory is known: those simulated with values, or all."""
        return printed(self.kernel, self.run.memory)

    @property
    def occupancy(self) -> Occupancy:
        """Resident blocks and warps of a full SM."""
        return self.run.occupancy

    @property
    def sms(self) -> int:
        """SMs that were simulated."""
        return self.run.sms

    @cached_property
    def memory(self) -> MemoryAccount:
        """What the launch moved at each level of memory, by instruction and buffer."""
        return memory_account.of_run(self.kernel, self.machine, self.run)

    @property
    def warp_instructions(self) -> int:
        """Warp instructions that the simulated SM issues for its blocks, or that all simulated SMs issue."""
        return round(self.run.warp_instructions * self.growth)

    @property
    def thread_instructions_per_cycle(self) -> float:
        """Thread instructions whose guard holds, per cycle and simulated SM."""
        return float(self.run.active.sum()) * self.growth / self.cycles / self.run.sms

    @property
    def gflops(self) -> float | None:
        """The launch's operations over its time, in 10^9 per second; None where its kernel counts none."""
        return rates.gflops(self.kernel, self.machine, self.cycles)

    @property
    def peak_gflops(self) -> float:
        """Peak of the chip in the kernel's precision, 10^9 operations per second."""
        return rates.peak_gflops(self.kernel, self.machine)

    @cached_property
    def races(self) -> tuple[Race, ...] | None:
        """Races in the first block, one for each pair of instructions; None, not searched, for kernels not racy."""
        return tuple(find_races(self.kernel, (0,))) if self.kernel.racy else None

    @cached_property
    def missing_waits(self) -> tuple[MissingWait, ...]:
        """Waits that machine code lacks, whose results are taken as in time; empty for other programs."""
        return missing_waits(self.kernel.program) if self.kernel.target else ()

    @property
    def percent_of_peak(self) -> float | None:
        """100 gflops / peak_gflops; None where the kernel counts no operations."""
        return rates.percent_of_peak(self.kernel, self.machine, self.cycles)


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
    no values are computed; of a sample, only loops. Raises UserError where kernel and machine don't fit, ExecutionError
    at a fault, DeadlockError, and LimitError beyond `max_cycles`.
    """
    if not isinstance(kernel, Kernel):
        raise UserError(f"kernel={kernel!r}: no kernel; make one with workloads.catalog.make or isa.text.listing.load")
    check_engine(engine)
    machine = with_policy(model.load(machine) if isinstance(machine, str) else machine, policy)
    kernel = on_chip(kernel, machine.chip.sms)
    check_cooperative(kernel, machine)  # refuses launches that don't fit before anything is computed
    limit = NEVER if max_cycles is None else max_cycles
    whole_sample = sample if sample == "all" else None
    tolerance = tolerated(estimate, engine=engine, sample=whole_sample, sms=sms, trace=trace, fast_forward=fast_forward)
    several = several_of(kernel, machine, sms, sample, threads)
    whole = partial(run_chip, kernel, machine, engine=engine, max_cycles=limit, trace=trace, progress=progress)
    if several:
        return _of_several(kernel, machine, partial(whole, threads=threads, sms=several), values, why_all(kernel, sms))
    runner = partial(run_sm, kernel, machine, engine=engine, max_cycles=limit, fast_forward=fast_forward)
    observed = partial(runner, trace=trace, progress=progress)
    try:
        return _of_one_sm(kernel, machine, engine, runner, observed, sample, tolerance, values)
    except BlocksWaitError:  # no SM can stand for others
        return _of_several(kernel, machine, whole, values, WAITING)


def _of_one_sm(
    kernel: Kernel,
    machine: Machine,
    engine: str,
    runner: Callable[..., SmRun],
    observed: Callable[..., SmRun],
    sample: Sample,
    tolerance: int,
    values: bool,
) -> Result:
    """Return the result of the SM that stands for all; raises BlocksWaitError where its blocks wait for others'."""
    if isinstance(valid(sample), int):
        return _sampled(kernel, machine, engine, observed, int(sample or 0), tolerance, values and not tolerance)
    if tolerance:
        return _estimated(kernel, machine, observed, tolerance)
    if values:
        run, verification, limits = _timed_and_checked(kernel, machine, engine, runner, observed, sample)
    else:
        run, verification = observed(feed=TRACE_DRIVEN), UNCHECKED
        limits = bound_of_run(kernel, machine, run)
    scaling = Scaling(run.blocks, run.blocks, "complete", "")
    return Result(kernel, machine, engine, run.cycles, run, scaling, verification, *limits)


def _estimated(kernel: Kernel, machine: Machine, observed: Callable[..., SmRun], tolerance: int) -> Result:
    """Return the result of a run of one SM that was estimated where it was steady, if its doubt is tolerated."""
    run = observed(feed=TRACE_DRIVEN, tolerance=tolerance * 4 // 5)  # counts may add to its doubt
    limits = bound_of_run(kernel, machine, run)
    if run.estimated and limits[0] and limits[0].alike and not limits[0].order_dependent:
        each, many = works(kernel, machine, limit=enough(kernel, run))
        run = adding_up(run, np.sum([work.profile.counts * work.blocks for work in each], axis=0) * int(many))
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
    sample: Sample,
) -> tuple[SmRun, Verification, Limits]:
    """Time every block of the SM, with values if that is quick; else check some meanwhile, then bound it."""
    share = len(_of_sm(kernel, machine))
    few = share if sample == "all" or prints(kernel) else _affordable(kernel, machine, engine)
    if few is not None and few < share:
        with ThreadPoolExecutor(1) as thread:
            check = thread.submit(_checked_run, kernel, machine, runner, few)
            limits = begun(partial(_bound_after, check, kernel, machine))
            run = observed(feed=TRACE_DRIVEN)
        early = limits()
        return run, check.result(), (early, "") if early else bound_of_run(kernel, machine, run)
    if few is None:
        run = observed(feed=TRACE_DRIVEN)
        few = max(1, run.blocks * BUDGET[engine] // run.warp_instructions)
        if few < run.blocks:
            return run, _checked_run(kernel, machine, runner, few), bound_of_run(kernel, machine, run)
    run = observed(feed=EXECUTION_DRIVEN)
    return run, _verified(kernel, machine, run), bound_of_run(kernel, machine, run)


def _bound_after(check: Future[Verification], kernel: Kernel, machine: Machine) -> Bound | None:
    """Wait for the check, so that it has a core, and return the bound; None if a block is too long for it so far."""
    wait([check])
    with suppress(LimitError, NoBoundError):
        return bound(kernel, machine)
    return None


def _of_sm(kernel: Kernel, machine: Machine) -> range:
    """Return the blocks of the SM that stands for all."""
    return blocks_of(kernel, machine, 1, busiest_sm(kernel, machine))


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
    return _verified(kernel, machine, runner(blocks=blocks, lines=lines), lines)


def _sampled(
    kernel: Kernel,
    machine: Machine,
    engine: str,
    observed: Callable[..., SmRun],
    sample: int,
    tolerance: int,
    values: bool,
) -> Result:
    """Return the estimate from a sample, or from all blocks if they are few; raises UserError where blocks differ."""
    share = Share(len(_of_sm(kernel, machine)), occupancy(kernel, machine).blocks)
    blocks = share.sampled(sample)
    feed = EXECUTION_DRIVEN if values else TRACE_DRIVEN
    run = observed(feed=feed, blocks=blocks, last=share.rest, tolerance=tolerance)
    run = summing_up(run) if run.estimated else run
    limits, no_bound = bound_of_run(kernel, machine, run)
    if blocks < share.blocks and not (limits and limits.alike):
        share = replace(share, work=_work(kernel, machine, enough(kernel, run)))
    if blocks == share.blocks:
        cycles, scaling = run.cycles, scaling_of(run, blocks, "complete", "", tolerance)
    else:
        found = estimate(share, run)
        cycles = max(found.cycles, limits.limits.get(STARTS, 0) if limits else 0)  # which the first wave doesn't feel
        scaling = scaling_of(run, share.blocks, "waves" if share.work is None else "work", found.checked, tolerance)
    return Result(
        kernel=kernel,
        machine=machine,
        engine=engine,
        cycles=cycles,
        run=run,
        scaling=scaling,
        verification=_verified(kernel, machine, run, places=share.simulated(blocks)) if values else UNCHECKED,
        bound=limits,
        no_bound=no_bound,
        growth=share.growth(blocks),
    )


def _work(kernel: Kernel, machine: Machine, limit: int) -> NDArray[np.int64]:
    """Return the warp instructions of each of the SM's blocks; raises UserError unless half of these are of a class."""
    found = classes(kernel, _of_sm(kernel, machine), limit)
    if found is None or 2 * max(map(len, found.members())) < len(found.of):
        raise DifferingBlocksError(
            f"{kernel.name}: its blocks differ, so that a sample can't stand for all; sample all"
        )
    return found.work


def _of_several(kernel: Kernel, machine: Machine, whole: Callable[..., ChipRun], values: bool, why: str) -> Result:
    """Return the result of a run of all SMs, or of a sample of them; `why` not of one as asked."""
    run = whole(feed=EXECUTION_DRIVEN if values else TRACE_DRIVEN)
    scaling = Scaling(run.blocks, run.blocks, "complete", "")
    verification = _verified(kernel, machine, run) if values else UNCHECKED
    limits = bound_of_run(kernel, machine, run)
    return Result(kernel, machine, run.engine, run.cycles, run, scaling, verification, *limits, all_sms=why)


def _lines(kernel: Kernel, machine: Machine, blocks: int) -> NDArray[np.bool_] | None:
    """Lines of memory that so many blocks of the SM touch; None if filling all memory is quicker than finding them."""
    if 4 * length(kernel) < blocks * WALK_BYTES or not recordable(kernel):
        return None
    return touched_lines.lines(kernel, _of_sm(kernel, machine)[:blocks])


def _verified(
    kernel: Kernel,
    machine: Machine,
    run: SmRun,
    lines: NDArray[np.bool_] | None = None,
    places: Sequence[int] | None = None,
) -> Verification:
    """Verify the values of a run of the SM's first blocks, or of those with these places."""
    every = simulated_blocks(kernel, machine, run.sms, run.first_sm)
    blocks = every[: run.blocks] if places is None else [every[place] for place in places]
    return verify(kernel, run.memory, blocks, run.warp_instructions / run.blocks / kernel.warps, lines)
