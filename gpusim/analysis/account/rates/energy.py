"""Energy of a launch: words moved and operations computed, times their energies in the machine file.

Energies and idle power hold at one clock. At another clock the voltage follows a straight line through that clock, and
both scale with the square of the voltage, as energy to charge wires does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from gpusim.engines.walks.traffic import Level, Traffic
from gpusim.machine.machine import Machine, every
from gpusim.sm.chip.energy import Energy
from isa.errors import UserError

FEMTO = 1e-15
NO_METHODS: Mapping[str, str] = {}
KEYS: Mapping[Level, str] = {
    Level.REGISTERS: "register",
    Level.SCALARS: "scalar_register",
    Level.SHARED: "shared",
    **dict.fromkeys((Level.L1, Level.SCALAR_CACHE, Level.CONSTANT_CACHE, Level.TEXTURE_CACHE), "l1"),
    Level.L2: "l2",
    Level.DRAM: "dram",
}
ARITHMETIC = {32: ("single precision", "single"), 64: ("double precision", "double")}


@dataclass(frozen=True, slots=True)
class Part:
    """One kind of work: how often it is done, picojoules each time, joules of the launch, and the share of all work.

    `method` is that of the energy in the machine's file, if requested.
    """

    name: str
    count: int
    picojoules: float
    method: str
    joules: float
    share: float


@dataclass(frozen=True, slots=True)
class Spent:
    """Energy of a launch: its parts, including those that cost nothing, and the total.

    `forwarding`: results that only the next instruction takes cost no access to registers.
    `joules` and `picojoules_per_flop` are those of the work; `watts` is mean power, idle power included.
    """

    parts: tuple[Part, ...]
    forwarding: bool
    joules: float
    picojoules_per_flop: float
    seconds: float
    idle_watts: float
    watts: float


def known(machine: Machine, lanes: int | None = None) -> Energy:
    """Return the machine's energies; if it has none, raises UserError, which names machines with that many lanes."""
    if machine.energy is None:
        others = [each.key for each in every() if each.energy and lanes in (None, each.limits.warp_size)]
        hint = f", or take {', '.join(others)}" if others else ""
        raise UserError(f"no energies in machine {machine.key}: add [energy] to its file{hint}")
    return machine.energy


def spent(traffic: Traffic, machine: Machine, seconds: float, methods: Mapping[str, str] = NO_METHODS) -> Spent:
    """Return the energy of a launch that takes so many seconds; raises UserError if the machine has no energies.

    `methods`: the method of each energy in the machine's file, by its key.
    """
    costs = known(machine)
    scale = voltage_squared(costs, machine.chip.shader_mhz)
    work = [(name, count, key, getattr(costs, key) * scale) for name, count, key in _work(traffic)]
    joules = sum(count * each for _, count, _, each in work) * FEMTO
    flops, idle = traffic.flops, costs.idle_mw / 1000 * scale
    return Spent(
        parts=tuple(_part(name, count, each, joules, methods.get(key, "")) for name, count, key, each in work),
        forwarding=bool(costs.forwarding),
        joules=joules,
        picojoules_per_flop=joules / flops * 1e12 if flops else 0.0,
        seconds=seconds,
        idle_watts=idle,
        watts=idle + joules / seconds,
    )


def voltage_squared(costs: Energy, mhz: float) -> float:
    """Return the square of the voltage at a shader clock, relative to that at the clock of the energies."""
    return (1 + costs.voltage_slope / 1000 * (mhz / costs.mhz - 1)) ** 2


def _work(traffic: Traffic) -> Iterator[tuple[str, int, str]]:
    """Yield each kind of work in a launch: its name, how often it is done, and the key of its energy."""
    for bits, count in sorted(traffic.arithmetic.items()):
        yield ARITHMETIC[bits][0], count, ARITHMETIC[bits][1]
    for level, key in KEYS.items():
        if count := traffic.total(level):
            yield level.value, count, key


def _part(name: str, count: int, femtojoules: float, joules: float, method: str) -> Part:
    own = count * femtojoules * FEMTO
    return Part(name, count, femtojoules / 1000, method, own, own / joules if joules else 0.0)
