"""Control codes as a scan of every cycle (`every_cycle.py`) sees them: the holders of each warp's barriers."""

from __future__ import annotations

from typing import Any

from gpusim.sm.registers.control_code.declaration import by_codes
from gpusim.sm.unit.stall import Stall
from isa.dataflow import flow
from isa.nvidia.control import BARRIERS
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


def obey(sm: Scan, k: int, warp: Warp, now: int) -> None:
    """Apply the control code to the warp's next issue."""
    dependence, control = sm.machine.dependence, sm.code[warp.pc].control if warp.pc < len(sm.code) else None
    sm.schedulers[k].yielded, warp.yielded = False, -(10**9)
    if dependence and control and by_codes(sm.machine):
        warp.counted = now + max(control.stall, dependence.yield_stall if control.yields else 0)
        if control.yields:
            give_way(sm, k, warp, now)


def fill(sm: Scan, k: int, warp: Warp, now: int) -> None:
    """The warp has taken the last place in its scheduler's queue."""
    if by_codes(sm.machine) and sm.machine.selection and sm.machine.selection.full_yields:
        give_way(sm, k, warp, now)


def give_way(sm: Scan, k: int, warp: Warp, now: int) -> None:
    """Other warps go first from now on."""
    sm.schedulers[k].yielded, warp.yielded = True, now
    warp.order, sm.ordered = sm.ordered, sm.ordered + 1


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
