"""How far each global address moves from one block of the grid to its neighbour, where all blocks go the same way."""

from __future__ import annotations

from collections.abc import Mapping

from isa.execute.block_step import depends_on_block, states, step_of
from isa.execute.moving import Step
from isa.kernel import Kernel
from isa.once import once
from isa.row import GLOBAL_UNITS


@once
def address_steps(kernel: Kernel) -> Mapping[int, Step]:
    """Return, by pc, the step of each access to global memory whose address depends linearly on the block's index.

    Steps are bytes per block in x, y and z, modulo 2**32. Other accesses are left out; all are, if a guard or a branch
    may depend on the index.
    """
    steps: dict[int, Step] = {}
    for pc, state in enumerate(states(kernel)):
        instruction = kernel.program.instructions[pc]
        if state is not None and depends_on_block(instruction, state):
            return {}
        address = instruction.address()
        step = step_of(address, state) if state is not None and address is not None else None
        if step is not None and instruction.row.unit in GLOBAL_UNITS:
            steps[pc] = step
    return steps
