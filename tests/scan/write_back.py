"""Write-back as a scan of every cycle (`every_cycle.py`) sees it: what each scheduler's banks write in each cycle."""

from __future__ import annotations

from gpusim.sm.unit.capacities import RETURNING
from isa.operands.operand import FIRST_SCALAR
from isa.row import Unit
from scan.registers import bank_of
from scan.state import LATER, Access, Result, Scan


def _waits(sm: Scan) -> bool:
    file = sm.machine.register_file
    return sm.machine.write_back is not None and file is not None and file.mapping != "none"


def _banks(sm: Scan, pc: int) -> list[int]:
    """The bank of each register of the thread's own that the instruction writes."""
    file = sm.machine.register_file
    assert file is not None
    written = sm.kernel.program.instructions[pc].writes()
    return [bank_of(file, register) for register in written if register < FIRST_SCALAR]


def takes_cycle(sm: Scan, k: int, pc: int) -> None:
    """An instruction of a pipe takes this cycle of the banks that it writes."""
    if _waits(sm):
        sm.schedulers[k].writing |= set(_banks(sm, pc))


def comes_back(sm: Scan, k: int, access: Access, now: int) -> None:
    """The results of an access wait from the cycle on in which they can be written, each behind earlier ones."""
    back, banks = sm.machine.write_back, _banks(sm, access.pc) if _waits(sm) else []
    if back is None or not _waits(sm):
        return
    together = 2 if access.cycles < len(banks) else 1
    parts = [set(banks[i : i + together]) for i in range(0, len(banks), together)]
    row = sm.kernel.program.instructions[access.pc].row
    shared = row.unit is Unit.SHARED and row.is_load
    results = sm.schedulers[k].results
    if not parts and shared and any(result.shared and result.access.warp is access.warp for result in results):
        parts = [set()]  # it comes back behind an earlier one
    if not parts or len(results) + len(parts) > RETURNING:
        return
    for i, part in enumerate(parts):
        at = max(now + 1, access.done - back.lead - back.apart * (len(parts) - 1 - i))
        results.append(Result(at, part, shared, access))
    access.there, access.done, access.unwritten = access.done, LATER, len(parts)
    results.sort(key=lambda result: (result.at, result.shared, result.access.number))


def writes(sm: Scan, now: int) -> None:
    """The end of a cycle: each scheduler writes its first result, if no bank of it is written by a pipe."""
    back = sm.machine.write_back
    for scheduler in sm.schedulers if back else ():
        assert back is not None
        there = [result for result in scheduler.results if result.at <= now]
        if there and not there[0].banks & scheduler.writing:
            access = there[0].access
            access.unwritten -= 1
            if access.unwritten == 0:
                access.done = max(access.there, now + back.lead)
            scheduler.results.remove(there.pop(0))
            scheduler.wrote = now
        if there and now - max(there[0].at, scheduler.wrote) >= back.patience:
            scheduler.asked.add(now)
        scheduler.writing = set()


def stops(sm: Scan, k: int, now: int) -> bool:
    """Whether the scheduler issues nothing in this cycle, as a result had asked for that."""
    back = sm.machine.write_back
    return back is not None and now - back.notice in sm.schedulers[k].asked


def crowded(sm: Scan, now: int) -> bool:
    """Whether nothing is served, as so many results of shared memory are near the register files."""
    back = sm.machine.write_back
    if back is None or back.room == 0:
        return False
    results = [result for scheduler in sm.schedulers for result in scheduler.results if result.shared]
    return sum(result.at <= now + back.near for result in results) >= back.room
