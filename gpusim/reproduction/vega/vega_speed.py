"""The TFLOPS table of the SGEMM for Vega with scalar loads: 64 sizes at four clocks, the memory's clock fixed.

Tags decide hits. The simulated part of the chip depends on the size:

* M = N = 256: one of the four compute units, which do the same. A, B and C are 1.6 of the L2's 4 MB and were there
  after the launches before; so a miss of the L2 costs no more than a hit, and the L1s begin empty. At 512 A, B and C
  would fill most of the L2, and are assumed to miss.
* Up to 1792: all compute units, with one L2 and one DRAM.
* Above: the compute unit with the most workgroups, and its share of the DRAM, as a run of all compute units takes
  minutes. With 4096 columns the workgroups that it holds at a time share their columns of B in its L1 and in the
  L2. This is an assumption: runs of all compute units are slower (docs/calibration.md). It computes as many workgroups
  as it has at that size, each with the same work.
* Between 49 workgroups (7168) and 256 (16384) nothing is simulated: cycles are interpolated between these two.

Rates count operations as the readme's test does: 2 K + 3 for each element of C.
"""

from __future__ import annotations

import csv
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path

import numpy as np

from gpusim.engines.simulate import run_chip, run_sm
from gpusim.launch.feed import TRACE_DRIVEN
from gpusim.machine import machine as model
from gpusim.machine.machine import Machine
from gpusim.reproduction.bench import NONE, Bench, Job, Pairs, simulates
from gpusim.reproduction.finding import Finder, Finding, arithmetic, in_sight, registrar
from gpusim.reproduction.pages.plot import Curve, Plot, Plotter
from gpusim.reproduction.pages.plot import registrar as plots
from isa.kernel import Kernel
from isa.row import Unit
from workloads.catalog import make
from workloads.papers.vega.vega_vlp import ORDERS

CLAIMS: dict[str, Finder] = {}
PLOTS: dict[str, Plotter] = {}
claim = registrar(CLAIMS)
plot = plots(PLOTS)

CARD, VLP = "mi60", "sgemm-vega-vlp"
CLOCKS = (1700, 1500, 1300, 1100)
MEMORY_MBS = 819_200  # 4096 bits at 800 MHz
K = 640
UNITS, LANES = 64, 64  # compute units of the card, and lanes of each
TILE = 64 * 256
GROUPS = K // 8 * 8  # of 64 multiply-adds of a wave, for its tile of 64 rows
OPERATIONS = 2 * K + 3  # of an element of C
WARM, DIP, LARGE = 256, 1792, 4096
THREADS = (64, 128, 256)
ONE = "of one compute unit, as VG27 has it"
SIMULATED, MOST = 49, 256  # workgroups of a compute unit: as many or fewer are simulated, and the most at any size
LIMIT = 78  # % of peak that the document says the kernel can't exceed
ENDLESS = 64  # times the bandwidth, where the L2 has everything
ALL_UNITS = {4096: -35.0, 4352: -41.4}  # % of the measured rates at 1100 MHz, docs/calibration.md; takes minutes
FAR = " and ".join(f"{error:.0f} % at {size}" for size, error in ALL_UNITS.items())
TABLE = Path(__file__).with_name("vega_tflops.csv")
CHOICES = (
    "schedulers.policy; unit.smem.latency, once fitted to these rates; the part of the chip for each size;"
    " order of loads and pitch, from the readme's sources"
)
ALONE = (
    f"one compute unit in place of all above {DIP}, where runs of all come out at {FAR}, at 1100 MHz and against the"
    " measured rates (docs/calibration.md)"
)
IN_THE_L2 = f"at {WARM} a miss of the L2 costs no more than a hit, and its bandwidth has no end"
MISSING = f"at {2 * WARM}, where the matrices would fill most of the L2, all is taken to miss it"


def at_clock(mhz: int) -> Mapping[str, object]:
    """Return the machine's settings at a core clock, with the memory at 800 MHz."""
    return {"chip.shader_mhz": mhz, "chip.core_mhz": mhz, "chip.dram_mbs": MEMORY_MBS}


