"""Divergence: instructions that a warp issues for some of its lanes, because its lanes parted at a branch.

An instruction without a guard that is issued for k of a warp's n lanes wastes (n - k) / n of its issue, and of the time
that the warp waits before it. Were all lanes on one way, at most so much would be saved: of the time of the issue
slots, of a pipe, of register banks or of the load/store unit, or of the warps' time, whichever is more. What a guard
leaves out is predication, and does not count.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from gpusim.analysis.account.findings.finding import PLACES, Cause, lines, named, places
from gpusim.analysis.account.rates.utilisation import BANKS, ISSUE, PIPE, WAY, utilisation
from gpusim.bounds.bounds import UNIT
from gpusim.simulation.result import Result
from gpusim.sm.pipes.pipe.declaration import choices
from isa.dataflow.flow import in_function
from isa.kernel import Kernel
from isa.operands.operand import PT
from isa.program import Program

REMEDY = (
    "let the lanes of a warp take the same way: branch by warp, sort what threads work on, or compute what differs"
    " by selection"
)


def divergence(result: Result) -> Iterator[Cause]:
    """Yield what the lanes that other ways of a branch leave idle cost; the threshold is that of all findings."""
    program, run = result.kernel.program, result.run
    lanes, idle = _lanes(result.kernel), idle_lanes(result)
    issued, active, waited = run.issued[: len(idle)], run.active[: len(idle)], run.stalls[: len(idle)].sum(axis=1)
    pcs = tuple(int(pc) for pc in np.argsort(-waited * idle, kind="stable") if idle[pc])
    if not pcs:
        return
    some = active[list(pcs)].sum() / issued[list(pcs)].sum()
    mean = "" if abs(some - round(some)) < 0.05 else " in the mean"
    branch = branch_of(program, pcs[0], active / np.maximum(1, issued))
    at = "" if branch is None else f" behind the branch at {places(program, (branch,))}"
    where = f"{named(program, pcs[:PLACES])}{lines(program, pcs)}"
    what = f"divergence: {some:.3g} of {lanes:.3g} lanes active{mean}{at}, which costs most at {where}"
    of_slots = float((issued * idle).sum() / max(1, issued.sum()))
    of_time = float((waited * idle).sum() / max(1, run.stalls.sum()))
    yield Cause("divergence", what, REMEDY, pcs, _freed(result, idle), max(of_slots, of_time))


def _freed(result: Result, idle: NDArray[np.float64]) -> dict[str, float]:
    """Return by resource the part of the time for which idle lanes keep it busy, as their part of each issue."""
    issued, found = result.run.issued[: len(idle)], {}
    units = [one.row.unit for one in result.kernel.program.instructions]
    for name, part in utilisation(result).items():
        if name in (ISSUE, BANKS) or name.startswith(PIPE):
            pipes = set(name.removeprefix(PIPE).split())
            mine = issued * [
                name in (ISSUE, BANKS) or bool(set(choices(result.machine, unit)) & pipes) for unit in units
            ]
            found[name] = part * float((mine * idle).sum() / max(1, mine.sum()))
    time = result.run.cycles * result.run.sms
    passes, held = result.run.load_store_cycles[: len(idle)], result.run.held[0, : len(idle)]
    return found | {UNIT: float((passes * idle).sum()) / time, WAY: float((held * idle).sum()) / time}


def idle_lanes(result: Result) -> NDArray[np.float64]:
    """Return by pc the part of a warp's lanes that an instruction is issued without, 0 to 1; 0 where it has a guard."""
    code, run = result.kernel.program.instructions, result.run
    issued = run.issued[: len(code)]
    idle = 1 - run.active[: len(code)] / np.maximum(1, issued * _lanes(result.kernel))
    counts = np.array([one.guard == PT for one in code]) & (issued > 0)
    return np.where(counts, np.maximum(0, idle), 0.0)


def _lanes(kernel: Kernel) -> float:
    """Return the lanes of a warp that have a thread, in the mean: a block's last warp may have fewer."""
    return kernel.threads / kernel.warps


def branch_of(program: Program, pc: int, active: NDArray[np.float64]) -> int | None:
    """Return the branch at which the lanes part that are absent at pc; None where none is known.

    It is the last conditional branch that every way to pc passes and that more lanes reach. Where none does, lanes
    leave a loop around pc one after the other: then it is the conditional branch of that loop. `active` has the lanes
    of an issue by pc, in the mean, of a branch those that take it.
    """
    import networkx as nx  # noqa: PLC0415  (start-up time)

    graph = nx.DiGraph([(at, after) for at, those in enumerate(in_function(program)) for after in those])
    if pc not in graph or not nx.has_path(graph, 0, pc):
        return None
    above, before = nx.immediate_dominators(graph, 0), pc
    while above.get(before, 0) not in (None, before) and before:
        at, before = above[before], above[before]
        if _is_conditional(program, at) and graph.out_degree(at) > 1 and _reached_by(program, at, active) > active[pc]:
            return int(at)
    around = next((those for those in nx.strongly_connected_components(graph) if pc in those), {pc})
    leaving = [at for at in sorted(around) if _is_conditional(program, at) and any(n not in around for n in graph[at])]
    return leaving[-1] if leaving else None


def _is_conditional(program: Program, pc: int) -> bool:
    one = program.instructions[pc]
    return one.row.is_branch and one.guard != PT


def _reached_by(program: Program, pc: int, active: NDArray[np.float64]) -> float:
    """Return the lanes that reach a branch: those of the last instruction before it without a guard."""
    before = (at for at in range(pc - 1, -1, -1) if program.instructions[at].guard == PT)
    return float(active[next(before, pc)])
