"""What a rule calls when a program does what it may not: the run ends at that instruction."""

from __future__ import annotations

from gpusim.sm.jit.rule import rarely
from gpusim.sm.records import Sm


@rarely
def stop(sm: Sm, code: int, g: int, pc: int, lane: int = -1, address: int = 0, detail: int = 0) -> bool:
    """Let the run end at warp slot g's instruction at `pc`, if nothing has ended it before; return False.

    `code`: a member of gpusim.sm.state.fault.Fault, which says what `address` and `detail` are. `lane`: -1 is none.
    """
    fault = sm.fault
    if fault.code == 0:
        fault.code, fault.pc, fault.warp = code, pc, g
        fault.lane, fault.address, fault.detail = lane, address, detail
    return False
