"""Wait counters in the scan of every cycle: until when all but the last few accesses are back."""

from __future__ import annotations

from scan_state import Scan, Warp

from gpusim.stall import Stall
from isa.instruction import Instruction
from isa.operand import Immediate
from isa.table import MEMORY_UNITS, Unit

KINDS = {Stall.LONG_SCOREBOARD: (Unit.GLOBAL, Unit.LOCAL), Stall.SHORT_SCOREBOARD: (Unit.SHARED,)}


def wait_counts(sm: Scan, warp: Warp, instruction: Instruction) -> dict[Stall, int]:
    """By reason, when so many accesses are back that the instruction may issue."""
    counters, row = sm.machine.wait_counters, instruction.row
    if counters is None:
        return {}
    largest = {Stall.LONG_SCOREBOARD: counters.vector, Stall.SHORT_SCOREBOARD: counters.shared}
    most: dict[Stall, int] = {}
    if row.mnemonic == "S_WAITCNT":
        most = dict(zip(KINDS, (o.bits for o in instruction.operands if isinstance(o, Immediate)), strict=True))
    elif row.unit in MEMORY_UNITS - {Unit.TEXTURE}:
        most = {reason: largest[reason] - 1 for reason, units in KINDS.items() if row.unit in units}
    return {reason: _back(sm, warp, reason, but=n) for reason, n in most.items()}


def _back(sm: Scan, warp: Warp, reason: Stall, *, but: int) -> int:
    """When all accesses of a kind but the last few are back."""
    rows = [(access, sm.kernel.program.instructions[access.pc].row) for access in warp.accesses]
    counted = [access for access, row in rows if row.unit in KINDS[reason]]
    return max((access.done for access in counted[: len(counted) - but]), default=0) if but < len(counted) else 0
