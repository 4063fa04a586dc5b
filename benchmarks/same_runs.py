"""Print one line for each of a hundred runs; a change that keeps behaviour must keep these lines to the bit.

    python benchmarks/same_runs.py > before.txt     # on one state of the code
    python benchmarks/same_runs.py > after.txt      # on the other; the two must be equal

Only names that users know are imported, so that the same script runs on both.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from hashlib import sha256
from itertools import islice
from random import Random

import gpusim
from isa.errors import UserError
from workloads.catalog import CATALOG, make

RUNS = 100
MACHINES = ("gtx580", "gtx480", "c2050", "gtx680", "gtx980", "h200", "rtx3090", "gt200", "mi60", "v100")
SMALL = {"m": 192, "n": 192, "k": 32, "blocks": 8, "iterations": 3, "length": 24}
MOST = 2_000_000  # cycles


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
        digest = sha256(run.stalls.tobytes() + run.lost.tobytes() + run.memory.tobytes()).hexdigest()[:16]
        yield f"{kernel} {machine} {result.cycles} {run.warp_instructions} {result.bound.cycles} {digest}"


if __name__ == "__main__":
    for line in islice(runs(), RUNS):
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
