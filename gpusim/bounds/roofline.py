"""The summary of a timeline: the launch on the roofline of memory bandwidth and peak, and the blocks of a full SM."""

from __future__ import annotations

from gpusim.bounds import rates
from gpusim.bounds.bounds import LIMIT, bound
from gpusim.machine.machine import Machine
from gpusim.machine.occupancy import occupancy
from gpusim.timeline.document import Summary
from gpusim.units.global_memory import arriving_mbs
from isa.kernel import Kernel


def summary(kernel: Kernel, machine: Machine, cycles: int, *, limit: int = LIMIT) -> Summary:
    """Return the rates of a launch that takes so many shader cycles on the SM with the most blocks.

    Operations are counted per byte of the bound, as if every SM moved as much as the busiest: so a launch bound by the
    memory bandwidth lies on the roof (Williams, Waterman and Patterson 2009). Raises as `bounds.bound`.
    """
    least, fits = bound(kernel, machine, limit=limit), occupancy(kernel, machine)
    arriving = float(arriving_mbs(machine)) / 1000
    moving = least.limits.get("memory bandwidth", 0)
    return Summary(
        gflops=rates.gflops(kernel, machine, cycles),
        bound_gflops=least.gflops or 0.0,
        bound_limiter=least.limiter,
        peak_gflops=rates.peak_gflops(kernel, machine),
        bandwidth_gbs=arriving,
        flops_per_byte=rates.gflops(kernel, machine, moving) / arriving if moving else 0.0,
        blocks=fits.blocks,
        warps=fits.warps,
        occupancy_limiter=fits.limiter,
    )
