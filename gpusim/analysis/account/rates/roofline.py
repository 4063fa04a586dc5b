"""The summary of a timeline: the launch on the roofline of memory bandwidth and peak, and the blocks of a full SM."""

from __future__ import annotations

from gpusim.analysis.account.memory.tables import tables
from gpusim.analysis.account.rates.memory_rates import DRAM, L2, memory_rates
from gpusim.bounds import rates
from gpusim.machine.machine import Machine, seconds
from gpusim.simulation.result import Result
from gpusim.sm.memory.global_memory.declaration import arriving_mbs
from gpusim.views.timeline.document import InstructionRates, Roof, Summary
from isa.memory import LINE_BYTES, SECTOR_BYTES


def summary(result: Result) -> Summary:
    """Return the rates of a launch, and how much it does for each byte that it moves to and from the DRAM.

    Bytes are those of `memory_rates`: by tags, or as the bound counts them; none where loads are taken to hit a cache.
    A launch whose SMs all take the time of the memory bandwidth lies on the roof (Williams, Waterman and Patterson
    2009). Without floating-point operations, thread instructions count instead, under the rate at which warps issue
    (Ding and Williams 2019).
    """
    kernel, machine, least, levels = result.kernel, result.machine, result.bound, roofs(result)
    moved = next((rate.gbs for rate in memory_rates(result) if rate.level == DRAM), 0.0)
    return Summary(
        gflops=result.gflops or 0.0,
        bound_gflops=(least.gflops or 0.0) if least else 0.0,
        bound_limiter=least.limiter if least else "",
        peak_gflops=rates.peak_gflops(kernel, machine),
        bandwidth_gbs=float(arriving_mbs(machine)) / 1000,
        flops_per_byte=(result.gflops or 0.0) / moved if moved else 0.0,
        blocks=result.occupancy.blocks,
        warps=result.occupancy.warps,
        occupancy_limiter=result.occupancy.limiter,
        instructions=_instructions(result, moved) if not kernel.flops and (moved or levels) else None,
        roofs=levels,
        memory=tables(result),
    )


def roofs(result: Result) -> tuple[Roof, ...]:
    """Return the levels of memory over which a launch moves bytes, and its work for each byte there.

    The L1 delivers 32 words in the cycles that a load of words side by side takes.
    """
    machine, moved, time = result.machine, result.memory.whole, seconds(result.machine, result.cycles)
    work = (result.gflops or 0.0) if result.kernel.flops else _executed(result) / time
    each = {"L1": (l1_gbs(machine), moved.sectors), L2: (_l2(result), moved.l2_sectors)}
    each[DRAM] = float(arriving_mbs(machine)) / 1000, moved.dram
    found = ((level, peak, SECTOR_BYTES * sectors / time / 1e9) for level, (peak, sectors) in each.items() if peak)
    return tuple(Roof(level, peak, work / gbs) for level, peak, gbs in found if gbs)


def l1_gbs(machine: Machine) -> float:
    """Return what the L1 of all SMs delivers at most, 10^9 bytes per second; without tags what their ports do."""
    cycles = machine.global_memory.request_cycles * (machine.l1.least_cycles if machine.l1 else 1)
    return machine.chip.sms * LINE_BYTES / cycles / seconds(machine, 1) / 1e9


def _l2(result: Result) -> float:
    return next((rate.peak_gbs for rate in memory_rates(result) if rate.level == L2), 0.0)


def _instructions(result: Result, moved: float) -> InstructionRates:
    """Return the rates of thread instructions of a launch that moves so many GB/s to and from the DRAM."""
    machine = result.machine
    executed = _executed(result)
    speed = executed / seconds(machine, result.cycles)
    bound = executed / seconds(machine, result.bound.cycles) if result.bound else 0.0
    return InstructionRates(speed, bound, _peak(machine), speed / moved if moved else 0.0)


def _executed(result: Result) -> float:
    """Return the 10^9 thread instructions of a launch."""
    chip = result.kernel.blocks / result.scaling.blocks_of_sm * result.run.sms
    return result.thread_instructions_per_cycle * result.cycles * chip / 1e9


def _peak(machine: Machine) -> float:
    """Return 10^9 thread instructions per second that all schedulers of the chip issue at most."""
    schedulers = machine.schedulers
    warps = machine.chip.sms * schedulers.count * schedulers.dispatch_ports / schedulers.interval
    return warps * machine.limits.warp_size / seconds(machine, 1) / 1e9
