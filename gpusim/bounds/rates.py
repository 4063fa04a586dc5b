"""Rates of a launch: operations per second, and the peak to compare them with."""

from __future__ import annotations

from gpusim.machine import machine as model
from gpusim.machine.machine import Machine
from isa.kernel import Kernel
from isa.row import Unit


def gflops(kernel: Kernel, machine: Machine, cycles: float) -> float | None:
    """Return 10^9 operations per second of the launch, as its kernel counts them, if it takes so many shader cycles.

    None for a kernel that counts none.
    """
    return kernel.flops / model.seconds(machine, cycles) / 1e9 if kernel.flops else None


def percent_of_peak(kernel: Kernel, machine: Machine, cycles: float) -> float | None:
    """Return such a rate in percent of the chip's peak in the kernel's precision; None for a kernel without one."""
    rate = gflops(kernel, machine, cycles)
    return None if rate is None else 100 * rate / peak_gflops(kernel, machine)


def peak_unit(kernel: Kernel) -> Unit:
    """Return the unit class whose peak counts: double precision if the program computes in it, else single."""
    doubles = any(i.row.unit is Unit.DP for i in kernel.program.instructions)
    return Unit.DP if doubles else Unit.FP32


def peak_gflops(kernel: Kernel, machine: Machine) -> float:
    """Return the chip's peak in the kernel's precision, 10^9 operations per second."""
    doubles = peak_unit(kernel) is Unit.DP
    return model.peak_fp64_gflops(machine) if doubles else model.peak_gflops(machine)
