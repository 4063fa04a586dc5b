"""Rates of a launch: operations per second, and the peak to compare them with."""

from __future__ import annotations

import re
from functools import cache

from gpusim.machine import machine as model
from gpusim.machine.machine import Machine
from gpusim.machine.tensor_rates import tensor_gflops
from isa.kernel import Kernel
from isa.row import Unit

_KINDS = (  # types of factors by the names of matrix instructions, the first that fits
    (r"HG?MMA\..*TF32", "tf32"),
    (r"HG?MMA\..*BF16", "bf16"),
    (r"HG?MMA\..*\.F16", "f16_half"),
    (r"HG?MMA\.", "f16"),
    (r"QG?MMA\.", "fp8"),
    (r"IG?MMA\.", "s8"),
    (r"DMMA\.", "f64"),
)
_NAMES = {"f16_half": "f16 with sums of halves"}


@cache
def tensor_kind(mnemonic: str) -> str:
    """Return the type of the factors of a matrix instruction, as `tensor_gflops` takes it; empty for others."""
    return next((kind for pattern, kind in _KINDS if re.match(pattern, mnemonic)), "")


def tensor_kinds(kernel: Kernel) -> tuple[str, ...]:
    """Return the types that a program's matrix instructions multiply, in the order in which they come first."""
    found = (tensor_kind(i.row.mnemonic) for i in kernel.program.instructions)
    return tuple(dict.fromkeys(kind for kind in found if kind))


def _peaks(kernel: Kernel, machine: Machine) -> dict[str, float]:
    """Return the peaks of the tensor cores in the types that a program multiplies and the machine has."""
    return {kind: peak for kind in tensor_kinds(kernel) if (peak := tensor_gflops(machine, kind))}


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


def precision(kernel: Kernel, machine: Machine) -> str:
    """Return what has the peak of `peak_gflops`: tensor cores by type, double or single precision."""
    if peaks := _peaks(kernel, machine):
        kind = max(peaks, key=peaks.__getitem__)
        return f"tensor cores, {_NAMES.get(kind, kind)}"
    return "double precision" if peak_unit(kernel) is Unit.DP else "single precision"


def peak_gflops(kernel: Kernel, machine: Machine) -> float:
    """Return the chip's peak in the kernel's precision, 10^9 operations per second.

    Of a program with matrix instructions that is the tensor cores' in the fastest type that it multiplies.
    """
    if peaks := _peaks(kernel, machine):
        return max(peaks.values())
    doubles = peak_unit(kernel) is Unit.DP
    return model.peak_fp64_gflops(machine) if doubles else model.peak_gflops(machine)
