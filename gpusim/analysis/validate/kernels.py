"""Whole kernels that were timed and profiled on a chip, beside their simulation.

A launch has one of four configurations: `solo`, one block on an idle chip; `persm`, one block on each SM; `resident`,
as many as fit on each SM; `full`, a whole problem of many waves. Time is what the kernel's own warps read from their
clock: of a block (the median of all) in the first two, and from the first entry to the last exit on an SM in the
others. One SM is simulated, with all its blocks and its share of the chip's bandwidth; nothing is extrapolated.

Instructions are those that the SM issued. The sectors that loads and stores touch in the L1 are counted in a block's
program, and only of a full grid. Sectors of the L2 and bytes of the DRAM are of a run of their own, as the L2 is empty
when ncu counts. All are times the blocks of the grid.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from gpusim.analysis.validate import l2_counts
from gpusim.analysis.validate.profiler import L1_LOADED, L1_STORED, Profile, ncu_shares
from gpusim.bounds.placement import placements
from gpusim.bounds.sectors import of_profiles
from gpusim.engines.simulate import run_sm
from gpusim.engines.sm_run import SmRun
from gpusim.engines.walks.profile import profile
from gpusim.machine.machine import Machine
from gpusim.machine.simulated_sms import mean
from gpusim.simulation import memory_account
from gpusim.support.parallel.processes import as_done
from isa.dataflow.block_step import block_steps
from isa.kernel import Kernel
from isa.memory import SECTOR_BYTES

CONFIGURATIONS = ("solo", "persm", "resident", "full")
OF_BLOCKS = frozenset({"solo", "persm"})  # their time is that of a block
WARM = {"cache.hits": "tags", "l2.filled": "1"}  # settings: each launch was timed after others of its kind


@dataclass(frozen=True)
class Timed:
    """A launch as it was timed: median cycles of a block or an SM, and milliseconds between events around it."""

    kernel: str
    configuration: str
    cycles: float
    milliseconds: float


Make = Callable[[Timed], Kernel]
Records = Callable[[Kernel, NDArray[np.uint32], Sequence[int]], NDArray[np.int64]]


@dataclass(frozen=True)
class Simulated:
    """A launch as it was simulated: cycles as they were measured, shares of stall reasons by ncu's names.

    `counters` has those of gpusim.analysis.validate.profiler.COUNTERS that are counted here; `flops` are the grid's.
    """

    cycles: float
    blocks_of_sm: int
    flops: int
    counters: Mapping[str, float]
    stalls: Mapping[str, float]


@dataclass(frozen=True)
class Compared:
    """A launch as it was timed, simulated, and profiled if it was."""

    timed: Timed
    simulated: Simulated
    profile: Profile | None

    @property
    def error(self) -> float:
        """(simulated - measured) / measured, of cycles."""
        return self.simulated.cycles / self.timed.cycles - 1


def compared(
    launches: Sequence[Timed],
    machine: Machine,
    profiles: Mapping[tuple[str, str], Profile],
    make: Make,
    records: Records,
    workers: int | None = None,
) -> Generator[Compared, None, None]:
    """Simulate each launch, in any order, over all cores or so many.

    `make(launch)` returns its kernel, `records(kernel, memory, blocks)` the first entry and the last exit of these
    blocks, [block, 2]. The shortest launch comes first, as others wait for its compiled code; then the longest.
    """
    longest = sorted(launches, key=lambda one: one.milliseconds, reverse=True)
    job = partial(_job, machine=machine, make=make, records=records)
    for timed, simulated in as_done(job, [*longest[-1:], *longest[:-1]], workers):
        yield Compared(timed, simulated, profiles.get((timed.kernel, timed.configuration)))


def _job(timed: Timed, machine: Machine, make: Make, records: Records) -> tuple[Timed, Simulated]:
    kernel = make(timed)
    run = run_sm(kernel, mean(machine))
    blocks = range(run.first_sm, kernel.blocks, machine.chip.sms)[: run.blocks]
    sectors = _l1_sectors(kernel) | _moved(kernel, machine) if timed.configuration == "full" else {}
    return timed, Simulated(
        cycles=_cycles(records(kernel, run.memory, blocks), of_blocks=timed.configuration in OF_BLOCKS),
        blocks_of_sm=run.blocks,
        flops=kernel.flops,
        counters={"instructions": _instructions(kernel, run), **sectors},
        stalls=ncu_shares(run.stalls, kernel.program),
    )


def _cycles(clocks: NDArray[np.int64], *, of_blocks: bool) -> float:
    """Return the median time of the blocks, or that of all together."""
    return float(np.median(np.ptp(clocks, axis=1)) if of_blocks else np.ptp(clocks))


def _instructions(kernel: Kernel, run: SmRun) -> float:
    return run.warp_instructions * kernel.blocks / run.blocks


def _moved(kernel: Kernel, machine: Machine) -> dict[str, float]:
    """Return what went between SMs, L2 and DRAM as ncu counts it, if all SMs did as one does whose L2 begins empty."""
    run = run_sm(kernel, l2_counts.cold(machine))
    sectors = {name: each * kernel.blocks / run.blocks for name, each in run.sectors.items()}
    sectors["asked"] = memory_account.of_run(kernel, machine, run).of().l2_read
    read, written = l2_counts.counted(machine, sectors)
    return {
        "l2_read_sectors": read,
        "l2_written_sectors": written,
        "dram_read_bytes": SECTOR_BYTES * sectors["read"],
        "dram_written_bytes": SECTOR_BYTES * sectors["written"],
    }


def _l1_sectors(kernel: Kernel) -> dict[str, float]:
    """Return the sectors of global memory that loads and stores of the grid touch.

    If places of a block are not those of the first one, moved, the first, middle and last block stand for all.
    """
    steps = block_steps(kernel)
    moved = steps is not None and placements(kernel, steps, SECTOR_BYTES, range(kernel.blocks)) is not None
    few = {0} if moved else {0, kernel.blocks // 2, kernel.blocks - 1}
    touched = of_profiles(kernel, [(profile(kernel, block), 1) for block in sorted(few)], range(kernel.blocks))
    found = {L1_LOADED: 0.0, L1_STORED: 0.0}
    for pc, each in touched.items():
        loads = kernel.program.instructions[pc].row.is_load
        found[L1_LOADED if loads else L1_STORED] += float(each.sectors)
    return found
