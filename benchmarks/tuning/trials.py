"""What a trial of `gpusim tune` costs by stage: products of 4096 x 4096 x 4096, and convolutions, on an RTX 3090.

python -m benchmarks.tuning.trials                                   a table; two minutes on an idle machine
python -m benchmarks.tuning.trials --plot docs/pictures/trials.svg

CPU seconds of one process. Each space is tuned twice, and the second counts: what is compiled once per installation is
not of a trial, and the points' code is kept from the first. CUDA's compiler is needed (the extra `cuda`).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from gpusim.reproduction.pages.drawing import COLOURS, STYLE
from gpusim.support import whole_file
from isa.reading import extra

MACHINE = "rtx3090"
SPACES = {  # a space file, its sizes, and the values that are kept of its parameters
    "product": (
        "examples/tuning/sgemm.toml",
        ("M=4096", "N=4096", "K=4096", "THREAD_M=8", "TILE_N=128", "VECTOR=1,4", "PAD=0"),
    ),
    "convolution": (
        "examples/tuning/convolution.toml",
        ("WIDTH=4096", "HEIGHT=4096", "BLOCK_Y=8", "THREAD_X=4", "PAD=0"),
    ),
}
WIDTH = 0.8  # of a bar

Costs = Mapping[str, float]  # CPU seconds by stage


def tuned(file: str, kept: Sequence[str]) -> list[tuple[str, Costs]]:
    """Return the method and the cost of each trial of a space, in the order of its ranks."""
    given = [word for each in kept for word in ("-p", each)]
    command = [sys.executable, "-m", "gpusim", "tune", file, "--machine", MACHINE, *given]
    command += ["--jobs", "1", "--top", "1000", "--verbose", "--json"]
    document = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    return [(each["method"], each["seconds"]) for each in document["machines"][0]["ranking"] if "seconds" in each]


def table(name: str, found: Sequence[tuple[str, Costs]]) -> str:
    """Return a line for each method: trials, mean and largest CPU seconds, and the mean of each stage."""
    lines = [f"{name}: {len(found)} trials, {fmean(sum(costs.values()) for _, costs in found):.2f} CPU seconds each"]
    for method in sorted({method for method, _ in found}):
        costs = [each for other, each in found if other == method]
        largest = max(sum(each.values()) for each in costs)
        parts = ", ".join(f"{stage} {seconds:.2f}" for stage, seconds in means(costs).items())
        lines.append(f"  {method:14} {len(costs):3} trials, {largest:.2f} at most: {parts}")
    return "\n".join(lines)


def means(costs: Sequence[Costs]) -> dict[str, float]:
    """Return the mean seconds of each stage, the most expensive first."""
    names = {stage for each in costs for stage in each}
    found = {stage: fmean(each.get(stage, 0.0) for each in costs) for stage in names}
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


def drawn(found: Mapping[str, Sequence[tuple[str, Costs]]], path: Path) -> None:
    """Draw a bar for each trial, its stages one on the other; raises UserError without matplotlib."""
    style, figures = (extra.module(f"matplotlib.{name}", "plot") for name in ("style", "figure"))
    stages = list(means([costs for trials in found.values() for _, costs in trials]))
    with style.context(STYLE, after_reset=True), whole_file.unfinished(path) as part:
        figure = figures.Figure(figsize=(9.6, 3.4), layout="constrained")
        for (name, trials), panel in zip(found.items(), figure.subplots(1, len(found)), strict=True):
            _draw(panel, name, [costs for _, costs in trials], stages)
        panel.legend()
        figure.savefig(part, format="svg", metadata={"Date": None, "Creator": None})


def _draw(panel: Any, name: str, trials: Sequence[Costs], stages: Sequence[str]) -> None:
    order = sorted(trials, key=lambda costs: sum(costs.values()))
    below = [0.0] * len(order)
    for stage, colour in zip(stages, [*COLOURS, *COLOURS], strict=False):
        heights = [costs.get(stage, 0.0) for costs in order]
        panel.bar(range(1, len(order) + 1), heights, WIDTH, below, color=colour, label=stage)
        below = [low + height for low, height in zip(below, heights, strict=True)]
    panel.set_title(f"{name}: CPU seconds of each trial")
    panel.set_xlabel("trials, the cheapest first")


def main() -> None:
    """Print a table of each space, and draw them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plot", type=Path, help="draw the trials as SVG")
    given = parser.parse_args()
    found = dict[str, list[tuple[str, Costs]]]()
    for name, (file, kept) in SPACES.items():
        try:
            tuned(file, kept)
            found[name] = tuned(file, kept)
        except subprocess.CalledProcessError as error:  # which has said why, as without a compiler
            raise SystemExit(error.returncode) from None
        sys.stdout.write(f"{table(name, found[name])}\n")
        sys.stdout.flush()
    if given.plot:
        drawn(found, given.plot)


if __name__ == "__main__":
    main()
