"""The powers of the SGEMM for Vega: counted words and multiply-adds, times the energies of the machine file.

The document measured both orders at M = N = 4096, K = 640, and prints rates beside the powers (9.5 and 9.132 TFLOP/s)
that differ from its table (9.954 and 9.145). The powers belong to the rates beside them, so time is taken from these.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import structs

from gpusim.analysis.account.rates.energy import Spent, known, spent
from gpusim.engines.walks.traffic import Level, Traffic, traffic
from gpusim.machine.machine import Machine
from gpusim.reproduction.bench import Bench, Job
from gpusim.reproduction.finding import Finder, Finding, fitted, registrar
from gpusim.reproduction.pages.plot import Curve, Plot, Plotter
from gpusim.reproduction.pages.plot import registrar as plots
from gpusim.reproduction.vega.vega_access import USUAL
from gpusim.reproduction.vega.vega_speed import CARD, VLP
from workloads.catalog import make

CLAIMS: dict[str, Finder] = {}
PLOTS: dict[str, Plotter] = {}
claim = registrar(CLAIMS)
plot = plots(PLOTS)

LEVELS = (Level.REGISTERS, Level.SCALARS, Level.SHARED, Level.L1, Level.SCALAR_CACHE, Level.L2, Level.DRAM)

SIZES = (("m", "4096"), ("n", "4096"), ("k", "640"))
ORDERS = ("forwarding", "interleaved")
TFLOPS: Mapping[int, tuple[float, float]] = {1700: (9.5, 9.18), 1500: (9.132, 8.986)}  # by clock, in both orders
POWERS = "265 W at 9.5 TFLOPS and 284 W at 9.18 at 1700 MHz"
GUESSES = "shared, l1, l2 and dram are guesses"
IDLE = "42 W idle at 1700 MHz and 36 W at 1500 MHz"
BUDGET = 10_000  # fJ of a multiply-add alone: a quarter of double precision's 40 pJ at 28 nm (mi60.toml: BUDGET)


@claim("VG31")
def at_1700(bench: Bench) -> Finding:
    """The powers to which the energies were fitted."""
    return fitted(bench.fitted(CARD, POWERS), *_watts(bench, 1700), note="at the rates given with the powers")


@claim("VG32")
def at_1500(bench: Bench) -> Finding:
    """The same energies, scaled by the square of the voltage, which follows from idle power."""
    note = (
        "the two under load follow from those at 1700 MHz; that all goes with the square of the voltage was chosen in"
        " sight of them; at the rates given with the powers"
    )
    return fitted(bench.fitted(CARD, IDLE), *_watts(bench, 1500), note=note)


@claim("VG33")
def saved(bench: Bench) -> Finding:
    """The saving of forwarding: both orders have one voltage, so it is the same at both clocks."""
    each = [[of.picojoules_per_flop for of in _both(bench, mhz)] for mhz in TFLOPS]
    return fitted(
        bench.fitted(CARD, POWERS),
        *(100 * (1 - handed / stored) for handed, stored in each),
        note="derived, not printed: the powers without idle power, over the rates next to them; ours are "
        + "; ".join(f"{a:.1f} and {b:.1f} pJ at {mhz} MHz" for (a, b), mhz in zip(each, TFLOPS, strict=True)),
    )


@claim("VG35")
def registers_and_lds(bench: Bench) -> Finding:
    """The share of registers and LDS in the usual SGEMM's energy without idle power."""
    (moved,) = bench.results(_job(USUAL))
    machine = _at(bench, 1700)
    note = (
        "the document says it in general, and measured no part. Ours is of two fitted energies and guesses:"
        f" {_share(moved, _with_budget(machine)):.0f} % if a multiply-add took {BUDGET // 1000} pJ: what is fitted has"
        f" the rest of the chip in it; or 50 % if a word of the LDS took {_half(moved, machine):.0f} pJ, where"
        f" {known(machine).shared // 1000} is a guess"
    )
    by = f"{bench.fitted(CARD, POWERS)}; {GUESSES}"
    return fitted(by, _share(moved, machine), note=note)


