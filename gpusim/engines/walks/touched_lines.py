"""Find the lines of global memory that some blocks touch, if this is possible without running them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gpusim.engines.walks.program_order import walk
from isa.errors import UserError
from isa.executing.places import lanes_in
from isa.kernel import Kernel
from isa.memory import LINE_BYTES, length
from isa.row import GLOBAL_UNITS, Unit

_GLOBAL = GLOBAL_UNITS | {Unit.TEXTURE}


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
        walk(kernel, blocks, observe, addresses=True)
    except UserError:
        return None
    return touched
