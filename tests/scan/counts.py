"""Accesses under way in the scan of every cycle: the cycle at which all but the last few are back."""

from __future__ import annotations

from gpusim.sm.unit.stall import Stall
from isa.instruction import Instruction
from isa.operands.operand import Immediate
from isa.row import LOAD_UNITS, Row, Unit
from scan.state import Scan, Warp

KINDS = {
    Stall.LONG_SCOREBOARD: (Unit.GLOBAL, Unit.LOCAL),
    Stall.SHORT_SCOREBOARD: (Unit.SHARED, Unit.SMEM, Unit.CONSTANT),
}


def wait_counts(sm: Scan, warp: Warp, instruction: Instruction) -> dict[Stall, int]:
    """By reason, the cycle at which enough accesses are back for the instruction to issue."""
    counters, row = sm.machine.wait_counters, instruction.row
    if counters is None:
        return {}
    largest = {Stall.LONG_SCOREBOARD: counters.vector, Stall.SHORT_SCOREBOARD: counters.shared}
    most: dict[Stall, int] = {}
    if row.mnemonic == "S_WAITCNT":
        most = dict(zip(KINDS, (o.bits for o in instruction.operands if isinstance(o, Immediate)), strict=True))
    elif row.unit in LOAD_UNITS - {Unit.TEXTURE}:
        most = {reason: max(0, largest[reason] - _weight(row)) for reason, units in KINDS.items() if row.unit in units}
    return {reason: _back(sm, warp, reason, but=n) for reason, n in most.items()}


def outstanding(sm: Scan, warp: Warp, instruction: Instruction) -> int:
    """The cycle from which the warp has fewer accesses of that kind under way than it may."""
    limits, row = sm.machine.outstanding, instruction.row
    if limits is None or sm.machine.wait_counters or row.unit not in LOAD_UNITS - {Unit.TEXTURE, Unit.SMEM}:
        return 0
    reason = next(reason for reason, units in KINDS.items() if row.unit in units)
    most = limits.shared if reason is Stall.SHORT_SCOREBOARD else limits.vector
    return _back(sm, warp, reason, but=max(0, most - _weight(row)))


def _back(sm: Scan, warp: Warp, reason: Stall, *, but: int) -> int:
    """The cycle at which at most `but` of a kind are under way; those of the load/store unit come back in order."""
    rows = [(access, sm.kernel.program.instructions[access.pc].row) for access in warp.accesses]
    kinds = {*KINDS[reason]} - (set() if sm.machine.wait_counters else {Unit.SMEM})
    counted = [(access, row) for access, row in rows if row.unit in kinds]
    back: list[tuple[int, int]] = []
    last = 0
    for access, row in counted:
        if row.unit is Unit.SMEM:
            back.append((access.done, _weight(row)))
        else:
            last = max(last, access.done)
            back.append((last, 1))
    times = sorted({0, *(when for when, _ in back)})
    return next(t for t in times if sum(weight for when, weight in back if when > t) <= but)


def _weight(row: Row) -> int:
    return 2 if row.unit is Unit.SMEM and row.width > 32 else 1
