"""Asynchronous copies: where in shared memory an instruction's words go."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpusim.sm.records import Columns
from gpusim.sm.unit.declare import Declaration, Machine, field
from isa.instruction import Instruction
from isa.operands.operand import RZ_INDEX

if TYPE_CHECKING:
    from isa.kernel import Kernel


def decode(row: Columns, instruction: Instruction, _machine: Machine, _: Kernel) -> None:
    """The place in shared memory, of a copy."""
    place = instruction.destination_in_shared() if "M" in instruction.row.form else None
    row["copies"], row["to_pointer"], row["to_uniform"] = place is not None, -1, -1
    if place is not None:
        row["fills"] = instruction.row.fills
        row["to_offset"], row["to_scale"] = place.offset, place.scale
        row["to_pointer"] = -1 if place.base.index == RZ_INDEX else place.base.index
        row["to_uniform"] = -1 if place.uniform is None else place.uniform.index


UNIT = Declaration(
    "async_copy",
    fields={
        "row": (
            field("copies", "1: what it loads goes to shared memory", kind="i1"),
            field("fills", "1: the lowest bits of its address say how many bytes at the end are zeros", kind="i1"),
            field("to_pointer", "register of the place there, -1: none", kind="i4"),
            field("to_scale", "by which that register is multiplied", kind="i4"),
            field("to_uniform", "uniform register that is added, -1: none", kind="i4"),
            field("to_offset", "bytes that are added", kind="i8"),
        ),
    },
    decode=decode,
)
