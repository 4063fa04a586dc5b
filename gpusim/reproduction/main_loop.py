"""The main loop of a program, in which claims count instructions."""

from __future__ import annotations

from isa.instruction import Instruction
from isa.operands.operand import Label
from isa.program import Program


def main_loop(program: Program) -> tuple[Instruction, ...]:
    """Return the instructions from the label `loop` to the branch that goes back there."""
    first = program.labels["loop"]
    backs = (pc for pc, i in enumerate(program.instructions) if i.row.is_branch and Label("loop") in i.operands)
    return program.instructions[first : next(backs) + 1]
