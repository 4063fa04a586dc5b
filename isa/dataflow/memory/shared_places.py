"""Stores of several blocks that may go to the same lines: to places that memory gives, or that no block has for itself.

A place that is computed from the block's index alone is taken to be the block's own, if it moves with that.
"""

from __future__ import annotations

from isa.dataflow.flow import reads
from isa.dataflow.memory.address_steps import linear_steps
from isa.dataflow.reaching import definitions
from isa.kernel import Kernel
from isa.row import Unit
from isa.support.once import once


@once
def shared_places(kernel: Kernel) -> frozenset[int]:
    """Return the pcs of such stores to global memory; none of a launch of one block."""
    code = kernel.program.instructions
    stores = [pc for pc, i in enumerate(code) if i.row.unit is Unit.GLOBAL and i.row.is_store and not i.row.update]
    return frozenset(pc for pc in stores if kernel.blocks > 1 and (_is_one_place(kernel, pc) or _is_loaded(kernel, pc)))


def _is_one_place(kernel: Kernel, pc: int) -> bool:
    """Tell whether all blocks that do the access do it at the same place."""
    step = linear_steps(kernel).get(pc)
    return step is not None and not any(each for each, extent in zip(step, kernel.grid, strict=True) if extent > 1)


def _is_loaded(kernel: Kernel, pc: int) -> bool:
    """Tell whether an access's address depends on what is loaded from memory; what the launch gives is known before."""
    code, known = kernel.program.instructions, definitions(kernel.program)
    address = code[pc].address()
    todo, seen = [(pc, f"R{r}") for r in (address.registers if address else ())], set[int]()
    while todo:
        for at in known.get(todo.pop(), frozenset()) - seen:
            if code[at].row.unit in (Unit.GLOBAL, Unit.SHARED):
                return True
            seen.add(at)
            todo += [(at, name) for name in reads(code[at])]
    return False
