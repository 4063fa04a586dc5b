"""The slots of spilled registers: accesses to local memory at fixed distances from one pointer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from isa.instruction import Instruction
from isa.operands.operand import RZ_INDEX
from isa.program import Program
from isa.row import Unit
from isa.support.once import once


@once
def local_slots(program: Program) -> Mapping[int, Sequence[str]]:
    """Return, by pc, the slots that each access to local memory touches: a name for each byte from the pointer on.

    Empty unless all accesses have one register as their base, which is set in the straight beginning of the program
    before the first of them, and nowhere else.
    """
    code = program.instructions
    places = [pc for pc, i in enumerate(code) if Unit.LOCAL in program.memories(i.row) and i.address() is not None]
    bases = {_base(code[pc]) for pc in places}
    if len(bases) != 1 or None in bases:
        return {}
    (base,) = bases
    last = max((pc for pc, i in enumerate(code) if base in i.writes()), default=-1)
    ways = any(i.row.is_branch or i.row.steers for i in code[: last + 1])
    if places[0] < last or ways or any(0 < target <= last for target in program.labels.values()):
        return {}
    return {pc: _names(code[pc]) for pc in places}


def _base(access: Instruction) -> int | None:
    """Return the register of an access of local memory alone, at a fixed distance from it; None of any other."""
    address = access.address()
    if access.row.unit is not Unit.LOCAL or address is None or address.scale != 1:
        return None
    alone = address.bank is None and (address.uniform is None or address.uniform.index == RZ_INDEX)
    return address.base.index if alone and address.base.index != RZ_INDEX else None


def _names(access: Instruction) -> Sequence[str]:
    address = access.address()
    assert address is not None
    return [f"L{place}" for place in range(address.offset, address.offset + access.row.nbytes)]
