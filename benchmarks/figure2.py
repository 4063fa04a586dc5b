"""The search that fitted parameters of gtx580.toml: FFMA:LDS mixes of RR-7923, figure 2, over a grid of settings.

Run `python benchmarks/figure2.py`: for each setting the mean and spread, over ten launch skews, of the three mixes'
error in percent; then the errors skew by skew for the setting in the machine file, as long as the ledger runs the
mixes, with schedulers that go first in turn and with one that always does. Takes a few minutes.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from rich.console import Console
from rich.progress import track

from gpusim.engines.simulate import run_sm
from gpusim.machine.machine import load
from workloads.catalog import make

PUBLISHED = {("3:1", "32"): 31.3, ("6:1", "64"): 30.4, ("12:1", "128"): 24.5}  # thread instructions per cycle
# queue depth, slot wasted, pointer moved, retry
QUEUE_RULES = (
    (1, 1, 0, 2), (1, 1, 0, 4), (1, 1, 0, 6), (2, 1, 0, 2), (2, 1, 0, 6), (3, 1, 0, 2), (1, 0, 0, 2), (1, 1, 1, 2),
)  # fmt: skip
SKEWS = (8, 10, 14, 18, 22, 26, 30, 36, 42, 50)
FINE = (2, 4, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 36, 42, 50)
SHORT, LONG = 16, 32  # times round the loop


def errors(settings: dict[str, int], iterations: int = SHORT) -> list[float]:
    """Error of each mix in percent on a GTX 580 with these settings."""
    machine, rounds = load("gtx580", settings), {"iterations": str(iterations)}
    kernels = {mix: make("mix", {"ratio": mix[0], "lds": mix[1], **rounds}) for mix in PUBLISHED}
    runs = {mix: run_sm(kernel, machine, feed="trace-driven") for mix, kernel in kernels.items()}
    return [100 * (runs[mix].active.sum() / runs[mix].cycles / rate - 1) for mix, rate in PUBLISHED.items()]


def main() -> None:
    """Print both tables."""
    console = Console()
    grid = list(product((0, 1), (1, 0), QUEUE_RULES))
    for stagger, rotate, (queue, wastes, moves, retry) in track(grid, console=Console(stderr=True)):
        rule = {"load_store.queue": queue, "issue.refused_wastes_slot": wastes, "issue.refused_moves_pointer": moves}
        rest = {"issue.refused_retry": retry, "issue.rotate": rotate, "schedulers.stagger": stagger}
        found = np.array([errors({**rule, **rest, "launch.warp_skew": skew}) for skew in SKEWS])
        text = ", ".join(f"{name} {value}" for name, value in {**rule, **rest}.items())
        console.print(f"{text}: {found.mean(0).round(1)} +- {found.std(0).round(1)}", soft_wrap=True)
    for rotate, skew in product((1, 0), FINE):
        found = errors({"issue.rotate": rotate, "launch.warp_skew": skew}, LONG)
        console.print(f"rotate {rotate}, skew {skew}:", np.round(found, 1))


if __name__ == "__main__":
    main()
