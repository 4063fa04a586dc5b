"""Convergence barriers: lanes that diverge between BSSY and BSYNC reconverge after the BSYNC.

A region consists of the instructions between a BSSY and its BSYNC, on every path; regions may be nested. Its label is
the place after the BSYNC, as in the machine code of Volta and later.
"""

from __future__ import annotations

from isa.dataflow.flow import successors
from isa.errors import UserError
from isa.operands.operand import PT, Convergence, Label
from isa.program import Program
from isa.row import Flow

Regions = tuple[tuple[int, int], ...]  # barrier and the pc after the BSYNC, the innermost last
BARRIERS = 16  # of a warp


def region_ends(program: Program) -> dict[int, int]:
    """Return for each pc inside a region the pc after the BSYNC of the innermost region.

    Raises UserError if a BSYNC does not end the innermost region, or if paths from different regions join.
    """
    if not any(i.row.flow in (Flow.EXPECT, Flow.MEET) for i in program.instructions):
        return {}
    after, inside, waiting = successors(program), {0: Regions()}, [0]
    while waiting:
        pc = waiting.pop(0)
        behind = _behind(program, pc, inside[pc])
        waiting += [way for way in after[pc] if way not in inside]
        for way in after[pc]:
            if inside.setdefault(way, behind) != behind:
                raise _wrong(program, way, "ways from different BSSYs meet here; let each pass its BSYNC before")
    return {pc: regions[-1][1] for pc, regions in inside.items() if regions}


def _behind(program: Program, pc: int, regions: Regions) -> Regions:
    """Return the regions after an instruction."""
    instruction = program.instructions[pc]
    flow = instruction.row.flow
    if flow not in (Flow.EXPECT, Flow.MEET):
        return regions
    barrier = instruction.operands[0]
    assert isinstance(barrier, Convergence)
    if instruction.guard != PT:
        raise _wrong(program, pc, f"{instruction.row.mnemonic} is for all lanes that are here; leave out its guard")
    if flow is Flow.MEET:
        if regions[-1:] != ((barrier.index, pc + 1),):
            named = f"BSSY B{barrier.index} with the label behind this"
            raise _wrong(program, pc, f"BSYNC B{barrier.index} ends no region; write {named} before it, on every way")
        return regions[:-1]
    if barrier.index in dict(regions):
        raise _wrong(program, pc, f"B{barrier.index} is in use; take another barrier for a region inside its own")
    label = instruction.operands[1]
    assert isinstance(label, Label)
    return (*regions, (barrier.index, program.labels[label.name]))


def _wrong(program: Program, pc: int, why: str) -> UserError:
    return UserError(f"{program.place(pc)}: {why}")
