"""The claims of CME213, lecture 9, on what its kernels ask of caches and shared memory, and the lecture's plots."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusim.engines.simulate import run_sm
from gpusim.launch.feed import TRACE_DRIVEN
from gpusim.machine.machine import load
from gpusim.reproduction.bench import Bench, Job, Pairs, Run
from gpusim.reproduction.cme213.cme213 import (
    BLOCK,
    CARD,
    NAIVE,
    OF_BLOCK,
    ROWS,
    SIZES,
    TRUE_LATENCY,
    WARPS,
    occupancies,
    sweep,
)
from gpusim.reproduction.finding import Finder, Finding, in_sight, predicted, registrar
from gpusim.reproduction.gf100 import WITH_TAGS
from gpusim.reproduction.pages.plot import Curve, Plot, Plotter
from gpusim.reproduction.pages.plot import registrar as plots
from gpusim.sm.account.record.declaration import ISSUE, SERVE
from isa.kernel import WARP_SIZE
from workloads.catalog import make

CLAIMS: dict[str, Finder] = {}
PLOTS: dict[str, Plotter] = {}
claim, plot = registrar(CLAIMS), plots(PLOTS)

ROWS_OF_BLOCK = 8  # full occupancy: 6 blocks of 8 warps
FIRST_WAVE = 6
WORDS = 32  # of a line
PASSES = {"shared_memory.pass_cycles": 1}
FASTER: Mapping[str, Mapping[str, object]] = {  # what is doubled; a queue of one hands over an access in two cycles
    "shared memory": {**PASSES, "load_store.queue": 2},
    "FFMA": {"pipe.sp.lanes": 32},
    "DRAM": {"chip.dram_mbs": 354800},
}
MIDDLE = {**SIZES, "k": 160, "ahead": 4}
BEST, PEAK_WARPS = 80, {1: 24, 4: 6}  # slides 13, 10 and 11


@claim("CM24")
def eviction(bench: Bench) -> Finding:
    """Lines of A that the L1 loses before a warp has used all their words, in the first wave of blocks."""
    lines, lost, uses = bench.compute(lost_lines, bench.pairs(CARD), ROWS_OF_BLOCK, FIRST_WAVE)
    share, further = 100 * lost / lines, 100 * uses / (lines * (WORDS - 1))
    note = (
        f"% of {lines} lines, each of a warp; {further:.0f} % of a warp's further loads from a line miss. Blocks of "
        f"{WARP_SIZE} by {ROWS_OF_BLOCK} threads, {FIRST_WAVE} on the SM; {WITH_TAGS}"
    )
    return predicted(f"{share:.0f}", note=note, passed=share > 50)


@claim("CM25")
def what_slows_the_block_kernel_down(bench: Bench) -> Finding:
    """What twice the shared memory, twice the FFMAs and twice the DRAM's bandwidth gain."""
    settings = ({}, PASSES, *FASTER.values())
    base, alone, *others = bench.runs(*(Run(BLOCK, CARD, MIDDLE, changed, values=False) for changed in settings))
    gains = {name: 100 * (base.cycles / run.cycles - 1) for name, run in zip(FASTER, others, strict=True)}
    most = max(gains, key=lambda name: gains[name])
    shown = ", ".join(f"{name} {gain:+.0f} %" for name, gain in gains.items())
    note = (
        f"twice as much of each, at k = {MIDDLE['k']}: {shown}. Passes of one cycle alone gain "
        f"{100 * (base.cycles / alone.cycles - 1):.0f} %, as the queue of one hands over an access only every 2 cycles"
    )
    return in_sight(f"{OF_BLOCK}; a queue of two where shared memory is doubled", most, note=note)


def lost_lines(settings: Pairs, rows: int, blocks: int) -> tuple[int, int, int]:
    """Return lines of A times the warps that use them, those that miss after their first use, and all such misses."""
    machine = load(CARD, dict(settings))
    sizes = {name: str(size) for name, size in SIZES.items()}
    kernel = make(NAIVE, {**sizes, "block_x": str(WARP_SIZE), "block_y": str(rows)})
    of_a = next(pc for pc, i in enumerate(kernel.program.instructions) if i.row.mnemonic == "LDG")
    served: list[Any] = []

    def take(records: Any) -> None:
        served.append(records[(records["kind"] == SERVE) & (records["pc"] == of_a)].copy())

    run_sm(kernel, machine, blocks=blocks, trace=True, take=take)
    found = np.concatenate(served)
    assert machine.cache is not None
    return further_misses(found["block"], found["warp"], found["done"] - found["cycle"] > machine.cache.l1_latency_32)


