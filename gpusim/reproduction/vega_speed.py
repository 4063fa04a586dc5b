"""The TFLOPS table of the SGEMM for Vega with scalar loads: 64 sizes at four clocks, the memory's clock fixed.

Tags decide hits. The simulated part of the chip depends on the size:

* M = N = 256: four compute units do the same; all of A, B and C, which the ten launches of the measurement leave in the
L2, is assumed to hit there. At 512 they would fill most of the L2, and are assumed to miss.
* Up to 1792: all compute units, with one L2 and one DRAM.
* Above: the compute unit with the most workgroups, and its share of the DRAM. With 4096 columns the workgroups that
it holds at a time share their columns of B, as all of the chip's do in the L2; it computes as many workgroups as
it has at that size, each with the same work.
* More than 64 workgroups are not simulated: each further one takes what the 33rd to the 64th took on average.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from gpusim.engines.simulate import run_chip, run_sm
from gpusim.launch.feed import TRACE_DRIVEN
from gpusim.machine import machine as model
from gpusim.machine.machine import Machine
from gpusim.reproduction.bench import Bench, Job, Pairs, simulates
from gpusim.reproduction.finding import Finder, Finding, fitted, predicted, registrar
from isa.kernel import Kernel
from workloads.catalog import make
from workloads.gemm.vega_vlp import ORDERS

CLAIMS: dict[str, Finder] = {}
claim = registrar(CLAIMS)

CARD, VLP = "mi60", "sgemm-vega-vlp"
CLOCKS = (1700, 1500, 1300, 1100)
MEMORY_MBS = 819_200  # 4096 bits at 800 MHz
K = 640
UNITS = 64
TILE = 64 * 256
GROUPS = K // 8 * 8  # of 64 multiply-adds of a wave, for its tile of 64 rows
WARM, DIP, LARGE = 256, 1792, 4096
SIMULATED = 64  # workgroups of a compute unit, at most
TABLE = Path(__file__).with_name("vega_tflops.csv")
FITS = "M = N = 256", "from M = N = 4096 up, 1500 MHz"
CHOICES = "2 choices (the policy oldest, and that lgkmcnt counts to 31) in sight of VLP's rates"


def at_clock(mhz: int) -> Mapping[str, object]:
    """Return the machine's settings at a core clock, with the memory at 800 MHz."""
    return {"chip.shader_mhz": mhz, "chip.core_mhz": mhz, "chip.dram_mbs": MEMORY_MBS}


@claim("VG26")
def best_share(bench: Bench) -> Finding:
    """The best rate at 1500 MHz of any size, of the chip's peak."""
    best = max(_table(bench, (1500,)).values())
    share = 100 * best * 1000 / model.peak_gflops(bench.machine(CARD, at_clock(1500)))
    return fitted(_fitted(bench), share)


@claim("VG27")
def table(bench: Bench) -> Finding:
    """All rates; those from 4096 up are to be met within 10 %, the others within 20 %."""
    measured = published_rates()
    errors = {key: ours / measured[key] - 1 for key, ours in _table(bench).items()}
    large, small = ({k: e for k, e in errors.items() if (k[0] >= LARGE) is which} for which in (True, False))
    met = [sum(abs(e) <= limit for e in each.values()) for each, limit in ((large, 0.1), (small, 0.2))]
    return fitted(
        _fitted(bench),
        f"{met[0]} of {len(large)} from {LARGE} up within 10 %, {met[1]} of {len(small)} below within 20 %",
        note=f"{_worst(large)}; {_worst(small)}; the other clocks were not fitted, but in sight",
        passed=met == [len(large), len(small)],
    )


@claim("VG28")
def dip(bench: Bench) -> Finding:
    """The loss of rate at 1536 from 52 further workgroups, four of which find no room at first."""
    keys = [(size, mhz) for mhz in CLOCKS for size in (DIP - 256, DIP)]
    rates = _rates(bench, keys)
    lost = [100 * (rates[DIP, mhz] / rates[DIP - 256, mhz] - 1) for mhz in CLOCKS]
    text = ", ".join(f"{each:.0f} % at {mhz} MHz" for each, mhz in zip(lost[1:], CLOCKS[1:], strict=True))
    return fitted(_fitted(bench), lost[0], note=f"at 1700 MHz; {text}", passed=all(each < 0 for each in lost))


@claim("VG29")
def group_cycles(bench: Bench) -> Finding:
    """Cycles of a group with operands in the L2, to which the latency of scalar loads was fitted at 1500 MHz."""
    cycles = bench.results(*(_job(bench, WARM, mhz) for mhz in CLOCKS))
    note = "fitted at 1500 MHz; no time for the launch itself"
    return fitted(_fitted(bench, FITS[0]), *(each / GROUPS for each in cycles), note=note)


