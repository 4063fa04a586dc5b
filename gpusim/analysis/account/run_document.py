"""The documents of a run and of a bound: what the screens show, for programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from msgspec import UNSET, UnsetType

from gpusim.analysis.account.breakdown import Breakdown, breakdown
from gpusim.analysis.account.findings.diagnosis import diagnosis
from gpusim.analysis.account.findings.finding import Finding
from gpusim.analysis.account.memory.tables import tables
from gpusim.analysis.account.rates.energy import Spent
from gpusim.analysis.account.rates.memory_rates import MemoryRate, memory_rates, used_sms
from gpusim.analysis.account.stalls import Waiting, lost_slots, waited, warp_cycles
from gpusim.bounds.bounds import Bound
from gpusim.engines.sm_run import ChipRun, SmRun
from gpusim.engines.walks.happens_before.conflicts import Race
from gpusim.machine.machine import Machine
from gpusim.machine.occupancy import Occupancy
from gpusim.simulation.result import Result, Scaling
from gpusim.simulation.verify import Verification
from gpusim.support.document import NONE, LaunchDocument, Setting, doc, plain
from gpusim.views.timeline.memory_tables import MemoryTables
from isa.dataflow.waits.missing_waits import MissingWait
from isa.executing.beyond import Beyond
from isa.kernel import Kernel
from isa.nvidia.system.printed import prints


@dataclass(frozen=True)
class OneSm:
    """The shader cycles and blocks of one simulated SM."""

    cycles: int
    blocks: int


class RunDocument(LaunchDocument, frozen=True, tag=3):
    """A simulated launch: values checked, cycles, rates, bound, and where the lost cycles went.

    Cycles are shader cycles. `cycles`, rates and `warp_instructions` are of the whole launch; `stalls`, `lost_slots`
    and `waiting_most` are of the `simulated_cycles`, which are fewer if a sample was requested.
    """

    engine: Annotated[str, doc("compiled or reference.")]
    cycles: Annotated[
        int,
        doc("Shader cycles until the SM with most work is done, or all simulated SMs, and the L2 with their atomics."),
    ]
    warp_instructions: Annotated[int, doc("Warp instructions that this SM, or all simulated SMs, issue.")]
    thread_instructions_per_cycle: Annotated[float, doc("Thread instructions whose guard holds, per cycle and SM.")]
    gflops: Annotated[float | None, doc("10^9 operations per second of the chip; null if the kernel counts none.")]
    peak_gflops: Annotated[float, doc("Peak of the chip in the kernel's precision, 10^9 operations per second.")]
    percent_of_peak: Annotated[float | None, doc("100 gflops / peak_gflops; null if the kernel counts no operations.")]
    verified: Annotated[bool, doc("True if values were compared and all are right.")]
    verification: Verification
    races: Annotated[tuple[Race, ...] | None, doc("Races in the first block; null if the kernel is not known to race.")]
    missing_waits: Annotated[
        tuple[MissingWait, ...],
        doc("Results of machine code that are used, on some path, without a wait for their barrier; a use of each."),
    ]
    beyond: Annotated[
        Beyond | None,
        doc(
            "Loads of machine code behind a buffer, in its last page, by blocks whose addresses were computed; or null."
        ),
    ]
    bound: Annotated[Bound | None, doc("Null if there is none.")]
    no_bound: Annotated[str, doc("Why there is none; empty if there is one.")]
    scaling: Scaling
    sms: Annotated[int, doc("Simulated SMs.")]
    all_sms: Annotated[str, doc("Why all SMs were simulated where one was asked for; empty if none was.")]
    threads: Annotated[int, doc("Threads of this computer that simulated them.")]
    in_turn: Annotated[str, doc("Why SMs took turns on one thread; empty if they ran ahead of each other.")]
    each_sm: Annotated[tuple[OneSm, ...], doc("Each simulated SM.")]
    simulated_cycles: Annotated[int, doc("Shader cycles that were simulated.")]
    skipped_cycles: Annotated[int, doc("Simulated cycles that were skipped in whole periods, exactly.")]
    feed: Annotated[str, doc("The source of what instructions do: execution-driven, address-only or trace-driven.")]
    warp_slots: Annotated[int, doc("Warp slots of all simulated SMs.")]
    stalls: Annotated[Mapping[str, int], doc("Warp-cycles by stall reason, most first.")]
    lost_slots: Annotated[Mapping[str, int], doc("Cycles of unused issue slots of all schedulers by stall reason.")]
    occupancy: Occupancy
    breakdown: Breakdown
    waiting_most: Annotated[Sequence[Waiting], doc("The instructions before which warps wait longest.")]
    memory: Annotated[tuple[MemoryRate, ...], doc("Rates of DRAM and L2, where the run knows them.")]
    moved: Annotated[MemoryTables, doc("What the whole launch moved at each level of memory.")]
    used_sms: Annotated[float, doc("Mean work of all SMs over that of the SM with most work, 0 to 1.")]
    diagnosis: Annotated[tuple[Finding, ...], doc("What limits the launch and what to do, the costliest first.")]
    energy: Annotated[Spent | UnsetType, doc("Present if requested.")] = UNSET
    printed: Annotated[str | UnsetType, doc("What the kernel printed; present if it may print.")] = UNSET


class BoundDocument(LaunchDocument, frozen=True, tag=2):
    """The bound of a launch, which no schedule undercuts, and the blocks that an SM holds; nothing is simulated."""

    bound: Bound
    occupancy: Occupancy


def document(result: Result, settings: Mapping[str, Setting] = NONE, energy: Spent | None = None) -> RunDocument:
    """Return everything that the screen shows as a document.

    `settings` are the numbers of the machine that were replaced for this run.
    """
    return RunDocument(
        **identity(result.kernel, result.machine, settings),
        engine=result.engine,
        cycles=result.cycles,
        warp_instructions=result.warp_instructions,
        thread_instructions_per_cycle=result.thread_instructions_per_cycle,
        gflops=result.gflops,
        peak_gflops=result.peak_gflops,
        percent_of_peak=result.percent_of_peak,
        verified=result.verification.verified,
        verification=result.verification,
        races=result.races,
        missing_waits=result.missing_waits,
        beyond=result.run.beyond,
        bound=result.bound,
        no_bound=result.no_bound,
        scaling=result.scaling,
        sms=result.run.sms,
        all_sms=result.all_sms,
        threads=result.run.threads,
        in_turn=result.run.in_turn,
        each_sm=tuple(OneSm(sm.cycles, sm.blocks) for sm in _each(result.run)),
        simulated_cycles=result.run.cycles,
        skipped_cycles=result.run.skipped,
        feed=result.run.feed,
        warp_slots=result.run.warp_slots,
        stalls=warp_cycles(result.run),
        lost_slots=lost_slots(result.run),
        occupancy=result.occupancy,
        breakdown=breakdown(result),
        waiting_most=waited(result),
        energy=energy or UNSET,
        memory=memory_rates(result),
        moved=tables(result),
        used_sms=used_sms(result),
        diagnosis=diagnosis(result),
        printed=result.printed if prints(result.kernel) else UNSET,
    )


def _each(run: SmRun) -> Sequence[SmRun]:
    return run.each if isinstance(run, ChipRun) else (run,)


def bound_document(
    kernel: Kernel,
    machine: Machine,
    bound: Bound,
    occupancy: Occupancy,
    settings: Mapping[str, Setting] = NONE,
) -> BoundDocument:
    """Return the bound and occupancy of a launch as a document; `settings` as for `report.screen`."""
    return BoundDocument(**identity(kernel, machine, settings), bound=bound, occupancy=occupancy)


def identity(kernel: Kernel, machine: Machine, settings: Mapping[str, Setting]) -> dict[str, Any]:
    """Return the fields of a `LaunchDocument` by name: kernel and machine; `settings` as for `report.screen`."""
    return {
        "kernel": kernel.name,
        "parameters": plain(kernel.arguments),
        "machine": machine.key,
        "settings": dict(settings),
        "policy": machine.schedulers.policy,
        "grid": kernel.grid,
        "block": kernel.block,
    }
