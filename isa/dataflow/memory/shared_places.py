"""Stores that all blocks which do them send to the same places."""

from __future__ import annotations

from isa.dataflow.memory.address_steps import linear_steps
from isa.kernel import Kernel
from isa.row import Unit
from isa.support.once import once


@once
def shared_places(kernel: Kernel) -> frozenset[int]:
    """Return the pcs of such stores to global memory; none of a launch of one block."""
    code, steps = kernel.program.instructions, linear_steps(kernel) if kernel.blocks > 1 else {}
    stores = [
        pc for pc in steps if code[pc].row.unit is Unit.GLOBAL and code[pc].row.is_store and not code[pc].row.update
    ]
    moves = {pc: zip(steps[pc], kernel.grid, strict=True) for pc in stores}
    return frozenset(pc for pc in stores if not any(each for each, extent in moves[pc] if extent > 1))