@claim("VG48")
def all_memories(bench: Bench) -> Finding:
    """The share of all levels, from registers to DRAM, in the usual SGEMM's energy without idle power."""
    (moved,) = bench.results(_job(USUAL))
    machine = _at(bench, 1700)
    share = _share(moved, machine, LEVELS)
    note = (
        "from the DRAM to the registers, of the same energies as VG35; that over half is very high is our reading;"
        f" {_share(moved, _with_budget(machine), LEVELS):.0f} % if a multiply-add took {BUDGET // 1000} pJ"
    )
    by = f"{bench.fitted(CARD, POWERS)}; {GUESSES}"
    return fitted(by, f"{share:.0f} %", note=note, passed=share > 50)


@plot("vega-energy")
def by_level(bench: Bench) -> Plot:
    """The joules of a launch by level, of the usual SGEMM and of both orders of VLP."""
    runs = {"usual": _job(USUAL), **{f"VLP, {order}": _job(VLP, ("order", order)) for order in ORDERS}}
    moved = dict(zip(runs, bench.results(*runs.values()), strict=True))
    machine = _at(bench, 1700)
    curves = tuple(_levels(label, spent(each, machine, 1.0)) for label, each in moved.items())
    note = "M = N = 4096, K = 640, at 1700 MHz, without idle power."
    names = "arithmetic", *(level.value for level in LEVELS)
    return Plot("Energy by level, MI60", "level", "mJ", curves, note, x_names=names)


def _levels(label: str, of: Spent) -> Curve:
    """Return the millijoules of arithmetic and of each level, from the lanes outwards."""
    parts = {part.name: 1000 * part.joules for part in of.parts}
    levels = [parts.get(level.value, 0.0) for level in LEVELS]
    computed = sum(joules for name, joules in parts.items() if name not in [level.value for level in LEVELS])
    return Curve(label, tuple(map(float, range(len(LEVELS) + 1))), (computed, *levels), line=False)


def _watts(bench: Bench, mhz: int) -> tuple[float, float, float]:
    """Return idle power, and that of both orders."""
    handed, stored = _both(bench, mhz)
    return handed.idle_watts, handed.watts, stored.watts


def _both(bench: Bench, mhz: int) -> list[Spent]:
    """Return the energy of both orders at a clock."""
    machine, counts = _at(bench, mhz), bench.results(*(_job(VLP, ("order", order)) for order in ORDERS))
    rates = zip(counts, TFLOPS[mhz], strict=True)
    return [spent(moved, machine, moved.flops / (tflops * 1e12)) for moved, tflops in rates]


def _at(bench: Bench, mhz: int) -> Machine:
    return bench.machine(CARD, {"chip.shader_mhz": mhz})


def _job(kernel: str, *more: tuple[str, str]) -> Job:
    return Job(_moved, (kernel, (*SIZES, *more)))


def _moved(kernel: str, parameters: tuple[tuple[str, str], ...]) -> Traffic:
    return traffic(make(kernel, dict(parameters)), forwarding=True)


def _share(moved: Traffic, machine: Machine, levels: Sequence[Level] = (Level.REGISTERS, Level.SHARED)) -> float:
    """Return the part of those levels in percent."""
    parts = {part.name: part.share for part in spent(moved, machine, 1.0).parts}
    return 100 * sum(parts.get(level, 0.0) for level in levels)


def _with_budget(machine: Machine) -> Machine:
    """Return the machine with a multiply-add alone, without the rest of the chip that is in the fitted energy."""
    return structs.replace(machine, energy=structs.replace(known(machine), single=BUDGET))


def _half(moved: Traffic, machine: Machine) -> float:
    """Return the picojoules of a word of the LDS with which registers and LDS would take half."""
    parts = {part.name: part for part in spent(moved, machine, 1.0).parts}
    registers, lds = parts.pop(Level.REGISTERS), parts.pop(Level.SHARED)
    return 1e12 * (sum(part.joules for part in parts.values()) - registers.joules) / lds.count
