"""The summary of a timeline: the launch on the roofline of memory bandwidth and peak, and the blocks of a full SM."""

from __future__ import annotations

from gpusim.analysis.account.rates.memory_rates import DRAM, memory_rates
from gpusim.bounds import rates
from gpusim.machine.machine import Machine, seconds
from gpusim.simulation.simulation import Result
from gpusim.sm.memory.global_memory.declaration import arriving_mbs
from gpusim.views.timeline.document import InstructionRates, Summary


def summary(result: Result) -> Summary:
    """Return the rates of a launch, and how much it does for each byte that it moves to and from the DRAM.

    Bytes are those of `memory_rates`: by tags, or as the bound counts them; none where loads are taken to hit a cache.
    A launch whose SMs all take the time of the memory bandwidth lies on the roof (Williams, Waterman and Patterson
    2009). Without floating-point operations, thread instructions count instead, under the rate at which warps issue
    (Ding and Williams 2019).
    """
    kernel, machine, least = result.kernel, result.machine, result.bound
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
        instructions=None if kernel.flops or not moved else _instructions(result, moved),
    )


def _instructions(result: Result, moved: float) -> InstructionRates:
    """Return the rates of thread instructions of a launch that moves so many GB/s."""
    machine = result.machine
    chip = result.kernel.blocks / result.scaling.blocks_of_sm * result.run.sms
    executed = result.thread_instructions_per_cycle * result.cycles * chip / 1e9
    speed = executed / seconds(machine, result.cycles)
    bound = executed / seconds(machine, result.bound.cycles) if result.bound else 0.0
    return InstructionRates(speed, bound, _peak(machine), speed / moved)


def _peak(machine: Machine) -> float:
    """Return 10^9 thread instructions per second that all schedulers of the chip issue at most."""
    schedulers = machine.schedulers
    warps = machine.chip.sms * schedulers.count * schedulers.dispatch_ports / schedulers.interval
    return warps * machine.limits.warp_size / seconds(machine, 1) / 1e9