def further_misses(
    block: NDArray[np.int64], warp: NDArray[np.int64], missed: NDArray[np.bool_]
) -> tuple[int, int, int]:
    """Return the same of loads in order of time; each warp loads the words of one line after another, in order."""
    order = np.lexsort((warp, block))
    lines = missed[order].reshape(-1, WORDS)[:, 1:]
    return len(lines), int(lines.any(axis=1).sum()), int(lines.sum())


@plot("cme213-slide-9")
def speed_and_occupancy(bench: Bench) -> Plot:
    """Slide 9: the naive kernel's occupancy and speed over the threads of a block."""
    found = sweep(bench)
    threads = tuple(float(WARP_SIZE * rows) for rows in ROWS)
    most = bench.machine(CARD).limits.warps
    best = max(run.gflops for run in found)
    return Plot(
        "Naive product: occupancy and speed by threads per block",
        "threads per block",
        "percent",
        (
            Curve(
                "occupancy calculator, % of 48 warps",
                threads,
                tuple(100 * occupancies()[int(t)][1] / most for t in threads),
            ),
            Curve(
                f"simulated speed, % of the best ({best:.0f} GFLOP/s)",
                threads,
                tuple(100 * run.gflops / best for run in found),
            ),
        ),
        note="The slide's own curve survives as its caption alone: performance follows the occupancy.",
    )


@plot("cme213-slide-13")
def speed_by_threads(bench: Bench) -> Plot:
    """Slides 9 and 13: the naive kernel's rate over the threads of a block, and what it peaks at."""
    threads = tuple(float(WARP_SIZE * rows) for rows in ROWS)
    return Plot(
        "Naive product: speed by threads per block",
        "threads per block",
        "GFLOP/s",
        (
            Curve("slide 13: the peak", (threads[0], threads[-1]), (BEST, BEST), published=True),
            Curve("simulated, one SM, short rows", threads, tuple(run.gflops for run in sweep(bench))),
        ),
        note="One SM has the L2 to itself here; with all SMs the best is that of claim CM07.",
    )


@plot("cme213-slide-11")
def rate_by_warps(bench: Bench) -> Plot:
    """Slides 10 and 11: warps that hide a latency of 24 cycles, alone and with four independent instructions each."""
    rate = 32.0
    curves = [Curve("slides 10 and 11: enough", tuple(map(float, PEAK_WARPS.values())), (rate, rate), True, line=False)]
    settings, x = bench.pairs(CARD, TRUE_LATENCY), tuple(map(float, WARPS))
    jobs = {streams: [Job(steady_rate, (settings, streams, warps)) for warps in WARPS] for streams in PEAK_WARPS}
    bench.results(*(job for some in jobs.values() for job in some))
    curves += [Curve(f"simulated, {n} independent", x, tuple(bench.results(*some))) for n, some in jobs.items()]
    return Plot(
        "Warps that hide a latency of 24 cycles",
        "warps of an SM",
        "FFMA thread instructions per cycle",
        tuple(curves),
        note=f"With {TRUE_LATENCY['unit.fp32.latency']} cycles of latency, the lecture's, in place of the card's. "
        "Rates until the first warp ends: of more warps than are needed the policy, which prefers the older ones, "
        "leaves the youngest to the end, where they run alone.",
    )


def steady_rate(settings: Pairs, streams: int, warps: int) -> float:
    """Return FFMA thread instructions per cycle from halfway to the end of the first warp that ends, up to that end."""
    shape = {"op": "FFMA", "streams": streams, "length": 240, "iterations": 4, "warps": warps}
    kernel = make("throughput", {name: str(value) for name, value in shape.items()})
    trace = run_sm(kernel, load(CARD, dict(settings)), feed=TRACE_DRIVEN, trace=True).trace
    names = np.array([instruction.row.mnemonic for instruction in kernel.program.instructions])
    issues = trace[trace["kind"] == ISSUE]
    issued, cycle = names[issues["pc"]], issues["cycle"]
    end = int(cycle[issued == "EXIT"].min())
    steady = (issued == "FFMA") & (cycle >= end // 2) & (cycle < end)
    return float(WARP_SIZE * steady.sum() / (end - end // 2))
