"""Results that the warp's next instruction takes before they are in the register file.

A result goes straight to the very next instruction if that one reads it. If that instruction also overwrites it, it
needs no place in the register file at all: in a chain of multiply-adds on one accumulator, only the first reads it
there and only the last writes it.
"""

from __future__ import annotations

from itertools import pairwise

from isa.instruction import Instruction
from isa.operands.operand import FIRST_SCALAR, PT
from isa.program import Program
from isa.row import LOAD_UNITS, Unit

Places = frozenset[tuple[int, int]]  # pc and register
_ELSEWHERE = LOAD_UNITS | {Unit.BARRIER, Unit.CONTROL, Unit.UNIFORM}


def forwarded(program: Program) -> tuple[Places, Places]:
    """Return the reads and the writes, by pc and vector register, that bypass the register file.

    Both instructions compute in every lane, and no branch leads between them.
    """
    entries = set(program.labels.values())
    reads, writes = set(), set()
    for pc, (earlier, later) in enumerate(pairwise(program.instructions)):
        if pc + 1 in entries or not (_computes(earlier) and _computes(later)):
            continue
        taken = {r for r in earlier.writes() if r < FIRST_SCALAR} & set(later.reads())
        reads |= {(pc + 1, register) for register in taken}
        writes |= {(pc, register) for register in taken & set(later.writes())}
    return frozenset(reads), frozenset(writes)


def _computes(instruction: Instruction) -> bool:
    return instruction.guard == PT and instruction.row.unit not in _ELSEWHERE
