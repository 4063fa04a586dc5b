"""Find where the lanes of a warp may diverge, and where they reconverge.

Lanes diverge at a branch or exit whose guard holds in only some of them. They reconverge at the branch's immediate
post-dominator, the first instruction that lies on every path from there to the end, or where the program says
(`isa.dataflow.lanes.convergence`). A guard whose inputs are the same in all lanes makes none diverge: such branches,
which close most loops, cost nothing extra.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from operator import and_

from isa.dataflow.flow import reads, successors, walked, writes
from isa.dataflow.lanes.convergence import region_ends
from isa.instruction import Instruction
from isa.operands.operand import PT, Label, Special
from isa.program import Program
from isa.row import MEMORY_UNITS
from isa.support.once import once

OWN = ("TID", "LANEID")  # special registers that differ between the lanes of a warp


@once
def reconvergence_points(program: Program) -> Mapping[int, int]:
    """Return the reconvergence pc of each branch and exit at which lanes may diverge (program's length: its end).

    None where lanes are independent: those meet at run time, by convergence barriers.
    """
    if program.has_independent_lanes:
        return {}
    guarded = {pc for pc, i in enumerate(program.instructions) if (i.row.is_branch or i.row.is_exit) and i.guard != PT}
    guarded -= {pc for pc in guarded if program.instructions[pc].guard.whole}
    writers, ends = _writers(program.instructions) if guarded else {}, region_ends(program)
    found: dict[int, int] = {}
    diverged: set[int] = set()
    while True:
        new = [pc for pc in sorted(guarded - found.keys()) if _differs(program.instructions, writers, diverged, pc)]
        if not new:
            return found
        after = successors(program)
        plain = {pc for pc in new if _closes_plain_loop(program, pc)}
        nearest = {} if plain.union(ends).issuperset(new) else post_dominators(program)
        for pc in new:
            found[pc] = ends.get(pc, pc + 1 if pc in plain else nearest.get(pc, len(program)))
            diverged |= walked(after, after[pc], found[pc].__eq__) - {found[pc]}


def post_dominators(program: Program) -> dict[int, int]:
    """Return for each pc the next one on every path to the end; the program's length is the end.

    Lanes that exit under a guard are on no path. A pc without a path to the end is left out.
    """
    # Sets of bits, reduced until they fit; a graph library would take longer to load than this takes to run.
    end = len(program)
    ways, unknown = _ways(program), 1 << end + 1
    behind = [2 * unknown - 1] * end + [1 << end]
    before = None
    while behind != before:
        before = behind.copy()
        for pc in reversed(range(end)):
            behind[pc] = 1 << pc | reduce(and_, (behind[way] for way in ways[pc]))
    leading = [pc for pc in range(end) if not behind[pc] & unknown]
    size = [mask.bit_count() for mask in behind]
    return {pc: next(m for m in _bits(behind[pc] & ~(1 << pc)) if size[m] == size[pc] - 1) for pc in leading}


def _ways(program: Program) -> list[tuple[int, ...]]:
    """Return for each pc its successors, the end included."""
    end, found = len(program), []
    for pc, after in enumerate(successors(program)):
        instruction = program.instructions[pc]
        goes_on = not instruction.row.is_branch or instruction.guard != PT
        found.append((*after, end) if not after or (pc + 1 == end and goes_on) else after)
    return found


def _bits(mask: int) -> Iterator[int]:
    """Yield the numbers of the bits that are set."""
    while mask:
        yield (mask & -mask).bit_length() - 1
        mask &= mask - 1


def _closes_plain_loop(program: Program, pc: int) -> bool:
    """Tell whether pc branches back over no other transfer of control: lanes reconverge after it."""
    branch = program.instructions[pc]
    label = branch.operands[0] if branch.operands else None
    start = program.labels[label.name] if isinstance(label, Label) else pc + 1
    body = program.instructions[start:pc]
    return start <= pc and not any(i.row.is_branch or (i.row.is_exit and i.guard == PT) for i in body)


def _writers(instructions: Sequence[Instruction]) -> dict[str, list[int]]:
    """Return for each register and predicate the pcs that write it."""
    found: dict[str, list[int]] = {}
    for pc, instruction in enumerate(instructions):
        for name in writes(instruction):
            found.setdefault(name, []).append(pc)
    return found


def _differs(
    instructions: Sequence[Instruction], writers: Mapping[str, Iterable[int]], diverged: set[int], pc: int
) -> bool:
    """Tell whether the guard at pc may differ between lanes: by its inputs, or because its writers diverged."""
    waiting, seen = [f"P{instructions[pc].guard.index}"], set[str]()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        for writer in writers.get(name, ()):
            if writer in diverged or _is_own(instructions[writer]):
                return True
            waiting.extend(reads(instructions[writer]))
    return False


def _is_own(instruction: Instruction) -> bool:
    """Tell whether each lane gets its own result, whatever the operands."""
    row = instruction.row
    special = any(isinstance(o, Special) and o.name.startswith(OWN) for o in instruction.operands)
    return special or row.unit in MEMORY_UNITS or row.across is not None
