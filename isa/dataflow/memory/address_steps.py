"""How far each global address moves from one block of the grid to its neighbour, where all blocks go the same way."""

from __future__ import annotations

from collections.abc import Mapping

from isa.dataflow.block_step import depends_on_block, states, step_of
from isa.dataflow.moving import Step
from isa.kernel import Kernel
from isa.row import GLOBAL_UNITS, Unit
from isa.support.once import once


@once
def address_steps(kernel: Kernel) -> Mapping[int, Step]:
    """Return, by pc, the step of each access to global memory whose address depends linearly on the block's index.

    Steps are bytes per block in x, y and z, modulo 2**32. Other accesses are left out; all are, if a guard or a branch
    may depend on the index.
    """
    code = kernel.program.instructions
    if any(state is not None and depends_on_block(code[pc], state) for pc, state in enumerate(states(kernel))):
        return {}
    return linear_steps(kernel)


@once
def linear_steps(kernel: Kernel) -> Mapping[int, Step]:
    """Return the same whatever guards and branches depend on: of blocks that do execute the access."""
    return _steps(kernel, GLOBAL_UNITS)


@once
def local_steps(kernel: Kernel) -> Mapping[int, Step]:
    """Return the steps of accesses to local memory likewise."""
    return _steps(kernel, frozenset({Unit.LOCAL}))


def _steps(kernel: Kernel, units: frozenset[Unit]) -> Mapping[int, Step]:
    steps: dict[int, Step] = {}
    for pc, state in enumerate(states(kernel)):
        instruction = kernel.program.instructions[pc]
        address = instruction.address()
        step = step_of(address, state) if state is not None and address is not None else None
        if step is not None and instruction.row.unit in units:
            steps[pc] = step
    return steps
