"""The results of a run as plain numbers: a row of a table of many runs, a column of a comparison."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated

import msgspec
from msgspec import UNSET, UnsetType

from gpusim.analysis.account.rates.memory_rates import DRAM, L2, memory_rates
from gpusim.analysis.account.stalls import lost_slots, warp_cycles
from gpusim.machine.machine import seconds
from gpusim.simulation.result import Result
from gpusim.support.document import Gflops, OfPeak, doc
from gpusim.support.plural import plural


class Figures(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One launch on one machine; cycles are shader cycles, rates those of the chip.

    `used` and `lost` add up to the cycles exactly: issue slots used, and those lost by stall reason, as cycles of the
    mean scheduler. `stalls` are percent of the warp-cycles by reason. `limits` are those of the bound in percent of the
    cycles: the least share for which each unit is busy, and the share that a chain of dependences takes.
    """

    cycles: int
    milliseconds: float
    gflops: Gflops
    percent_of_peak: OfPeak
    dram_gbs: Annotated[float | None, doc("10^9 bytes per second of the DRAM; null where the run knows none.")]
    percent_of_dram: Annotated[
        float | None,
        doc("Percent of what arrives of its bandwidth; over 100 if many bytes are still on their way at the end."),
    ]
    l2_gbs: Annotated[float | None, doc("10^9 bytes per second of the L2; null where the run knows none.")]
    percent_of_l2: Annotated[float | None, doc("Percent of the time in which it is busy.")]
    instructions_per_cycle: Annotated[float, doc("Thread instructions, per cycle and SM.")]
    warp_instructions: Annotated[int, doc("Warp instructions of an SM.")]
    bound_cycles: Annotated[int, doc("0 if there is no bound.")]
    bound_limiter: str
    blocks: Annotated[int, doc("Blocks resident on an SM.")]
    warps: int
    occupancy_limiter: str
    registers: Annotated[int, doc("32-bit registers of a thread.")]
    shared_bytes: Annotated[int, doc("Bytes of shared memory of a block.")]
    used: float
    lost: dict[str, float]
    stalls: dict[str, float]
    limits: dict[str, float]
    error_percent: Annotated[
        float | UnsetType, doc("By how much the cycles may be wrong; present if an estimate was asked for.")
    ] = UNSET


def figures(result: Result) -> Figures:
    """Return the figures of a result."""
    run, program = result.run, result.kernel.program
    of_slot = result.cycles / (run.cycles * len(run.lost))
    lost = {reason: of_slot * slots for reason, slots in lost_slots(run).items()}
    waits, memory = warp_cycles(run), {rate.level: rate for rate in memory_rates(result)}
    return Figures(
        cycles=result.cycles,
        milliseconds=1000 * seconds(result.machine, result.cycles),
        gflops=result.gflops,
        percent_of_peak=result.percent_of_peak,
        dram_gbs=memory[DRAM].gbs if DRAM in memory else None,
        percent_of_dram=memory[DRAM].percent if DRAM in memory else None,
        l2_gbs=memory[L2].gbs if L2 in memory else None,
        percent_of_l2=memory[L2].percent if L2 in memory else None,
        instructions_per_cycle=result.thread_instructions_per_cycle,
        warp_instructions=result.warp_instructions,
        bound_cycles=result.bound.cycles if result.bound else 0,
        bound_limiter=result.bound.limiter if result.bound else "",
        blocks=result.occupancy.blocks,
        warps=result.occupancy.warps,
        occupancy_limiter=result.occupancy.limiter,
        registers=program.registers,
        shared_bytes=program.shared_bytes,
        used=result.cycles - sum(lost.values()),
        lost=lost,
        stalls={reason: 100 * cycles / sum(waits.values()) for reason, cycles in waits.items()},
        limits={n: 100 * cycles / result.cycles for n, cycles in (result.bound.limits if result.bound else {}).items()},
        error_percent=result.scaling.estimate.error_percent if result.scaling.estimate else UNSET,
    )


def estimates(each: Sequence[Figures], noun: str) -> Iterator[str]:
    """Yield a line if cycles are estimated: of how many, and how wrong they may be; `noun` names one of these."""
    errors = [found.error_percent for found in each if found.error_percent]
    if errors:
        some = f"{len(errors):,} of {plural(len(each), noun)}"
        yield f"ESTIMATES: cycles of {some} may be wrong by {max(errors):g} % at most"
