"""How near the bound comes: the part of the simulated cycles that it says, where a resource is busy.

python -m benchmarks.bound                     the 21 kernels in full grids, and the Triton launches of tests/measured
python -m benchmarks.bound --name sgemm        those whose name this regular expression finds

A line has the launch, simulated cycles, the bound's part of them, its limiter, and the busiest resource by what the run
counted, with the part of the time. Marked are launches of which a resource is busy for over 0.9 of the time and the
bound says less than 0.8 of it.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator

import gpusim
from benchmarks.tensor.triton_launches import FOLDER, FURTHER, cases, simulated
from gpusim.analysis.account.rates.utilisation import utilisation
from gpusim.simulation.result import Result
from isa.errors import UserError
from workloads.measured.whole import launch, tables

BUSY, NEAR = 0.9, 0.8


def results(pattern: str) -> Iterator[tuple[str, Result]]:
    """Yield the launches whose name matches, simulated with a warm L2."""
    machine = gpusim.load("h200", {"l2.filled": 1})
    for name in tables.compiled():
        if re.search(pattern, name):
            yield name, gpusim.simulate(launch.kernel(name, "full"), machine, values=False)
    for folder in (FOLDER, FURTHER):
        for case in cases(folder):
            if re.search(pattern, case["name"]):
                try:
                    yield case["name"], simulated(folder, case, complete=False).result
                except UserError as error:
                    print(f"{case['name']:28} {str(error).splitlines()[0][:80]}", flush=True)  # noqa: T201


def line(name: str, result: Result) -> str:
    """Return what the bound says of a launch."""
    if result.bound is None:
        return f"{name:28} {result.cycles:10,} no bound"
    part = result.bound.cycles / result.cycles
    (busiest, busy), *_ = (utilisation(result) | {"": 0.0}).items()
    mark = "  <--" if busy > BUSY and part < NEAR else ""
    return f"{name:28} {result.cycles:10,} {part:6.3f} {result.bound.limiter:28} {busiest:24} {busy:5.3f}{mark}"


def main() -> None:
    """Print a line for each launch that was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--name", default="", help="launches whose name this regular expression finds")
    for name, result in results(parser.parse_args().name):
        print(line(name, result), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
