"""The result of a simulated launch: cycles, checked values, bound and stalls, and how they were found."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated

from gpusim.bounds import rates
from gpusim.bounds.bounds import Bound
from gpusim.engines.sm_run import SmRun
from gpusim.machine.machine import Machine
from gpusim.machine.occupancy import Occupancy
from gpusim.simulation import memory_account
from gpusim.simulation.memory_account import MemoryAccount
from gpusim.simulation.verify import Verification
from gpusim.support.document import doc
from isa.dataflow.waits.missing_waits import MissingWait, missing_waits
from isa.kernel import Kernel
from isa.nvidia.system.printed import printed
from isa.support import frozen

if TYPE_CHECKING:
    from gpusim.engines.walks.happens_before.conflicts import Race


@dataclass(frozen=True)
class Estimated:
    """An estimate that was asked for: of how many cycles, and by how many percent all cycles may be wrong.

    `spread_percent` is what the spread of the simulated cycles tells, with a confidence of 99 %, and at most the error
    that was asked for. Both are 0 where nothing was estimated.
    """

    cycles: int
    error_percent: float
    spread_percent: float


@dataclass(frozen=True)
class Scaling:
    """How the cycles of the SM's share of the grid, or of several SMs, were found.

    `method` is complete, waves, or work: whole waves of blocks that differ, scaled by what blocks execute; or steady:
    loops and waves at their mean cost; or waves+steady, work+steady: both.
    `blocks_of_sm` counts the blocks of the simulated SM, or of all.
    """

    simulated_blocks: int
    blocks_of_sm: int
    method: str
    error_checked: Annotated[
        str,
        doc("Deviation of the sample from what half its waves predict; empty below four waves and for complete runs."),
    ]
    estimate: Annotated[Estimated | None, doc("Present if an estimate was asked for.")] = None


def scaling_of(run: SmRun, blocks: int, method: str, checked: str, tolerance: int) -> Scaling:
    """Return how the cycles of so many blocks follow from a run, which may have taken steady parts at once."""
    if run.estimated:
        method = "steady" if method == "complete" else f"{method}+steady"
    asked = tolerance / 10_000 if run.estimated else 0.0
    error = Estimated(run.estimated, asked, 100 * run.doubt / run.cycles) if tolerance else None
    return Scaling(run.blocks, blocks, method, checked, error)


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
        if not self.kernel.racy:
            return None
        from gpusim.engines.walks.races import races  # noqa: PLC0415  (start-up time)

        return tuple(races(self.kernel, (0,)))

    @cached_property
    def missing_waits(self) -> tuple[MissingWait, ...]:
        """Waits that machine code lacks, whose results are taken as in time; empty for other programs."""
        return missing_waits(self.kernel.program) if self.kernel.target else ()

    @property
    def percent_of_peak(self) -> float | None:
        """100 gflops / peak_gflops; None where the kernel counts no operations."""
        return rates.percent_of_peak(self.kernel, self.machine, self.cycles)