@claim("VG30")
def best(bench: Bench) -> Finding:
    """The best rate of any size at each clock."""
    rates = _table(bench)
    each = [max((rate, size) for (size, mhz), rate in rates.items() if mhz == clock) for clock in CLOCKS]
    note = f"at {', '.join(str(size) for _, size in each)}"
    return fitted(_fitted(bench), *(rate for rate, _ in each), note=note)


@claim("VG34")
def forwarding(bench: Bench) -> Finding:
    """The change of time at 4096 with the order of the multiply-adds."""
    clocks = CLOCKS[:2]
    count = workgroups(LARGE)
    jobs = [Job(unit_cycles, (_pairs(bench, mhz), count, order)) for mhz in clocks for order in ORDERS]
    cycles = bench.results(*jobs)
    gains = [100 * (cycles[2 * i + 1] / cycles[2 * i] - 1) for i in range(len(clocks))]
    note = (
        "no rule here tells the orders apart. Register banks do, the other way: with register_file.banks = 4,"
        " mapping = modulo, collecting = 4 the interleaved order is 13 % faster. What the clock does at 284 W, and at"
        f" 265 W in the other order, is not modelled. {CHOICES[0].upper()}{CHOICES[1:]}, not of what orders change"
    )
    return predicted(*gains, note=note, passed=all(gain > 0 for gain in gains))


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
def unit_cycles(settings: Pairs, count: int, order: str = "forwarding") -> int:
    """Return the cycles of one compute unit for so many workgroups, of a product with 4096 columns."""
    return run_sm(_wide(count, order), _machine(settings), feed=TRACE_DRIVEN).cycles


def _fitted(bench: Bench, *data: str) -> str:
    return ", ".join([*(bench.fitted(CARD, to) for to in data or FITS), CHOICES])


def _kernel(rows: int, columns: int, order: str = "forwarding") -> Kernel:
    return make(VLP, {"m": str(rows), "n": str(columns), "k": str(K), "order": order})


def _wide(count: int, order: str = "forwarding") -> Kernel:
    return _kernel(count * UNITS * TILE // LARGE, LARGE, order)


def _machine(settings: Pairs) -> Machine:
    return model.load(CARD, dict(settings))


def _table(bench: Bench, clocks: tuple[int, ...] = CLOCKS) -> dict[tuple[int, int], float]:
    """Return all rates at those clocks, in TFLOPS."""
    return _rates(bench, [key for key in published_rates() if key[1] in clocks])


def _rates(bench: Bench, keys: list[tuple[int, int]]) -> dict[tuple[int, int], float]:
    """Return the rates at those sizes and clocks, in TFLOPS."""
    needed = {key: _jobs(bench, *key) for key in keys}
    bench.results(*(job for jobs in needed.values() for job in jobs))
    return {key: _rate(*key, _extended(key[0], bench.results(*jobs))) for key, jobs in needed.items()}


def _rate(size: int, mhz: int, cycles: float) -> float:
    return 2 * size * size * K * mhz / cycles / 1e6


def _jobs(bench: Bench, size: int, mhz: int) -> tuple[Job, ...]:
    """Return the runs from which the time at a size follows."""
    if workgroups(size) <= SIMULATED:
        return (_job(bench, size, mhz),)
    return tuple(Job(unit_cycles, (_pairs(bench, mhz), count)) for count in (SIMULATED // 2, SIMULATED))


def _extended(size: int, cycles: list[int]) -> float:
    """Return the cycles of all workgroups from those of a run, or of two."""
    further = max(0, workgroups(size) - SIMULATED)
    return cycles[-1] + further * (cycles[-1] - cycles[0]) / (SIMULATED // 2)


def _job(bench: Bench, size: int, mhz: int) -> Job:
    if size == WARM:
        return Job(unit_cycles, (_pairs(bench, mhz, hits="l2"), 1))
    if size <= DIP:
        return Job(chip_cycles, (_pairs(bench, mhz), size))
    return Job(unit_cycles, (_pairs(bench, mhz), workgroups(size)))


def _pairs(bench: Bench, mhz: int, hits: str = "tags") -> Pairs:
    return bench.pairs(CARD, {**at_clock(mhz), "cache.hits": hits})


def _worst(errors: Mapping[tuple[int, int], float]) -> str:
    """Return the largest error in words."""
    (size, mhz), error = max(errors.items(), key=lambda item: abs(item[1]))
    return f"worst {100 * error:+.1f} % at {size}, {mhz} MHz"
