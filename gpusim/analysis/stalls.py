"""Where the warp-cycles and the issue slots of a run went: by reason, and by instruction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpusim.engines.simulate import SmRun
from gpusim.stall import Stall, label
from isa.kernel import Kernel
from isa.printer import show_instruction

NO_WAIT = (Stall.NOT_SELECTED, Stall.SELECTED, Stall.X_EXITED, Stall.X_EMPTY)


@dataclass(frozen=True)
class Waiting:
    """How long warps wait before one instruction: warp-cycles, their share of all, and the reason of most of them."""

    pc: int
    text: str
    cycles: int
    share: float
    reason: str


def warp_cycles(run: SmRun) -> dict[str, int]:
    """Return warp-cycles by reason, most first; they add up to the run's cycles x warp slots."""
    totals = run.stalls.sum(axis=0)
    totals[Stall.X_EMPTY] += run.empty
    return _by_name(totals)


def lost_slots(run: SmRun) -> dict[str, int]:
    """Return cycles of unused issue slots of all schedulers by reason, most first.

    With the slots used (one dispatch port: the warp instructions) x interval they are the run's cycles x schedulers.
    """
    return _by_name(run.lost.sum(axis=0))


def waits(run: SmRun) -> NDArray[np.int64]:
    """Return warp-cycles of waiting by pc and reason; being ready but not selected is no waiting here."""
    waiting = run.stalls.copy()
    waiting[:, NO_WAIT] = 0
    return waiting


def waiting_most(kernel: Kernel, run: SmRun, count: int = 8) -> list[Waiting]:
    """Return the instructions before which warps wait longest."""
    each = waits(run)
    totals, everything = each.sum(axis=1), run.cycles * run.warp_slots
    order = [int(pc) for pc in np.argsort(-totals, kind="stable")[:count] if totals[pc]]
    return [
        Waiting(pc, _text(kernel, pc), int(totals[pc]), float(totals[pc]) / everything, label(int(each[pc].argmax())))
        for pc in order
    ]


def _by_name(totals: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> dict[str, int]:
    order = np.argsort(-totals, kind="stable")
    return {label(int(reason)): int(totals[reason]) for reason in order if totals[reason]}


def _text(kernel: Kernel, pc: int) -> str:
    code = kernel.program.instructions
    return show_instruction(code[pc]) if pc < len(code) else "end of the program"