@claim("VG26")
def best_share(bench: Bench) -> Finding:
    """The best rate at 1500 MHz of any size, of the chip's peak."""
    best = max(_table(bench, (1500,)).values())
    share = 100 * best * 1000 / model.peak_gflops(bench.machine(CARD, at_clock(1500)))
    note = (
        "derived, not printed: the table's best rate over the peak of 64 compute units, for VG43's 78 %; the DRAM's"
        f" latency, which decides here, and the share of its bandwidth that arrives are an MI100's; {ONE}"
    )
    return in_sight(f"{CHOICES}; {ALONE}", share, note=note)


@claim("VG27")
def table(bench: Bench) -> Finding:
    """All rates; those from 4096 up are to be met within 10 %, the others within 20 %."""
    measured = published_rates()
    errors = {key: ours / measured[key] - 1 for key, ours in _table(bench).items()}
    met = {key: abs(error) <= (0.1 if key[0] >= LARGE else 0.2) for key, error in errors.items()}
    large, small = ({k: e for k, e in errors.items() if (k[0] >= LARGE) is which} for which in (True, False))
    between = {key for key in errors if SIMULATED < workgroups(key[0]) < MOST}
    return in_sight(
        f"{CHOICES}; {IN_THE_L2}; {MISSING}",
        f"{_met(met, large)} from {LARGE} up within 10 %, {_met(met, small)} below within 20 %",
        note=f"simulated: {_met(met, errors.keys() - between)}; interpolated, those between 7168 and 16384:"
        f" {_met(met, between)}; above {DIP} by one compute unit with columns of B shared as at 4096, which runs of all"
        f" compute units contradict (docs/calibration.md); {_worst(large)}; {_worst(small)}",
        passed=all(met.values()),
    )


@claim("VG28")
def dip(bench: Bench) -> Finding:
    """The loss of rate at 1536 from 52 further workgroups, four of which find no room at first."""
    keys = [(size, mhz) for mhz in CLOCKS for size in (DIP - 256, DIP)]
    rates = _rates(bench, keys)
    lost = [100 * (rates[DIP, mhz] / rates[DIP - 256, mhz] - 1) for mhz in CLOCKS]
    note = (
        f"derived, not printed: rates of the table at {DIP} over those at {DIP - 256}; 196 workgroups want 192 slots,"
        " three of each compute unit"
    )
    choices = f"{CHOICES}; that the sign alone decides, as the claim is that rates fall: an error of any size passes"
    return in_sight(choices, *lost, note=note, passed=all(each < 0 for each in lost))


@claim("VG29")
def group_cycles(bench: Bench) -> Finding:
    """Cycles of a group with operands in the L2, and the part of the published ones that goes with the clock."""
    cycles = bench.results(*(_job(bench, WARM, mhz) for mhz in CLOCKS))
    slope, fixed = line_of_times()
    note = (
        f"derived, not printed: the table's rates at {WARM}, at {OPERATIONS} operations for each element of C. Ours has"
        " no time between launches. A straight line through the four times, which are a tenth of ten launches each,"
        f" is {slope / GROUPS:.0f} cycles a group and {fixed:.0f} us that no core clock changes; the time of one kernel"
        " by its own timestamps would tell whether these lie between kernels"
    )
    return in_sight(f"{CHOICES}; {IN_THE_L2}", *(each / GROUPS for each in cycles), note=note)


@claim("VG30")
def best(bench: Bench) -> Finding:
    """The best rate of any size at each clock."""
    rates = _table(bench)
    each = [max((rate, size) for (size, mhz), rate in rates.items() if mhz == clock) for clock in CLOCKS]
    note = f"at {', '.join(str(size) for _, size in each)}; {ONE}"
    return in_sight(f"{CHOICES}; {ALONE}", *(rate for rate, _ in each), note=note)


