"""The ground of a launch: what analyses need of it without the state of an SM."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gpusim.launch.decode import decode
from gpusim.launch.launch import check_capacity
from gpusim.launch.packing import packed
from gpusim.machine.machine import Machine
from gpusim.machine.occupancy import Occupancy, occupancy
from isa.dataflow.lanes.divergence import reconvergence_points
from isa.kernel import Kernel


@dataclass(frozen=True)
class Ground:
    """A kernel on a machine: the machine's numbers and the program's rows as rules read them, and the occupancy."""

    numbers: Any
    rows: Any
    fits: Occupancy
    resident: int  # blocks that an SM holds at once


def ground(kernel: Kernel, machine: Machine) -> Ground:
    """Return the ground of a launch; raises UserError where kernel and machine don't fit."""
    fits = occupancy(kernel, machine)
    resident = min(fits.blocks, -(-kernel.blocks // machine.chip.sms))
    check_capacity(machine, kernel, resident)
    rows = decode(kernel, machine, np.zeros(len(kernel.program), np.bool_), reconvergence_points(kernel.program))
    numbers = packed(machine, flagged=bool(rows["reuse"].any()))
    return Ground(numbers, rows, fits, resident)
