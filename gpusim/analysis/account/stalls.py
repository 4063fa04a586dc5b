"""The warp-cycles and issue slots of a run, by stall reason and by instruction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated

import numpy as np
from numpy.typing import NDArray

from gpusim.engines.sm_run import ChipRun, SmRun
from gpusim.launch.codes.assign_codes import FAR, sharing
from gpusim.sm.unit.stall import Stall, label
from gpusim.support.document import doc
from isa.dataflow.waits.shared_barriers import SOURCES, SharedBarrier
from isa.kernel import Kernel
from isa.text.printer import text_of

if TYPE_CHECKING:
    from gpusim.simulation.result import Result

NOTHING_SHARED: Mapping[int, Sequence[SharedBarrier]] = MappingProxyType({})
NO_WAIT = (Stall.NOT_SELECTED, Stall.SELECTED, Stall.WARP_EXITED, Stall.NO_WARP)


@dataclass(frozen=True)
class Waiting:
    """How long warps wait before one instruction: warp-cycles, their share of all, and the main reason.

    `shared_barriers`: an instruction that may hold them though they don't need it: it shares a dependency barrier with
    one that they need.
    """

    pc: int
    text: str
    cycles: int
    share: float
    reason: str
    shared_barriers: tuple[SharedBarrier, ...] = ()
    offset: Annotated[int, doc("In machine code, in bytes; -1 if it is none.")] = -1


def warp_cycles(run: SmRun) -> dict[str, int]:
    """Return warp-cycles by reason, most first; they add up to the run's cycles x warp slots."""
    totals = run.stalls.sum(axis=0)
    totals[Stall.NO_WARP] += run.empty
    return _by_name(totals)


def lost_slots(run: SmRun) -> dict[str, int]:
    """Return cycles of unused issue slots of all schedulers by reason, most first.

    With the slots used (one dispatch port: the warp instructions) x interval they are the run's cycles x schedulers.
    """
    return _by_name(run.lost.sum(axis=0))


def lost_by_the_last(run: SmRun) -> dict[str, int]:
    """Return cycles of unused issue slots of the SM's schedulers by reason, most first.

    Where several SMs were simulated, they are those of the SM that is done last.
    """
    return lost_slots(max(run.each, key=lambda sm: sm.cycles) if isinstance(run, ChipRun) else run)


def waits(run: SmRun) -> NDArray[np.int64]:
    """Return warp-cycles of waiting by pc and reason; being ready but not selected does not count as waiting."""
    waiting = run.stalls.copy()
    waiting[:, NO_WAIT] = 0
    return waiting


def waited(result: Result) -> list[Waiting]:
    """Return the instructions before which warps wait longest, and which of these wait for more than they need."""
    return waiting_most(result.kernel, result.run, shared=sharing(result.kernel.program, result.machine))


def waiting_most(
    kernel: Kernel, run: SmRun, count: int = 8, *, shared: Mapping[int, Sequence[SharedBarrier]] = NOTHING_SHARED
) -> list[Waiting]:
    """Return the instructions before which warps wait longest; `shared` has by pc who shares barriers."""
    each = waits(run)
    totals, everything = each.sum(axis=1), run.cycles * run.warp_slots
    order = [int(pc) for pc in np.argsort(-totals, kind="stable")[:count] if totals[pc]]
    reasons = {pc: int(each[pc].argmax()) for pc in order}
    return [
        Waiting(
            pc,
            _text(kernel, pc),
            int(totals[pc]),
            float(totals[pc]) / everything,
            label(reasons[pc]),
            tuple(one for one in shared.get(pc, ()) if reasons[pc] == _reason(kernel, one)),
            kernel.program.offset(pc),
        )
        for pc in order
    ]


def _reason(kernel: Kernel, one: SharedBarrier) -> Stall:
    """Return the stall reason of a wait for an instruction that shares a barrier."""
    if one.what == SOURCES:
        return Stall.WAR_HAZARD
    far = kernel.program.instructions[one.pc].row.unit in FAR
    return Stall.LONG_SCOREBOARD if far else Stall.SHORT_SCOREBOARD


def _by_name(totals: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> dict[str, int]:
    order = np.argsort(-totals, kind="stable")
    return {label(int(reason)): int(totals[reason]) for reason in order if totals[reason]}


def _text(kernel: Kernel, pc: int) -> str:
    return text_of(kernel.program, pc) if pc < len(kernel.program) else "end of the program"
