"""gpusim and Accel-Sim on the same warp instructions, in turns in one run: CPU seconds of whole processes.

ACCEL_SIM=.../gpu-simulator python -m benchmarks.peers.compare                       tables; some minutes
ACCEL_SIM=.../gpu-simulator python -m benchmarks.peers.compare --plot docs/pictures/peers.svg
python -m benchmarks.peers.compare --ours product --feed trace-driven                one run of gpusim, as it is timed

One SM runs the same blocks in both, Accel-Sim from a trace of what they execute here. Without a build of it a line says
so, and nothing is measured. docs/performance.md says how it is built, and what differs.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import NamedTuple

from benchmarks.peers import accel_sim, trace
from benchmarks.peers.accel_sim import Ran
from benchmarks.speed import FEEDS
from gpusim.engines.simulate import run_sm
from gpusim.machine.machine import load
from gpusim.machine.simulated_sms import blocks_of
from gpusim.reproduction.pages.drawing import COLOURS, STYLE
from gpusim.support import whole_file
from isa.kernel import Kernel
from isa.reading import extra
from workloads.catalog import make
from workloads.measured.whole import launch as whole

TURNS = 3
MILLION = 1e6


class Case(NamedTuple):
    """A kernel, on a machine, of which the first so many blocks of an SM run."""

    label: str
    kernel: Callable[[], Kernel]
    machine: str
    blocks: int


CASES = {
    "product": Case(
        "machine code of a product, 128 x 128 tiles", partial(whole.kernel, "sgemm_128x128_8x8_v4", "full"), "h200", 4
    ),
    "sg4": Case("sg4, a listing", partial(make, "sg4"), "wide", 4),
}
THEIRS: Mapping[str, Callable[[Path], Ran]] = {"Accel-Sim, trace-driven": accel_sim.run}
OURS = {"gpusim, with values": "execution-driven", "gpusim, trace-driven": "trace-driven"}


def simulated(case: Case, feed: str) -> tuple[int, int]:
    """Return warp instructions and cycles of a case, simulated in this process on one SM."""
    options = {"fast_forward": False, **FEEDS[feed]}
    done = run_sm(case.kernel(), load(case.machine), blocks=case.blocks, **options)
    return done.warp_instructions, done.cycles


def _ours(name: str, feed: str, _: Path) -> Ran:
    """Return the same, simulated in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.peers.compare", "--ours", name, "--feed", feed]
    return accel_sim.timed(command, Path.cwd())


def compared(name: str, turns: int) -> dict[str, list[Ran]]:
    """Return the runs of each simulator on a case, in turns, after one of gpusim that compiles what is missing."""
    case = CASES[name]
    kernel, machine = case.kernel(), load(case.machine)
    each = {label: partial(_ours, name, feed) for label, feed in OURS.items()} | dict(THEIRS)
    found: dict[str, list[Ran]] = {label: [] for label in each}
    with tempfile.TemporaryDirectory() as folder:
        blocks = blocks_of(kernel, machine, 1, 0)[: case.blocks]
        written = trace.write(kernel, blocks, Path(folder))
        for feed in OURS.values():
            _ours(name, feed, Path(folder))
        for _ in range(turns):
            for label, run in each.items():
                found[label].append(run(Path(folder)))
                if found[label][-1].instructions != written:
                    raise RuntimeError(f"{label}: {found[label][-1].instructions} warp instructions, not {written}")
    return found


def table(name: str, found: Mapping[str, Sequence[Ran]]) -> str:
    """Return a line for each simulator: its rate in the median turn, and the least and most CPU seconds."""
    first = next(iter(found.values()))[0]
    lines = [f"{CASES[name].label}: {first.instructions:,} warp instructions"]
    for label, runs in found.items():
        seconds = sorted(run.seconds for run in runs)
        lines.append(
            f"  {label:32} {rate(runs):12,.0f} per CPU second, {seconds[0]:.2f} to {seconds[-1]:.2f} s,"
            f" {runs[0].cycles:,} cycles"
        )
    return "\n".join(lines)


def rate(runs: Sequence[Ran]) -> float:
    """Return the warp instructions per CPU second of the median run."""
    return runs[0].instructions / median(run.seconds for run in runs)


def drawn(found: Mapping[str, Mapping[str, Sequence[Ran]]], path: Path) -> None:
    """Draw the rates as bars; raises UserError without matplotlib."""
    style, figures = (extra.module(f"matplotlib.{name}", "plot") for name in ("style", "figure"))
    with style.context(STYLE, after_reset=True), whole_file.unfinished(path) as part:
        figure = figures.Figure(figsize=(9.6, 2.4), layout="constrained")
        for (name, runs), panel in zip(found.items(), figure.subplots(1, len(found), squeeze=False).flat, strict=True):
            labels, rates = list(runs)[::-1], [rate(each) / MILLION for each in runs.values()][::-1]
            bars = panel.barh(labels, rates, color=[COLOURS[label in THEIRS] for label in labels])
            panel.bar_label(bars, fmt="%.2f", padding=2, fontsize=7)
            panel.set_title(CASES[name].label, fontsize=9)
            panel.set_xlabel("million warp instructions per CPU second")
            panel.margins(x=0.15)
        figure.savefig(part, format="svg", metadata={"Date": None, "Creator": None})


def main() -> None:
    """Print a table of each case, and draw them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ours", choices=CASES, help="run gpusim alone on this case, and print what it simulated")
    parser.add_argument("--feed", choices=FEEDS, default="trace-driven")
    parser.add_argument("--case", action="append", choices=CASES, help="compare this one; all if none is named")
    parser.add_argument("--turns", type=int, default=TURNS)
    parser.add_argument("--plot", type=Path, help="draw the rates as SVG")
    given = parser.parse_args()
    if given.ours:
        instructions, cycles = simulated(CASES[given.ours], given.feed)
        sys.stdout.write(f"gpgpu_n_tot_w_icount = {instructions}\ngpu_tot_sim_cycle = {cycles}\n")
        return
    if why := accel_sim.missing():
        sys.stdout.write(f"{why}\n")
        return
    found = dict[str, dict[str, list[Ran]]]()
    for name in given.case or CASES:
        found[name] = compared(name, given.turns)
        sys.stdout.write(f"{table(name, found[name])}\n")
        sys.stdout.flush()
    if given.plot:
        drawn(found, given.plot)


if __name__ == "__main__":
    main()
