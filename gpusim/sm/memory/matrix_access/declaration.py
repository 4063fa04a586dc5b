"""Matrices in shared memory: how many an instruction moves, and which of their parts a lane gets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpusim.sm.records import Columns
from gpusim.sm.unit.declare import Declaration, Machine, field
from isa.instruction import Instruction

if TYPE_CHECKING:
    from isa.kernel import Kernel


def decode(row: Columns, instruction: Instruction, _machine: Machine, _: Kernel) -> None:
    """The matrices of an access to shared memory."""
    form = instruction.row
    if form.matrices:
        row["matrices"], row["transposed"] = form.matrices, form.transposed


UNIT = Declaration(
    "matrix_access",
    fields={
        "row": (
            field("matrices", "that it moves to or from shared memory", kind="i1"),
            field("transposed", "1: a lane has parts of their columns, not of rows", kind="i1"),
        ),
    },
    decode=decode,
)
