"""Control codes as a scan of every cycle (`every_cycle.py`) sees them: the holders of each warp's barriers."""

from __future__ import annotations

from typing import Any

from gpusim.units.control_code import by_codes
from gpusim.units.stall import Stall
from isa.control import BARRIERS
from isa.dataflow import flow
from scan.state import Access, Scan, Warp


def waits(sm: Scan, warp: Warp) -> dict[Stall, int]:
    """The ends of the last instruction's stall count, and of the barriers that the next one waits for, by reason."""
    until = {Stall.WAIT: warp.counted, Stall.SHORT_SCOREBOARD: 0, Stall.LONG_SCOREBOARD: 0, Stall.WAR_HAZARD: 0}
    control = sm.code[warp.pc].control if warp.pc < len(sm.code) else None
    for barrier in range(BARRIERS):
        if control and control.waits >> barrier & 1:
            for lets_go, reason in warp.holders[barrier]:
                until[reason] = max(until[reason], lets_go())
    return until


def obey(sm: Scan, k: int, warp: Warp, now: int, *, waits_in_line: bool) -> None:
    """Apply the control code to the warp's next issue; a branch or a queued instruction waits in line anyway.

    So does one with a write barrier.
    """
    dependence, control = sm.machine.dependence, sm.code[warp.pc].control if warp.pc < len(sm.code) else None
    sm.schedulers[k].yielded = False
    if dependence and control and by_codes(sm.machine):
        warp.counted = now + max(control.stall, dependence.yield_stall if control.yields else 0)
        waits_in_line = waits_in_line or control.write_barrier is not None
        if control.yields or (0 < _turns(sm) <= control.stall and not waits_in_line):
            to_the_back(sm, k, warp)


def fill(sm: Scan, k: int, warp: Warp) -> None:
    """The warp has taken the last place in its scheduler's queue."""
    if _turns(sm):
        to_the_back(sm, k, warp)


def to_the_back(sm: Scan, k: int, warp: Warp) -> None:
    """Other warps go first from now on."""
    sm.schedulers[k].yielded = True
    warp.order, sm.ordered = sm.ordered, sm.ordered + 1


def _turns(sm: Scan) -> int:
    return sm.machine.selection.turns if by_codes(sm.machine) and sm.machine.selection else 0


def hold(sm: Scan, warp: Warp, pc: int, access: Access, active: Any, reason: Stall) -> None:
    """An instruction of the active lanes holds its barriers until its result is written and its sources are read."""
    control = sm.code[pc].control
    if control and control.write_barrier is not None:
        warp.holders[control.write_barrier].append((lambda: access.done, reason))
    if control and control.read_barrier is not None:
        warp.holders[control.read_barrier].append((lambda: access.read, Stall.WAR_HAZARD))
    warp.under_way.append((access, active))


def early(sm: Scan, warp: Warp, now: int) -> list[str]:
    """Names that the warp's next instruction touches although a result or a reader of them is pending in its lanes.

    Only lanes that go the same way count: lanes that have diverged have copies of their own.
    """
    code, live = sm.kernel.program.instructions, warp.frame.live[warp.index]
    written = flow.writes(code[warp.pc])
    touched, found = flow.reads(code[warp.pc]) | written, set[str]()
    warp.under_way = [(access, lanes) for access, lanes in warp.under_way if max(access.read, access.done) > now]
    for access, lanes in warp.under_way:
        if (lanes & live).any():
            found |= flow.writes(code[access.pc]) & touched if access.done > now else set()
            read = {f"R{register}" for register in code[access.pc].reads()}  # predicates are read at issue
            found |= read & written if access.read > now else set()
    return sorted(found)
