"""Find the lines of global memory that some blocks touch, if this is possible without running them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from isa.dataflow.address_slice import address_slice
from isa.errors import UserError
from isa.execute.interpret import interpret
from isa.execute.places import lanes_in
from isa.kernel import Kernel
from isa.memory import LINE_BYTES, length
from isa.once import once
from isa.row import GLOBAL_UNITS, Unit

_GLOBAL = GLOBAL_UNITS | {Unit.TEXTURE}


@once
def without_contents(kernel: Kernel) -> Kernel:
    """Return the kernel with empty buffers: filling large ones takes long."""
    return replace(kernel, buffers=tuple(replace(b, fill=None) for b in kernel.buffers))


def lines(kernel: Kernel, blocks: Sequence[int]) -> NDArray[np.bool_] | None:
    """Return, for each line of global memory, whether one of the blocks accesses it in any order of their warps.

    Only for kernels whose addresses and branches do not depend on the contents of memory. None if this execution fails:
    the run itself then raises the fault in its own time.
    """
    touched = np.zeros(-(-4 * length(kernel) // LINE_BYTES), np.bool_)
    rows, leaves = [instruction.row for instruction in kernel.program.instructions], kernel.program.leaves_global

    def observe(pc: int, _warps: object, addresses: NDArray[np.uint32], active: NDArray[np.bool_]) -> None:
        if rows[pc].unit in _GLOBAL:
            first = addresses[active]
            if leaves and rows[pc].generic:
                first = first[lanes_in(Unit.GLOBAL, first)]
            touched[first // np.uint32(LINE_BYTES)] = True
            touched[(first + np.uint32(rows[pc].nbytes - 1)) // np.uint32(LINE_BYTES)] = True  # scalar loads span two

    try:
        interpret(without_contents(kernel), blocks, observe, address_slice(kernel.program))
    except UserError:
        return None
    return touched
