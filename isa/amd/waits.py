"""Find reads of scalar loads without a wait for all of them: they return in any order (GCN3 ISA, 4.4).

A forward data flow: the registers that S_LOAD writes are unsure on every path until an S_WAITCNT waits for all such
accesses.
"""

from __future__ import annotations

from functools import partial

from isa.dataflow.flow import reads, writes
from isa.dataflow.forward import forward
from isa.operands.operand import Immediate
from isa.program import Program
from isa.row import Flow, Unit

Unsure = frozenset[tuple[str, int]]  # register, and the pc of the load


def unsure_reads(program: Program) -> list[tuple[int, int]]:
    """Return (pc, pc of the scalar load) of each instruction that reads or overwrites a value that may not be back."""
    before = forward(program, frozenset[tuple[str, int]](), partial(_after, program), _merged)
    touched = [reads(i) | writes(i) for i in program.instructions]
    return sorted({(pc, load) for pc, held in enumerate(before) for name, load in held or () if name in touched[pc]})


def _merged(known: Unsure | None, arriving: Unsure) -> Unsure | None:
    """Return what is unsure on one of two paths; None if the second adds nothing."""
    return None if known is not None and arriving <= known else arriving | (known or frozenset())


def _after(program: Program, pc: int, before: Unsure) -> Unsure:
    instruction = program.instructions[pc]
    row = instruction.row
    if row.flow is Flow.AWAIT and [o.bits for o in instruction.operands if isinstance(o, Immediate)][1] == 0:
        return frozenset()
    loaded = {(name, pc) for name in writes(instruction)} if row.unit is Unit.SMEM else set()
    return before | loaded
