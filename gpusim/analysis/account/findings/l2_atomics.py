"""Atomics without a result that the L2 still does when the last block has left: the launch waits for it alone."""

from __future__ import annotations

from collections.abc import Iterator

from gpusim.analysis.account.findings.finding import Finding, lines, named
from gpusim.simulation.simulation import Result
from isa.row import Unit

REMEDY = "add up within each block first, by shuffles or in shared memory, and let one thread update the word"


def l2_atomics(result: Result) -> Iterator[Finding]:
    """Yield the time at the launch's end in which no SM has a warp, and the L2 does atomics."""
    program, run = result.kernel.program, result.run
    pcs = tuple(pc for pc, i in enumerate(program.instructions) if i.row.update and i.row.unit is Unit.GLOBAL)
    alone = run.behind
    if pcs and alone:
        where = f"{named(program, pcs)}{lines(program, pcs)}"
        what = f"the L2 does atomics for {alone:,} cycles while no SM has a warp: {where}"
        yield Finding("atomics of the L2", alone / run.cycles, "counted", what, REMEDY, pcs)
