"""Which machines execute the machine code of an architecture."""

from __future__ import annotations

from gpusim.machine.file import extended
from gpusim.machine.machine import Machine, every, read
from isa.architecture import NVIDIA, Target
from isa.errors import UserError
from isa.kernel import Kernel

TEGRA = frozenset({87})
FORCE = "force it, to see what if (--force)"


def number(machine: Machine) -> int:
    """Return the number of a machine's architecture, 90 for sm_90; 0 if it executes no machine code."""
    return _number(machine.architecture)


def _number(architecture: str) -> int:
    digits = architecture.removeprefix("sm_")
    return int(digits) if digits.isdecimal() else 0


def native(machine: Machine | str | None) -> int:
    """Return the architecture to compile for where a machine is given, by name too; 0 if none is, or it has none."""
    if not machine:
        return 0
    given = read(machine).strings.get("architecture", "") if isinstance(machine, str) else machine.architecture
    return _number(given) if _number(given) in NVIDIA else 0


def executes(machine: Machine, target: Target) -> bool:
    """Tell whether a machine executes code for a target: its own, or an older one with the same first digits.

    CUDA C++ Programming Guide 13.0, binary compatibility: code for X.y runs on X.z with z >= y, but for Tegra, whose
    code and that of the other chips do not run on each other.
    """
    own, code = number(machine), target.architecture
    if TEGRA & {own, code}:
        return target.family == "nvidia" and own == code
    return target.family == "nvidia" and own // 10 == code // 10 and own >= code


def machine_for(target: Target) -> Machine:
    """Return the machine that executes code for a target: of several the one of the oldest architecture.

    Of several of this one it is the machine whose file extends the fewest others. Raises UserError if there is none.
    """
    fitting = [machine for machine in every() if executes(machine, target)]
    if not fitting:
        fix = f"compile for {_known()}, or name a machine and {FORCE}"
        raise UserError(f"no machine executes code for {target}; {fix}")
    return min(fitting, key=lambda one: (number(one), extended(one.key)))


def check_architecture(kernel: Kernel, machine: Machine) -> None:
    """Raise UserError for machine code that the machine does not execute."""
    target = kernel.target
    if target and not kernel.any_machine and not executes(machine, target):
        fitting = ", ".join(one.key for one in every() if executes(one, target))
        advice = f"take {fitting}" if fitting else f"compile for {_known()}"
        if native(machine) and fitting:
            advice = f"{advice}, compile for {machine.architecture} (CUDA C: --arch {native(machine)})"
        what = f"machine code for {target}"
        its = f"executes {machine.architecture}" if number(machine) else "executes no machine code"
        raise UserError(f"{kernel.name}: {what}; {machine.key} {its}; {advice}, or {FORCE}")


def _known() -> str:
    """Return the architectures that are read and that some machine has."""
    return ", ".join(f"sm_{one}" for one in sorted({number(machine) for machine in every()} & set(NVIDIA)))


def executing(machine: Machine, named: str = "") -> Machine:
    """Return a machine that executes machine code; raises UserError, which calls it as it is named."""
    if not number(machine):
        known = ", ".join(one.key for one in every() if number(one))
        raise UserError(f"{named or machine.key}: executes no machine code; take {known}")
    return machine
