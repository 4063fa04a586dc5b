"""Rates of a chip's tensor cores, by type of the factors and by whether warps or warpgroups multiply."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from types import MappingProxyType

from gpusim.machine.machine import Machine
from gpusim.sm.chip.tensor_peak import STEP_BYTES, STEP_COLUMNS, STEP_ROWS

ELEMENT_BYTES: Mapping[str, int] = MappingProxyType(
    {"f16": 2, "f16_half": 2, "bf16": 2, "tf32": 4, "s8": 1, "fp8": 1, "f64": 8}
)
TYPES = tuple(ELEMENT_BYTES)
ALONE = "f64"  # the type that warpgroups don't multiply


def step_products(kind: str) -> int:
    """Return the multiplications of 16 by 8 numbers by 32 bytes of K."""
    return STEP_ROWS * STEP_COLUMNS * (STEP_BYTES // ELEMENT_BYTES[kind])


def step_cycles(machine: Machine, kind: str, *, group: bool = False) -> int:
    """Return the cycles in which a sub-partition makes these, by wgmma if it is a `group`; 0 if it can't."""
    if machine.tensor_peak is None or (group and kind == ALONE):
        return 0
    return int(getattr(machine.tensor_peak, "group" if group else kind))


def products_per_cycle(machine: Machine, kind: str, *, group: bool = False) -> Fraction:
    """Return the multiplications, each with its addition, of an SM per cycle; 0 where there are none."""
    cycles = step_cycles(machine, kind, group=group)
    return Fraction(machine.schedulers.count * step_products(kind), cycles) if cycles else Fraction(0)


def tensor_gflops(machine: Machine, kind: str) -> float:
    """Return 10^9 operations per second of the chip's tensor cores at best, two to a multiplication; 0 without any."""
    best = max(products_per_cycle(machine, kind, group=group) for group in (False, True))
    return float(2 * best) * machine.chip.sms * machine.chip.shader_mhz / 1000
