"""Print one line for each of some runs; a change that keeps behaviour must keep these lines to the bit.

    python benchmarks/same_runs.py > before.txt     # on one state of the code
    python benchmarks/same_runs.py > after.txt      # on the other; the two must be equal

A hundred are kernels of the catalog, each on a machine where it fits: Fermi, Kepler, GCN and later ones, by one SM. The
others are the machine code of `examples/cuda`, with tags, by one SM, by all SMs and by both engines. Only names and
commands that users know are used, so that the same script runs on both states.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from hashlib import sha256
from itertools import islice
from pathlib import Path
from random import Random

import gpusim
from isa.errors import UserError
from workloads.catalog import CATALOG, make

RUNS = 100
MACHINES = ("gtx580", "gtx480", "c2050", "gtx680", "gtx980", "h200", "rtx3090", "gt200", "mi60", "v100")
SMALL = {"m": 192, "n": 192, "k": 32, "blocks": 8, "iterations": 3, "length": 24}
MOST = 2_000_000  # cycles
CODES = sorted(Path("examples/cuda").glob("*.toml"))
WAYS = ((), ("--sms", "all"), ("--sms", "4"), ("--engine", "reference"))


def runs() -> Iterator[str]:
    """Yield a line for each kernel of the catalog on each machine where it fits, in random order."""
    pairs = [(kernel, machine) for kernel in sorted(CATALOG) for machine in MACHINES]
    Random(16).shuffle(pairs)
    for kernel, machine in pairs:
        known = {parameter.name for parameter in CATALOG[kernel].parameters}
        given = {name: str(value) for name, value in SMALL.items() if name in known}
        try:
            made = make(kernel, given)
            result = gpusim.simulate(made, gpusim.load(machine), max_cycles=MOST)
        except UserError:
            continue
        run = result.run
        digest = _digest(run.stalls.tobytes() + run.lost.tobytes() + run.memory.tobytes())
        yield f"{kernel} {machine} {result.cycles} {run.warp_instructions} {result.bound.cycles} {digest}"


def codes() -> Iterator[str]:
    """Yield a line for each kernel of machine code, run in each of the `WAYS`: a digest of its JSON document."""
    for file in CODES:
        for way in WAYS:
            command = [sys.executable, "-m", "gpusim", "run", str(file), *way, "--json"]
            done = subprocess.run(command, capture_output=True, check=False)
            said = done.stdout or done.stderr.splitlines()[-1]
            yield f"{file.stem} {' '.join(way)} {done.returncode} {_digest(said)}"


def _digest(content: bytes) -> str:
    return sha256(content).hexdigest()[:16]


def _show(lines: Iterator[str]) -> None:
    for line in lines:
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    _show(islice(runs(), RUNS))
    _show(codes())
