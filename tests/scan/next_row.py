"""The next instruction of a warp of the scan of every cycle."""

from __future__ import annotations

from isa.row import Row, Unit
from isa.table import TABLE
from scan.state import Scan, Warp


def kind_of(sm: Scan, warp: Warp) -> str:
    """The kind of the warp's next instruction: its unit class, `load` or `store`, `exit`, `branch`."""
    if warp.pc == len(sm.kernel.program):
        return "exit"
    row = sm.kernel.program.instructions[warp.pc].row
    if row.unit not in (Unit.TEXTURE, Unit.SMEM) and (row.is_load or row.is_store):
        return "load" if row.is_load else "store"
    return "branch" if row.is_branch else "exit" if row.is_exit else row.unit.value


def row_of(sm: Scan, warp: Warp) -> Row:
    """The table's row of the warp's next instruction; after the end, that of EXIT."""
    ended = warp.pc == len(sm.kernel.program)
    return TABLE["EXIT"] if ended else sm.kernel.program.instructions[warp.pc].row
