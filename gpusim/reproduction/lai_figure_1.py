"""RR-7923's figure 1: the share of FFMAs over the register blocking, counted in a program for each point."""

from __future__ import annotations

from collections.abc import Iterable

from gpusim.reproduction.bench import Bench
from gpusim.reproduction.claims import published
from gpusim.reproduction.lai_bound import BLOCKING, LARGEST, ffma_share
from gpusim.reproduction.plot import Curve, Plot, Plotter, registrar

PLOTS: dict[str, Plotter] = {}
plot = registrar(PLOTS)

WIDTHS = {"LDS": 32, "LDS.64": 64, "LDS.128": 128}
PRINTED = {"LDS": {1: "LS18", BLOCKING: "LS19"}, "LDS.64": {BLOCKING: "LS20"}, "LDS.128": {BLOCKING: "LS21"}}


@plot("lai-figure-1")
def figure_1(bench: Bench) -> Plot:
    """Shares of programs of every blocking and width, and those that the report prints in its text."""
    blockings = range(1, LARGEST + 1)
    ours = [
        Curve(name, _x(blockings), tuple(ffma_share(bench, blocking, bits) for blocking in blockings))
        for name, bits in WIDTHS.items()
    ]
    printed = {name: {x: published(claim)[0].value or 0.0 for x, claim in of.items()} for name, of in PRINTED.items()}
    theirs = [Curve(name, _x(of), tuple(of.values()), published=True, line=False) for name, of in printed.items()]
    return Plot(
        "RR-7923, figure 1: FFMAs in the main loop of SGEMM",
        "register blocking",
        "% of FFMAs and shared loads",
        (*ours, *theirs),
        note="The published points are those printed in the text. That of LDS.128 takes one and a half loads for six "
        "words; a program has whole ones, so here a width that does not divide the blocking has a dent.",
    )


def _x(values: Iterable[int]) -> tuple[float, ...]:
    return tuple(float(value) for value in values)
