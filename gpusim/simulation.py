"""Simulate a launch: cycles, checked values, bound and stalls in one result.

Time is that of the SM that gets the most blocks of the grid, with its fair share of the memory bandwidth. A launch of
many waves of resident blocks is sampled: cycles(b) is simulated for the first wave and for several whole waves, the
waves between grow linearly, and the blocks behind the last whole wave take what they take behind the first one:

    cycles = c(several) + (waves - several) (c(several) - c(1)) / (several - 1) + c(1 wave + rest) - c(1 wave)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

import msgspec

from gpusim import machine as model
from gpusim.analysis import rates
from gpusim.analysis.bounds import Bound, bound
from gpusim.engines.simulate import Progress, SmRun, run_sm
from gpusim.feed import EXECUTION, REPLAY
from gpusim.machine import Machine
from gpusim.occupancy import Occupancy, occupancy
from gpusim.state import NEVER
from gpusim.verify import UNCHECKED, Verification, verify
from isa.errors import UserError
from isa.kernel import Kernel
from isa.memory import image

BUDGET = {"compiled": 8_000_000, "reference": 400_000}  # warp instructions beyond which a launch is sampled
CHECKED = "within 1 % of all blocks at sgemm-lai 1920 x 1920 x 1920 on gtx580"  # tests/test_simulation.py
UNKNOWN = "not compared with all blocks for this kernel and machine"
Sample = int | str | None


@dataclass(frozen=True)
class Scaling:
    """How the cycles of the SM's share of the grid were found: `method` is complete or waves."""

    simulated_blocks: int
    blocks_of_sm: int
    method: str
    error_checked: str  # in words; empty for a complete run


@dataclass(frozen=True, repr=False)
class Result:
    """One launch on one machine. `run` holds the simulated blocks, `cycles` counts for all blocks of the SM.

    Cycles are shader cycles; rates are of the whole chip, figures per cycle of one SM.
    """

    kernel: Kernel
    machine: Machine
    engine: str
    cycles: int
    run: SmRun
    scaling: Scaling
    verification: Verification
    bound: Bound

    def __repr__(self) -> str:
        """One line; the arrays of the run would take pages."""
        found = self.verification
        values = "wrong" if found.wrong else "right" if found.verified else "unchecked"
        rate = f"{self.gflops:.1f} GFLOP/s, " if self.kernel.flops else ""
        bound = f"bound {self.bound.cycles:,} ({self.bound.limiter})"
        return f"<{self.kernel.name} on {self.machine.key}: {self.cycles:,} cycles, {rate}values {values}, {bound}>"

    @property
    def occupancy(self) -> Occupancy:
        """Resident blocks and warps of a full SM."""
        return self.run.occupancy

    @property
    def growth(self) -> float:
        """Blocks of the SM over simulated blocks: what counts of the run are multiplied by."""
        return self.scaling.blocks_of_sm / self.scaling.simulated_blocks

    @property
    def warp_instructions(self) -> int:
        """Warp instructions that the SM issues for its blocks."""
        return round(self.run.warp_instructions * self.growth)

    @property
    def thread_instructions_per_cycle(self) -> float:
        """Thread instructions whose guard holds, per cycle of the SM."""
        return float(self.run.active.sum()) * self.growth / self.cycles

    @property
    def gflops(self) -> float:
        """The launch's operations, as its kernel counts them, over its time, in 10^9 per second."""
        return rates.gflops(self.kernel, self.machine, self.cycles)

    @property
    def peak_gflops(self) -> float:
        """Peak of the chip in the kernel's precision, 10^9 operations per second."""
        return rates.peak_gflops(self.kernel, self.machine)

    @property
    def percent_of_peak(self) -> float:
        """100 gflops / peak_gflops."""
        return 100 * self.gflops / self.peak_gflops


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
    trace: bool = False,
) -> Result:
    """Simulate a launch on a machine, given as such or by name, and check its values.

    Without `values` only time is found. `policy` replaces the machine's scheduling policy. `sample` is the number of
    blocks to simulate, rounded up to whole waves and at least two, or "all"; None: all, unless they are too many.
    `progress(blocks done, blocks in all)` is called now and then. Raises UserError where kernel and machine don't fit,
    ExecutionError at a fault, DeadlockError, and LimitError beyond `max_cycles`.
    """
    machine = _with_policy(model.load(machine) if isinstance(machine, str) else machine, policy)
    limit = NEVER if max_cycles is None else max_cycles
    runner = partial(run_sm, kernel, machine, engine=engine, max_cycles=limit, memory=image(kernel))
    share = -(-kernel.blocks // machine.chip.sms)
    fits = occupancy(kernel, machine).blocks
    limits = cache(lambda: bound(kernel, machine))
    first, count = _blocks_to_simulate(runner, share, fits, _valid(sample), BUDGET.get(engine, 0))
    if first is not None and not limits().alike:
        if sample is not None:
            raise UserError(
                f"{kernel.name}: its blocks do not all do the same, so some can't stand for all; sample all"
            )
        first, count = None, share
    run = runner(feed=EXECUTION if values else REPLAY, blocks=count, trace=trace, progress=progress)
    cycles = run.cycles if first is None else _scaled(runner, share, fits, first, run)
    return Result(
        kernel=kernel,
        machine=machine,
        engine=engine,
        cycles=cycles,
        run=run,
        scaling=Scaling(count, share, *(("complete", "") if first is None else ("waves", _checked(kernel, machine)))),
        verification=_verified(kernel, machine, run) if values else UNCHECKED,
        bound=limits(),
    )


def _valid(sample: Sample) -> Sample:
    if sample is None or sample == "all" or (isinstance(sample, int) and sample >= 1):
        return sample
    raise UserError(f"sample={sample}: give a number of blocks, or all")


def _checked(kernel: Kernel, machine: Machine) -> str:
    """How far scaling was compared with simulating every block."""
    return CHECKED if kernel.name == "sgemm-lai" and machine.key.startswith("gtx580") else UNKNOWN


def _with_policy(machine: Machine, policy: str | None) -> Machine:
    if policy is None:
        return machine
    return msgspec.structs.replace(machine, schedulers=msgspec.structs.replace(machine.schedulers, policy=policy))


def _blocks_to_simulate(
    runner: Callable[..., SmRun], share: int, resident: int, sample: Sample, budget: int
) -> tuple[SmRun | None, int]:
    """Return the run of the first wave, None if nothing is to be scaled, and the number of blocks to simulate."""
    waves = share // resident
    if sample == "all" or waves < 3:
        return None, share
    first = runner(feed=REPLAY, blocks=resident)
    affordable = budget // first.warp_instructions if sample is None else -(-int(sample) // resident)
    chosen = max(2, affordable)
    return (first, chosen * resident) if chosen * resident < share else (None, share)


def _scaled(runner: Callable[..., SmRun], share: int, resident: int, first: SmRun, run: SmRun) -> int:
    """Cycles of all blocks, from those of the first wave and of several waves."""
    waves, rest = divmod(share, resident)
    several = run.blocks // resident
    wave = (run.cycles - first.cycles) / (several - 1)
    tail = runner(feed=REPLAY, blocks=resident + rest).cycles - first.cycles if rest else 0
    return round(run.cycles + (waves - several) * wave) + tail


def _verified(kernel: Kernel, machine: Machine, run: SmRun) -> Verification:
    blocks = range(0, kernel.blocks, machine.chip.sms)[: run.blocks]
    return verify(kernel, run.memory, blocks, run.warp_instructions / run.blocks / kernel.warps)