@claim("VG34")
def forwarding(bench: Bench) -> Finding:
    """The change of time at 4096 with the order of the multiply-adds, and of the loads that follow them."""
    clocks = CLOCKS[:2]
    count = workgroups(LARGE)
    jobs = [Job(unit_cycles, (_pairs(bench, mhz), count, order)) for mhz in clocks for order in ORDERS]
    cycles = bench.results(*jobs)
    gains = [100 * (cycles[2 * i + 1] / cycles[2 * i] - 1) for i in range(len(clocks))]
    note = (
        "derived, not printed: the rates next to the powers, one over the other; in the sources of the other order two"
        " rows are computed in turn, and then loaded; what the clock does at 284 W, and at 265 W with forwarding, is"
        f" not modelled; {ONE}"
    )
    return in_sight(CHOICES, *gains, note=note, passed=all(gain > 0 for gain in gains))


@claim("VG43")
def limit(_: Bench) -> Finding:
    """The best printed rate at each clock, of the peak at that clock: two operations of each lane in a cycle."""
    rates = published_rates()
    peak = {mhz: 2 * UNITS * LANES * mhz / 1e6 for mhz in CLOCKS}
    shares = [100 * max(r for (_, mhz), r in rates.items() if mhz == clock) / peak[clock] for clock in CLOCKS]
    note = (
        f"the document's table exceeds its limit at the two lower clocks; it does not print the peak, which is that of"
        f" {UNITS} compute units of {LANES} lanes, by the card's data sheet"
    )
    text = " / ".join(f"{share:.1f}" for share in shares)
    return arithmetic(text, note=note, passed=all(share <= LIMIT for share in shares))


@plot("vega-tflops")
def tflops(bench: Bench) -> Plot:
    """The rates over the size, at four clocks."""
    rates, measured = _table(bench), published_rates()
    sizes = sorted({size for size, _ in measured})
    curves = [
        Curve(f"{mhz} MHz", tuple(map(float, sizes)), tuple(of[size, mhz] for size in sizes), published=theirs)
        for mhz in CLOCKS
        for of, theirs in ((measured, True), (rates, False))
    ]
    note = (
        f"K = {K}. Simulated up to 7168 and at 16384, interpolated between them. Above {DIP} one compute unit stands "
        f"for all; runs of all, too long for this plot, differ from the measured rates by {FAR} at 1100 MHz "
        "(docs/calibration.md)."
    )
    return Plot("VLP SGEMM on an MI60", "M = N", "TFLOP/s", tuple(curves), note)


@plot("vega-threads")
def variants(bench: Bench) -> Plot:
    """The rates of the three tiles, which the document describes and of which it measured the widest."""
    clocks = (1700, 1100)
    jobs = {
        (mhz, threads): Job(unit_cycles, (_pairs(bench, mhz), workgroups(LARGE), ORDERS[0], threads))
        for mhz in clocks
        for threads in THREADS
    }
    cycles = dict(zip(jobs, bench.results(*jobs.values()), strict=True))
    curves = tuple(
        Curve(f"{mhz} MHz", THREADS, tuple(_rate(LARGE, mhz, cycles[mhz, threads]) for threads in THREADS))
        for mhz in clocks
    )
    note = (
        f"M = N = {LARGE}, K = {K}; a tile has as many columns as a workgroup has threads. One compute unit stands for "
        f"all: a run of all with 256 threads is {-ALL_UNITS[LARGE]:.0f} % below what was measured, at 1100 MHz "
        "(docs/calibration.md)."
    )
    title = "VLP SGEMM with 64, 128 and 256 threads"
    return Plot(title, "threads of a workgroup", "TFLOP/s", curves, note, x_scale="log")


@cache
def published_rates() -> Mapping[tuple[int, int], float]:
    """Return the published TFLOPS by size and clock."""
    with TABLE.open(newline="", encoding="utf-8") as file:
        return {(int(row["size"]), mhz): float(row[str(mhz)]) for row in csv.DictReader(file) for mhz in CLOCKS}


