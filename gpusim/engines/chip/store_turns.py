"""How often the turns of stores would stop SMs that run ahead of each other."""

from __future__ import annotations

from gpusim.engines.walks.counting.block_counts import COUNTED, counted, counter
from gpusim.launch.feed import countable
from gpusim.machine.machine import Machine
from isa.errors import UserError
from isa.executing.faults import LIMIT
from isa.kernel import Kernel
from isa.row import GLOBAL_UNITS

APART = 500  # instructions for each store: at 76 running ahead took three times as long, at 1,900 it gained 1.6 times


def stop_often(kernel: Kernel, machine: Machine) -> bool:
    """Tell whether more than one of APART warp instructions of the first block stores to global memory.

    Also where that is not known without time.
    """
    if not countable(kernel):
        return True
    count = counter(kernel, machine)
    try:
        work = int(counted(count, [0], LIMIT).work[0])
    except UserError:
        return True
    issued = count.kinds[0].reshape(COUNTED, -1)[0]
    rows = (instruction.row for instruction in kernel.program.instructions)
    stores = sum(int(n) for n, row in zip(issued, rows, strict=True) if row.is_store and row.unit in GLOBAL_UNITS)
    return stores * APART > work
