"""Atomics of global memory that follow each other in a slice of the L2, as they update one word, or few."""

from __future__ import annotations

from collections.abc import Iterator

from gpusim.analysis.account.findings.finding import Cause, places
from gpusim.analysis.account.rates.utilisation import ATOMICS, WAY, utilisation
from gpusim.simulation.result import Result
from isa.row import Unit

REMEDY = "add up within each block first, by shuffles or in shared memory, and let one thread update the word"


def l2_atomics(result: Result) -> Iterator[Cause]:
    """Yield the time for which a slice of the L2 does atomics, or does so at the end while no SM has a warp."""
    program, run = result.kernel.program, result.run
    pcs = tuple(pc for pc, i in enumerate(program.instructions) if i.row.update and i.row.unit is Unit.GLOBAL)
    busy = utilisation(result).get(ATOMICS, 0.0)
    if pcs and (busy or run.behind):
        held = float(run.held[0, list(pcs)].sum()) / (run.cycles * run.sms)
        alone = f", for {run.behind:,} cycles of it while no SM has a warp" if run.behind else ""
        what = f"atomics follow each other in the L2 for {100 * busy:.0f} % of the time{alone}: {places(program, pcs)}"
        yield Cause(ATOMICS, what, REMEDY, pcs, {ATOMICS: busy, WAY: held}, run.behind / run.cycles)