def workgroups(size: int) -> int:
    """Return how many workgroups the compute unit with the most of them gets, M and N being `size`."""
    return -(-size * size // TILE // UNITS)


@simulates(lambda settings, size: [(_kernel(size, size), _machine(settings))])
def chip_cycles(settings: Pairs, size: int) -> int:
    """Return the cycles of a product of that size on all compute units."""
    return run_chip(_kernel(size, size), _machine(settings), engine="compiled", feed=TRACE_DRIVEN).cycles


@simulates(lambda settings, *how: [(_wide(*how), _machine(settings))])
def unit_cycles(settings: Pairs, count: int, order: str = "forwarding", threads: int = 256) -> int:
    """Return the cycles of one compute unit for `count` tiles of 64 by 256, of a product with 4096 columns.

    With fewer threads a workgroup computes that part of such a tile, and there are so many more of them.
    """
    return run_sm(_wide(count, order, threads), _machine(settings), feed=TRACE_DRIVEN).cycles


def line_of_times() -> tuple[float, float]:
    """Return cycles and microseconds of a straight line through the published times at 256 over the cycle's length."""
    times = [OPERATIONS * WARM**2 / published_rates()[WARM, mhz] / 1e6 for mhz in CLOCKS]
    slope, fixed = np.polyfit([1 / mhz for mhz in CLOCKS], times, 1)
    return float(slope), float(fixed)


def _kernel(rows: int, columns: int, order: str = "forwarding", threads: int = 256) -> Kernel:
    return make(VLP, {"m": str(rows), "n": str(columns), "k": str(K), "order": order, "threads": str(threads)})


def _wide(count: int, order: str = "forwarding", threads: int = 256) -> Kernel:
    return _kernel(count * UNITS * TILE // LARGE, LARGE, order, threads)


def _machine(settings: Pairs) -> Machine:
    return model.load(CARD, dict(settings))


def _table(bench: Bench, clocks: tuple[int, ...] = CLOCKS) -> dict[tuple[int, int], float]:
    """Return all rates at those clocks, in TFLOPS."""
    return _rates(bench, [key for key in published_rates() if key[1] in clocks])


def _rates(bench: Bench, keys: list[tuple[int, int]]) -> dict[tuple[int, int], float]:
    """Return the rates at those sizes and clocks, in TFLOPS."""
    needed = {key: _jobs(bench, *key) for key in keys}
    bench.results(*(job for jobs in needed.values() for job in jobs))
    return {key: _rate(*key, _interpolated(key[0], bench.results(*jobs))) for key, jobs in needed.items()}


def _rate(size: int, mhz: int, cycles: float) -> float:
    return OPERATIONS * size * size * mhz / cycles / 1e6


def _jobs(bench: Bench, size: int, mhz: int) -> tuple[Job, ...]:
    """Return the runs from which the time at a size follows."""
    if workgroups(size) in (*range(SIMULATED + 1), MOST):
        return (_job(bench, size, mhz),)
    return tuple(Job(unit_cycles, (_pairs(bench, mhz), count)) for count in (SIMULATED, MOST))


def _interpolated(size: int, cycles: list[int]) -> float:
    """Return the cycles of all workgroups from those of a run, or of two."""
    further = (workgroups(size) - SIMULATED) / (MOST - SIMULATED) if len(cycles) > 1 else 0
    return cycles[0] + further * (cycles[-1] - cycles[0])


def _job(bench: Bench, size: int, mhz: int) -> Job:
    if size == WARM:
        return Job(unit_cycles, (_pairs(bench, mhz, _warm(bench)), 1))
    if size <= DIP:
        return Job(chip_cycles, (_pairs(bench, mhz), size))
    return Job(unit_cycles, (_pairs(bench, mhz), workgroups(size)))


def _pairs(bench: Bench, mhz: int, more: Mapping[str, object] = NONE) -> Pairs:
    return bench.pairs(CARD, {**at_clock(mhz), "cache.hits": "tags", **more})


def _warm(bench: Bench) -> Mapping[str, object]:
    """Return the settings with which a miss of the L2 takes no longer than a hit."""
    latency = bench.machine(CARD).unit[Unit.SMEM].latency
    return {"global_memory.latency": latency, "chip.dram_mbs": ENDLESS * MEMORY_MBS}


def _met(met: Mapping[tuple[int, int], bool], keys: Collection[tuple[int, int]]) -> str:
    return f"{sum(met[key] for key in keys)} of {len(keys)}"


def _worst(errors: Mapping[tuple[int, int], float]) -> str:
    """Return the largest error in words."""
    (size, mhz), error = max(errors.items(), key=lambda item: abs(item[1]))
    return f"worst {100 * error:+.1f} % at {size}, {mhz} MHz"
