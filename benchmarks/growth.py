"""How time and memory grow with the work: k, grid, warps, SMs, length of a program, size of a machine.

python -m benchmarks.growth                            a table; minutes on an idle machine
python -m benchmarks.growth --axis k --axis grid       some axes
python -m benchmarks.growth --plot docs/pictures/growth.svg

Each point is a process of its own, which calls `simulate` without values: once, and once more to be timed, so that
nothing is compiled. Seconds are of CPU time, of all threads; memory is the most that the process held.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from math import log
from pathlib import Path
from typing import Any

from gpusim.machine.machine import load
from gpusim.reproduction.pages.drawing import COLOURS, STYLE
from gpusim.simulation.result import Result
from gpusim.simulation.simulation import simulate
from gpusim.support import whole_file
from isa.kernel import Kernel
from isa.reading import extra
from isa.text import listing
from workloads.catalog import make

KIB = 1024  # in a MiB, and bytes of a unit of ru_maxrss
SUPERLINEAR = 1.1  # exponent from which a growth counts as faster than the size's


@dataclass(frozen=True)
class Axis:
    """What grows: its name with the unit, the sizes, and the run of a size."""

    label: str
    sizes: tuple[int, ...]
    run: Callable[[int], Result]


@dataclass(frozen=True)
class Point:
    """One size: CPU seconds of a run, MiB that the process held at most, warp instructions that were simulated."""

    size: int
    seconds: float
    mib: float
    instructions: int


def _lai(machine: str, **parameters: object) -> Result:
    kernel = make("sgemm-lai", {name: str(value) for name, value in parameters.items()})
    return simulate(kernel, machine, values=False)


def _mix(warps: int) -> Result:
    return simulate(make("mix", {"warps": str(warps), "iterations": "64"}), "wide", values=False, fast_forward=False)


def _chip(sms: int) -> Result:
    """Two blocks on each SM of a chip, which are all simulated."""
    kernel = make("sgemm-lai", {"m": "192", "n": str(96 * sms), "k": "96"})
    return simulate(kernel, load("h200", {"chip.sms": sms, "cache.hits": "none"}), values=False, sms="all", threads=1)


def _one_of(sms: int) -> Result:
    """Two blocks on one SM of a chip of so many."""
    kernel = make("sgemm-lai", {"m": "192", "n": str(96 * sms), "k": "96"})
    return simulate(kernel, load("h200", {"chip.sms": sms, "cache.hits": "none"}), values=False)


def _long(instructions: int) -> Result:
    """A straight line of additions and multiplications, four warps."""
    lines = (f"FFMA R{4 + i % 16}, R{4 + i % 13}, R3, R{4 + i % 11}" for i in range(instructions))
    return simulate(straight("\n".join(lines)), "gtx580", values=False)


def straight(text: str) -> Kernel:
    """Return a kernel of one block of four warps from the lines of its program."""
    return listing.read(f".kernel straight\n.block 128\n{text}\nEXIT")


AXES = {
    "k": Axis(
        "k, 4800 x 4800 of sgemm-lai",
        (480, 960, 1920, 3840, 7680, 19200),
        lambda k: _lai("gtx580-1566", m=4800, n=4800, k=k),
    ),
    "grid": Axis(
        "columns, 4800 x n x 480 of sgemm-lai",
        (480, 960, 1920, 3840, 7680, 15360),
        lambda n: _lai("gtx580-1566", m=4800, n=n, k=480),
    ),
    "warps": Axis("warps of mix", (1, 2, 4, 8, 16, 32), _mix),
    "sms": Axis("SMs, all simulated, two blocks each", (1, 2, 4, 8, 16, 33, 66, 132), _chip),
    "program": Axis("instructions of a straight program", (1000, 2000, 4000, 8000, 16000, 30000), _long),
    "machine": Axis("SMs of a chip, of which one is simulated", (1, 2, 4, 8, 16, 33, 66, 132), _one_of),
}


def measured(axis: Axis, size: int) -> Point:
    """Return the point of a size, measured in this process."""
    axis.run(size)
    before = time.process_time()
    result = axis.run(size)
    seconds = time.process_time() - before
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / KIB
    return Point(size, seconds, most, result.warp_instructions)


def exponents(points: Sequence[Point]) -> list[float]:
    """Return by what power of the size the seconds grow from each point to the next: 1 is in proportion."""
    return [log(b.seconds / a.seconds) / log(b.size / a.size) for a, b in pairwise(points)]


def drawn(found: dict[str, list[Point]], path: Path) -> None:
    """Draw seconds and memory over each axis; raises UserError without matplotlib."""
    style, figures = (extra.module(f"matplotlib.{name}", "plot") for name in ("style", "figure"))
    with style.context(STYLE, after_reset=True), whole_file.unfinished(path) as part:
        figure = figures.Figure(figsize=(9.6, 3.1 * ((len(found) + 2) // 3)), layout="constrained")
        panels = figure.subplots((len(found) + 2) // 3, 3, squeeze=False).flat
        for (name, points), panel in zip(found.items(), panels, strict=False):
            _draw(panel, AXES[name], points)
        for panel in list(panels):
            panel.set_axis_off()
        figure.savefig(part, format="svg", metadata={"Date": None, "Creator": None})


def _draw(panel: Any, axis: Axis, points: Sequence[Point]) -> None:
    sizes, seconds = [point.size for point in points], [point.seconds for point in points]
    panel.loglog(sizes, seconds, "o-", color=COLOURS[0], ms=4, label="CPU seconds")
    last = [seconds[-1] * size / sizes[-1] for size in sizes]
    panel.loglog(sizes, last, ":", color="#777777", label="in proportion to the last")
    panel.loglog(sizes, [point.mib / KIB for point in points], "s--", color=COLOURS[1], ms=4, label="GiB held")
    for scale in (panel.xaxis, panel.yaxis):
        scale.set_minor_formatter("")  # labels of powers of ten alone
    panel.set_title(axis.label, fontsize=9)
    panel.legend(fontsize=7)


def _apart(name: str, size: int) -> Point:
    """Return the point of a size, measured in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.growth", "--axis", name, "--size", str(size)]
    return Point(**json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))


def _table(name: str) -> list[Point]:
    """Measure an axis, print its table line by line, and return its points."""
    sys.stdout.write(f"\n{AXES[name].label}\n      size  CPU seconds       MiB  warp instructions  exponent\n")
    points = list[Point]()
    for size in AXES[name].sizes:
        points.append(_apart(name, size))
        power = f"{exponents(points[-2:])[0]:10.2f}" if points[1:] else ""
        one = points[-1]
        sys.stdout.write(f"{one.size:10,} {one.seconds:12.3f} {one.mib:9.0f} {one.instructions:18,}{power}\n")
        sys.stdout.flush()
    return points


def main() -> None:
    """Print a table for each axis, and draw them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--axis", action="append", choices=AXES, help="measure this one; all if none is named")
    parser.add_argument("--size", type=int, help="measure one point of the axis here, and print it as JSON")
    parser.add_argument("--plot", type=Path, help="draw the axes as SVG")
    given = parser.parse_args()
    names = given.axis or list(AXES)
    if given.size:
        sys.stdout.write(json.dumps(asdict(measured(AXES[names[0]], given.size))))
        return
    found = {name: _table(name) for name in names}
    faster = [name for name, points in found.items() if exponents(points)[-1] > SUPERLINEAR]
    sys.stdout.write(f"\nfaster than in proportion at the end: {', '.join(faster) or 'none'}\n")
    if given.plot:
        drawn(found, given.plot)


if __name__ == "__main__":
    main()
