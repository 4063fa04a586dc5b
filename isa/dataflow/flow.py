"""Control flow between instructions, and the names (R4, P0) that each reads and writes."""

from __future__ import annotations

from isa.instruction import Instruction
from isa.operand import PT, Label
from isa.program import Program


def successors(program: Program) -> list[tuple[int, ...]]:
    """Return for each pc the pcs that may execute next in the same warp; the end of the program is not among them."""
    return [_next(program, pc) for pc in range(len(program))]


def predecessors(program: Program) -> list[list[int]]:
    """Return for each pc the pcs that it may follow."""
    before: list[list[int]] = [[] for _ in range(len(program))]
    for pc, after in enumerate(successors(program)):
        for target in after:
            before[target].append(pc)
    return before


def reads(instruction: Instruction) -> set[str]:
    """Return the names of the 32-bit registers and predicates read, base address and guard included."""
    return {f"R{r}" for r in instruction.reads()} | {f"P{p}" for p in instruction.predicates_read()}


def writes(instruction: Instruction) -> set[str]:
    """Return the names of the 32-bit registers and predicates written."""
    return {f"R{r}" for r in instruction.writes()} | {f"P{p}" for p in instruction.predicates_written()}


def overwrites(instruction: Instruction) -> bool:
    """Tell whether the old contents of the written registers are certainly lost: under a guard they may stay."""
    return instruction.guard == PT


def _next(program: Program, pc: int) -> tuple[int, ...]:
    instruction = program.instructions[pc]
    after = {pc + 1}
    if (instruction.row.is_branch or instruction.row.is_exit) and overwrites(instruction):
        after = set()
    if instruction.row.is_branch:
        label = instruction.operands[0]
        assert isinstance(label, Label)
        after.add(program.labels[label.name])
    return tuple(sorted(a for a in after if a < len(program)))
