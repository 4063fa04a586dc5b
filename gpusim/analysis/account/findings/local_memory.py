"""Local memory: arrays that a thread indexes by variables, and registers that the compiler spilled.

What it costs at most are the issue slots lost to waits that its loads and stores cause. A wait counts by the part of
its warp-cycles that lies before instructions which wait for local memory: for a load's result, or until a load or store
has read its registers. Of waits for the queue, and for stores at the end, counts the part of the load/store unit's time
that local memory takes. A reason of which half or more is local memory's is told here, and not by itself.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gpusim.analysis.account.findings.accesses import moved
from gpusim.analysis.account.findings.finding import Cause, places
from gpusim.analysis.account.rates.utilisation import WAY, utilisation
from gpusim.bounds.bounds import UNIT
from gpusim.launch.codes.assign_codes import with_codes
from gpusim.simulation.result import Result
from gpusim.sm.registers.control_code.declaration import by_codes
from gpusim.sm.unit.stall import Stall
from gpusim.support.plural import plural
from isa.dataflow.waits.awaited import awaited, overwritten
from isa.program import Program
from isa.row import MEMORY_UNITS, Unit

MOSTLY = 0.5  # part of a reason's waits from which on local memory is told in its place
OF_QUEUE = Stall.LG_THROTTLE, Stall.MIO_THROTTLE, Stall.DRAIN
REMEDY = (
    "keep it in registers: index arrays by constants (unroll the loops), or allow more registers where they are"
    " spilled; keep small tables in shared or constant memory"
)


def local_memory(result: Result) -> Iterator[Cause]:
    """Yield what local memory costs, with its bytes and places; the threshold is that of all findings."""
    program, run = result.kernel.program, result.run
    order = np.argsort(-run.issued[: len(program)], kind="stable")
    pcs = tuple(int(pc) for pc in order if _is_local(program, pc) and run.issued[pc])
    if not pcs:
        return
    lost, slots = run.lost.sum(axis=0), run.cycles * len(run.lost)
    share = sum(part * float(lost[reason]) for reason, part in parts(result).items()) / slots
    nbytes = sum(int(run.active[pc]) * program.instructions[pc].row.nbytes for pc in pcs)
    size = f"{plural(program.local_bytes, 'byte')} a thread, " if program.local_bytes else ""
    where = places(program, pcs)
    what = f"local memory: {size}{nbytes:,} bytes loaded and stored in {plural(run.blocks, 'block')} at {where}"
    time, mine = run.cycles * run.sms, list(pcs)
    freed = {UNIT: float(run.load_store_cycles[mine].sum()) / time, WAY: float(run.held[0, mine].sum()) / time}
    for name, part in utilisation(result).items():
        freed[name] = freed.get(name, 0.0) or part * moved(result, name, pcs)[0] / max(1.0, moved(result, name)[0])
    yield Cause("local memory", what, REMEDY, pcs, freed, share)


def parts(result: Result) -> dict[Stall, float]:
    """Return by reason the part of its waits that local memory causes, 0 to 1."""
    program, run = result.kernel.program, result.run
    if not any(run.issued[pc] and _is_local(program, pc) for pc in range(len(program))):
        return {}
    mine = [pc for pc in range(len(program)) if _is_local(program, pc)]
    queue = float(run.load_store_cycles[mine].sum() / max(1, run.load_store_cycles.sum()))
    found = dict.fromkeys(OF_QUEUE, queue)
    for reason in (Stall.LONG_SCOREBOARD, Stall.WAR_HAZARD):
        waited = run.stalls[: len(program), reason]
        before = tuple(int(pc) for pc in np.flatnonzero(waited))
        causes = _causes(result, reason, before)
        own = sum(float(waited[pc]) * _part(program, causes[pc]) for pc in before)
        found[reason] = own / max(1.0, float(waited.sum()))
    return found


def told(result: Result) -> frozenset[Stall]:
    """Return the reasons for which the finding of local memory stands."""
    return frozenset(reason for reason, part in parts(result).items() if part >= MOSTLY)


def _is_local(program: Program, pc: int) -> bool:
    return program.instructions[pc].row.unit is Unit.LOCAL


def _part(program: Program, causes: tuple[int, ...]) -> float:
    """Return the part of the memory accesses among these that go to local memory."""
    far = [pc for pc in causes if program.instructions[pc].row.unit in MEMORY_UNITS]
    return sum(_is_local(program, pc) for pc in far) / max(1, len(far))


def _causes(result: Result, reason: Stall, pcs: tuple[int, ...]) -> dict[int, tuple[int, ...]]:
    """Return by pc the instructions that one may wait for: for their results, or until they have read registers."""
    program, machine = result.kernel.program, result.machine
    coded = with_codes(program, machine) if by_codes(machine) else program
    return (awaited if reason is Stall.LONG_SCOREBOARD else overwritten)(coded, pcs)
