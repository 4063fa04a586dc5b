"""Waits that a program needs on machines with wait counters (GCN), by the needs of each instruction."""

from __future__ import annotations

from dataclasses import replace

from isa.dataflow import flow
from isa.instruction import Instruction
from isa.nvidia.control import Control
from isa.operands.operand import PT, Immediate
from isa.program import Program
from isa.row import Unit
from isa.table import TABLE

VECTOR, SHARED = range(2)
COUNTER = {Unit.GLOBAL: VECTOR, Unit.LOCAL: VECTOR, Unit.SHARED: SHARED, Unit.SMEM: SHARED, Unit.CONSTANT: SHARED}
ANY = 63


def waited(program: Program) -> Program:
    """The program with an S_WAITCNT before each instruction that needs a loaded value, with a count if possible.

    At labels and branches, and before a BSYNC, whose label is right after it, everything is waited for. An access under
    a guard may not be counted, so later counts leave it out, but its own result is waited for.
    """
    made, moved = [], {}
    entries = set(program.labels.values())
    behind: dict[str, tuple[int, int]] = {}  # by register: counter, and accesses issued since
    mixed = False  # a scalar load is under way, which may come back before or after others
    for pc, instruction in enumerate(program.instructions):
        row = instruction.row
        leaves = row.is_branch or row.is_exit or row.mnemonic == "BSYNC" or pc in entries
        needed = behind if leaves else {n: behind[n] for n in _touched(instruction) if n in behind}
        if needed:
            counts = [min((n for kind, n in needed.values() if kind == k), default=ANY) for k in (VECTOR, SHARED)]
            counts = [0 if leaves or (k == SHARED and mixed and n < ANY) else n for k, n in enumerate(counts)]
            code = Control(0) if instruction.control else None
            made.append(Instruction(TABLE["S_WAITCNT"], tuple(Immediate(n, "int") for n in counts), control=code))
            behind = {name: (kind, n) for name, (kind, n) in behind.items() if n < counts[kind]}
            mixed = mixed and counts[SHARED] > 0
        moved[pc] = len(made)
        made.append(instruction)
        kind = COUNTER.get(instruction.row.unit)
        if kind is not None:
            step = int(instruction.guard == PT)
            behind = {name: (k, n + step if k == kind else n) for name, (k, n) in behind.items()}
            behind |= dict.fromkeys(flow.writes(instruction), (kind, 0)) if instruction.row.is_load else {}
            mixed = mixed or instruction.row.unit is Unit.SMEM
    moved[len(program)] = len(made)
    return replace(program, instructions=tuple(made), labels={name: moved[pc] for name, pc in program.labels.items()})


def _touched(instruction: Instruction) -> set[str]:
    return flow.reads(instruction) | flow.writes(instruction)
