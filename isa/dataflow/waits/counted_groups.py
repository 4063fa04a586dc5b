"""Dependency barriers that count groups of copies: a wait for one of them, by a wait mask too, is for all groups."""

from __future__ import annotations

from isa.instruction import Instruction
from isa.program import Program
from isa.row import CLOSES, Groups
from isa.support.once import once


@once
def counting(program: Program) -> frozenset[int]:
    """Return the barriers that LDGDEPBAR, or what closes a group of bulk copies, holds by its write barrier.

    ptxas takes barrier 0 for it, by which DEPBAR.LE SB0, n waits. It counts the groups that are under way.
    """
    closing = (i.control for i in program.instructions if i.row.grouping & CLOSES and i.row.groups != Groups.MATRIX)
    held = (control.write_barrier for control in closing if control)
    return frozenset(barrier for barrier in held if barrier is not None)


def awaits_all(program: Program, instruction: Instruction) -> bool:
    """Tell whether an instruction waits by its wait mask until no group of copies is under way."""
    control = instruction.control
    if control is None or control.waits == 0:
        return False
    return any(control.waits >> barrier & 1 for barrier in counting(program))
