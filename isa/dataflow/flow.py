"""Control flow between instructions, and the names (R4, P0) that each reads and writes.

A return leads to every place at which some call goes on, and an indirect branch without known targets to every label:
an analysis may take a path that no lane takes, but misses none that one takes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from isa.instruction import Instruction
from isa.operands.operand import PT, Immediate, Label, Register, Targets
from isa.program import CODE_BYTES, Program
from isa.row import Flow


def successors(program: Program) -> list[tuple[int, ...]]:
    """Return for each pc the pcs that may execute next in the same warp; the end of the program is not among them."""
    returns, collectives = None, _collectives(program)
    found = list[tuple[int, ...]]()
    for pc, instruction in enumerate(program.instructions):
        after = set() if leaves(instruction) else {pc + 1}
        if _returns(instruction):
            returns = return_sites(program) if returns is None else returns
            after |= returns
        elif instruction.row.is_branch:
            after |= targets(program, pc)
        elif pc in collectives:
            after = {at + 1 for at in collectives}
        elif instruction.row.flow is Flow.DISPERSE:
            after = set(collectives.values())
        found.append(tuple(sorted(a for a in after if a < len(program))))
    return found


def in_function(program: Program) -> list[tuple[int, ...]]:
    """Return the same within each function: a call is followed by the instruction behind it, a return by nothing."""
    after = successors(program)
    for pc, instruction in enumerate(program.instructions):
        if is_call(instruction) or _returns(instruction):
            stays = is_call(instruction) or not leaves(instruction)
            after[pc] = (pc + 1,) if stays and pc + 1 < len(program) else ()
    return after


def predecessors(program: Program) -> list[list[int]]:
    """Return for each pc the pcs that it may follow."""
    return reversed_ways(successors(program))


def reversed_ways(after: Sequence[Iterable[int]]) -> list[list[int]]:
    """Return by pc those whose ways lead to it."""
    before: list[list[int]] = [[] for _ in after]
    for pc, ways in enumerate(after):
        for target in ways:
            before[target].append(pc)
    return before


def targets(program: Program, pc: int) -> set[int]:
    """Return the pcs to which a branch or a call may go."""
    instruction = program.instructions[pc]
    label = instruction.label()
    if label is not None and not instruction.row.is_indirect:
        return {program.labels[label.name]}
    known = [name for o in instruction.operands if isinstance(o, Targets) for name in o.names]
    known += program.indirect.get(pc, ())
    return {program.labels[name] for name in known} if known else _beginnings(program)


def _beginnings(program: Program) -> set[int]:
    """Return the pcs at which code may begin that no branch is known to go to: labels, and what follows no path."""
    apart = {pc + 1 for pc, instruction in enumerate(program.instructions) if leaves(instruction)}
    return apart | set(program.labels.values())


def walked(
    after: Sequence[Iterable[int]], first: Iterable[int], ends: Callable[[int], bool], found: set[int] | None = None
) -> set[int]:
    """Return the pcs on paths from the first ones on, these included; no path goes on behind one of the `ends`.

    They are added to those `found` before, behind which no path goes on either.
    """
    found = set() if found is None else found
    todo = list(first)
    while todo:
        pc = todo.pop()
        if pc not in found:
            found.add(pc)
            todo += () if ends(pc) else after[pc]
    return found


def return_sites(program: Program) -> set[int]:
    """Return the pcs at which returns may go on.

    They are those behind calls, those of labels that LEPC loads, and code addresses that are loaded as numbers into a
    register from which some return takes its address.
    """
    code = program.instructions
    found = {pc + 1 for pc, i in enumerate(code) if is_call(i)}
    holders = {o.index for i in code if _returns(i) for o in i.operands if isinstance(o, Register)}
    for instruction in code:
        if instruction.row.flow is Flow.LOCATE:
            found |= {program.labels[o.name] for o in instruction.operands if isinstance(o, Label)}
        if not instruction.reads() and not holders.isdisjoint(instruction.writes()):
            found |= set(_code_addresses(instruction, len(program)))
    return found


def is_call(instruction: Instruction) -> bool:
    """Tell whether it is a call, behind which the caller goes on."""
    return instruction.row.flow is Flow.CALL


def leaves(instruction: Instruction) -> bool:
    """Tell whether all lanes that execute it go elsewhere than to the next instruction."""
    row = instruction.row
    certain = row.is_exit or (row.is_branch and not row.asks)
    return certain and overwrites(instruction) and not instruction.gates()


def reads(instruction: Instruction) -> set[str]:
    """Return the names of the 32-bit registers and predicates read, base address and guard included."""
    return {f"R{r}" for r in instruction.reads()} | {f"P{p}" for p in instruction.predicates_read()}


def writes(instruction: Instruction) -> set[str]:
    """Return the names of the 32-bit registers and predicates written."""
    return {f"R{r}" for r in instruction.writes()} | {f"P{p}" for p in instruction.predicates_written()}


def overwrites(instruction: Instruction) -> bool:
    """Tell whether the old contents of the written registers are certainly lost: under a guard they may stay."""
    return instruction.guard == PT


def _returns(instruction: Instruction) -> bool:
    return instruction.row.flow is Flow.RETURN


def _collectives(program: Program) -> dict[int, int]:
    """Return by pc of each WARPSYNC.COLLECTIVE the pc of its label, where its lanes go on after the ENDCOLLECTIVE."""
    code = program.instructions
    labels = ((pc, i.label()) for pc, i in enumerate(code) if i.row.flow is Flow.COLLECT)
    return {pc: program.labels[label.name] for pc, label in labels if label is not None}


def _code_addresses(instruction: Instruction, length: int) -> Iterable[int]:
    numbers = (o.bits for o in instruction.operands if isinstance(o, Immediate))
    return (bits // CODE_BYTES for bits in numbers if bits % CODE_BYTES == 0 and 0 < bits // CODE_BYTES < length)
